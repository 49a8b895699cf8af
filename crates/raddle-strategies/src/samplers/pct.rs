//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Every task gets a random priority when it is first seen, and the highest one that can go on does. At `depth - 1` steps,
//! drawn uniformly over the length of an execution, the task about to step falls below all others. A bug that needs `depth`
//! ordering constraints in a program of n tasks and k steps is hit with probability at least 1 / (n · k^(depth-1)).
//!
//! Where we differ: k is not asked for but taken from the longest of the first executions, and each way out of a wait has a
//! priority of its own, so that a timed wait may run out early in one execution and late in the next.

use serde::{Deserialize, Serialize};

use crate::format::{self, Format};
use raddle_engine::facts::Fact;
use raddle_engine::piece::Checkpoint;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Start, Strategy, Summarize,
};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::Trace;

/// Random priorities with few changes.
#[derive(Debug)]
pub struct Pct {
    seed: u64,
    execution: u64,
    depth: u32,
    rng: Rng,
    longest: u32,
    /// Priorities that were drawn in this execution.
    drawn: u32,
    /// Most of them in one of the executions that were learnt from.
    ranks: u32,
    /// By task and way out of its wait; 0 where none has been drawn yet.
    priorities: Vec<[u64; WAYS]>,
    /// Steps at which the task about to run falls, latest first.
    changes: Vec<u32>,
}

/// The ordinary way out of a wait (whatever message it brings), by time, and for no reason.
const WAYS: usize = 3;

/// Drawn priorities lie above this; what fell lies below.
const FALLEN: u64 = 1 << 32;

/// How long an execution is taken to be before one was seen.
const FIRST_GUESS: u32 = 100;

/// Executions from which the length is learnt. The others do not add to it, so that each can be had by its number.
pub(crate) const PROFILED: u64 = 32;

impl Pct {
    /// Each unit of depth takes memory and time in every execution, and no bug that deep was ever found this way.
    pub const DEEPEST: u32 = 1_000;

    /// Looks for bugs of `depth` ordering constraints, at least 1. More than [`DEEPEST`](Self::DEEPEST) count as that many.
    #[must_use]
    pub fn new(seed: u64, depth: u32) -> Self {
        Self {
            seed,
            execution: 0,
            depth: depth.clamp(1, Self::DEEPEST),
            rng: Rng::new(seed),
            longest: 0,
            drawn: 0,
            ranks: 0,
            priorities: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn priority(&mut self, action: &Action) -> u64 {
        let way = match action.variant {
            Variant::Ready | Variant::Message(_) => 0,
            Variant::TimedOut => 1,
            Variant::Spurious => 2,
        };
        if action.task.index() >= self.priorities.len() {
            self.priorities.resize(action.task.index() + 1, [0; WAYS]);
        }
        let priority = &mut self.priorities[action.task.index()][way];
        if *priority == 0 {
            *priority = self.rng.bits() | FALLEN;
            self.drawn += 1;
        }
        *priority
    }
}

impl Strategy for Pct {
    fn needs(&self) -> Needs {
        Needs::sampler("pct")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.rng = Rng::new(seed);
        self.priorities.clear();
        self.drawn = 0;
        let length = if self.longest == 0 { FIRST_GUESS } else { self.longest };
        self.changes = (1..self.depth).map(|_| self.rng.below(length)).collect();
        self.changes.sort_unstable_by(|a, b| b.cmp(a));
        Next::Run(Start { steps: false, ..Start::with_seed(seed) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let Point::Actions(actions) = at else {
            return Decision::Take(Choice(self.rng.below(at.alternatives())));
        };
        loop {
            let highest = (0..actions.len()).map(|i| self.priority(&actions[i])).max();
            let highest = highest.expect("raddle bug: a point without actions");
            let equal: Vec<_> = (0..actions.len()).filter(|&i| self.priority(&actions[i]) == highest).collect();
            // Several messages may wait for the task that is first: which one it takes is no matter of priority.
            let first = equal[self.rng.below(equal.len() as u32) as usize];
            if self.changes.last().is_none_or(|&step| step as usize > so_far.len()) {
                return Decision::Take(Choice(first as u32));
            }
            self.changes.pop();
            // The later a task falls, the lower it lands: priorities d-1, d-2, …, 1 of the paper.
            self.priorities[actions[first].task.index()] = [1 + self.changes.len() as u64; WAYS];
        }
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if self.execution <= PROFILED {
            self.longest = self.longest.max(u32::try_from(run.trace.len()).unwrap_or(u32::MAX));
            self.ranks = self.ranks.max(self.drawn);
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Pct {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Pct {
    /// The theorem of the paper, for so many independent executions.
    fn guarantee(&self, drawn: u64) -> Option<Fact> {
        // What was learned by an earlier search does not say how many ranks there were.
        if self.ranks == 0 || self.longest == 0 {
            return None;
        }
        let changes = i32::try_from(self.depth - 1).ok()?;
        let hit = 1.0 / (f64::from(self.ranks) * f64::from(self.longest).powi(changes));
        let probability = (drawn as f64 * (-hit).ln_1p()).exp();
        // Where that says next to nothing, nothing is said.
        (probability < 0.99).then_some(Fact::MissedAtMost { orderings: self.depth, steps: self.longest, probability })
    }
}

/// What is learned: the length of the longest execution; 0 if none was looked at.
#[derive(Serialize, Deserialize)]
pub(crate) struct Longest(pub(crate) u32);

impl Format for Longest {
    const NAME: &'static str = "longest 1";

    fn is_sound(&self) -> bool {
        true
    }
}

impl ByNumber for Pct {
    fn warm_up(&self) -> u64 {
        PROFILED
    }

    fn jump(&mut self, number: u64) {
        self.execution = number;
    }

    fn checkpoint(&mut self) -> Checkpoint {
        format::checkpoint(&Longest(self.longest))
    }

    fn restore(&mut self, checkpoint: &Checkpoint, _: u64) -> bool {
        let restored = format::read_checkpoint(checkpoint);
        restored.map(|Longest(steps)| self.longest = steps).is_some()
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self { longest: self.longest, ..Self::new(self.seed, self.depth) })
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::example::Counters;
    use raddle_engine::search::{Limits, search};

    use super::*;

    #[test]
    fn depth_has_a_limit() {
        let mut pct = Pct::new(0, u32::MAX);
        pct.begin(&mut Vec::new());
        assert_eq!(pct.changes.len() as u32, Pct::DEEPEST - 1);
    }

    #[test]
    fn what_the_theorem_guarantees_is_told() {
        let of = |steps: &[u32], depth, executions| {
            let limits = Limits { executions: Some(executions), ..Limits::default() };
            search(&mut Counters::new(steps), &mut Pct::new(1, depth), &limits).guarantee
        };
        let sample = |depth, executions| of(&[2, 3], depth, executions);
        let at_most = |guarantee: Option<Fact>| match guarantee {
            Some(Fact::MissedAtMost { orderings, steps, probability }) => {
                (orderings, steps, (probability * 1e3).round())
            }
            other => panic!("{other:?}"),
        };
        // Two tasks and five steps: 1/2 for each execution, then 1/10.
        assert_eq!(at_most(sample(1, 2)), (1, 5, 250.0));
        assert_eq!(at_most(sample(2, 20)), (2, 5, 122.0));
        assert_eq!(sample(6, 20), None);
        assert_eq!(at_most(of(&[500, 600], 1, 2)), (1, 1_100, 250.0));
    }
}
