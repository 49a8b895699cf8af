//! A strategy of one's own: a sampler that several workers share, that can be stopped and resumed, and that says what it did.
//!
//! `cargo run -p programs --example own_strategy` searches a small program with it.

#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use raddle::strategy::{
    After, ByNumber, Capabilities, Checkpoint, Choice, Decision, Fact, Needs, Next, Point, Rng, Run, Sharing, Strategy,
    Summarize, Trace, least_switching, mix,
};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, thread};

/// Runs each task for as long as it can go on, but for one point of the execution: there, any task may run next.
#[derive(Clone)]
pub struct OneSwitch {
    seed: u64,
    /// Of the next execution.
    number: u64,
    /// Points of the longest execution of the warm-up. The point for the switch is drawn from so many.
    longest: u32,
    /// Points that are still to come before the one with the switch, in this execution.
    points_before: Option<u32>,
    rng: Rng,
}

/// Executions to learn from. The others run in any order, on any worker.
const WARM_UP: u64 = 8;

/// The first byte of a checkpoint. A checkpoint of another version is refused.
const VERSION: u8 = 1;

impl OneSwitch {
    /// The walks that belong to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, number: 0, longest: 0, points_before: None, rng: Rng::new(seed) }
    }
}

impl Strategy for OneSwitch {
    fn needs(&self) -> Needs {
        Needs::sampler("one-switch")
    }

    fn begin(&mut self, _prefix: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.number);
        self.number += 1;
        self.rng = Rng::new(seed);
        self.points_before = Some(if self.longest == 0 { 0 } else { self.rng.below(self.longest) });
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let switch = self.points_before == Some(0);
        self.points_before = self.points_before.and_then(|points| points.checked_sub(1));
        Decision::Take(if switch { Choice(self.rng.below(at.alternatives())) } else { least_switching(at, so_far) })
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if self.number <= WARM_UP {
            self.longest = self.longest.max(u32::try_from(run.choices).unwrap_or(u32::MAX));
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for OneSwitch {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl ByNumber for OneSwitch {
    fn warm_up(&self) -> u64 {
        WARM_UP
    }

    fn jump(&mut self, number: u64) {
        self.number = number;
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let mut bytes = vec![VERSION];
        bytes.extend(self.longest.to_le_bytes());
        Checkpoint { bytes }
    }

    fn restore(&mut self, checkpoint: &Checkpoint, _next: u64) -> bool {
        let [VERSION, longest @ ..] = &checkpoint.bytes[..] else { return false };
        longest.try_into().map(|longest| self.longest = u32::from_le_bytes(longest)).is_ok()
    }
}

impl Summarize for OneSwitch {
    fn guarantee(&self, _drawn: u64) -> Option<Fact> {
        Some(Fact::Other(format!("one switch in each, at one of {} points", self.longest)))
    }
}

/// Two threads count to two. Each reads the counter, releases the lock, and writes back what it read plus one.
pub fn lost_update() {
    let counter = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let counter = counter.clone();
        thread::spawn(move || {
            let seen = *counter.lock().unwrap();
            *counter.lock().unwrap() = seen + 1;
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*counter.lock().unwrap(), 2, "an update was lost");
}

fn main() {
    let report = Explorer::new().strategy(OneSwitch::new(0)).workers(2).executions(1_000).run(lost_update);
    println!("{}", report.for_terminal(&std::io::stdout()));
}
