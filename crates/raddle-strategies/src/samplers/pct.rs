//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).
//!
//! Every task gets a random priority when it is first seen, and the enabled task with the highest priority runs. At `depth - 1` steps, drawn
//! uniformly over the length of an execution, the task about to step gets a priority below all others. A bug that needs `depth`
//! ordering constraints in a program of n tasks and k steps is found with probability at least 1 / (n · k^(depth-1)).
//!
//! Differences from the paper: k is not a parameter but the length of the longest of the first executions. The alternatives of a task (normal,
//! timeout, spurious wakeup) have separate priorities, so a timed wait may end early in one execution and late in the next.

use raddle_engine::facts::Fact;
use raddle_engine::piece::Checkpoint;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Start, Strategy, Summarize,
};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::Trace;
use serde::{Deserialize, Serialize};

use crate::format::{self, Format};

/// Random priorities with few changes.
#[derive(Debug)]
pub struct Pct {
    seed: u64,
    execution: u64,
    depth: u32,
    rng: Rng,
    longest: u32,
    /// The number of priorities drawn in this execution.
    drawn: u32,
    /// The largest such number in the executions that were learned from.
    ranks: u32,
    /// By task and kind of alternative; 0 if none was drawn yet.
    priorities: Vec<[u64; KINDS]>,
    /// The steps at which the task about to run loses its priority, latest first.
    changes: Vec<u32>,
}

/// The kinds of alternatives: normal (with any message), timeout, and spurious wakeup.
const KINDS: usize = 3;

/// Drawn priorities are above this; lowered ones are below.
const LOWERED: u64 = 1 << 32;

/// The assumed length of an execution before one was seen.
const FIRST_GUESS: u32 = 100;

/// The number of executions from which the length is learned. Later ones do not change it, so that each depends on its number alone.
pub(crate) const PROFILED: u64 = 32;

impl Pct {
    /// The largest depth. Each unit takes memory and time in every execution, and no bug of that depth was ever found this way.
    pub const DEEPEST: u32 = 1_000;

    /// Looks for bugs of `depth` ordering constraints, at least 1 and at most [`DEEPEST`](Self::DEEPEST).
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
        let kind = match action.variant {
            Variant::Ready | Variant::Message(_) => 0,
            Variant::TimedOut => 1,
            Variant::Spurious => 2,
        };
        if action.task.index() >= self.priorities.len() {
            self.priorities.resize(action.task.index() + 1, [0; KINDS]);
        }
        let priority = &mut self.priorities[action.task.index()][kind];
        if *priority == 0 {
            *priority = self.rng.bits() | LOWERED;
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
            // Several messages may wait for the first task. Priorities do not decide which one it takes.
            let first = equal[self.rng.below(equal.len() as u32) as usize];
            if self.changes.last().is_none_or(|&step| step as usize > so_far.len()) {
                return Decision::Take(Choice(first as u32));
            }
            self.changes.pop();
            // The later a task is lowered, the lower its priority: the paper's priorities d-1, d-2, …, 1.
            self.priorities[actions[first].task.index()] = [1 + self.changes.len() as u64; KINDS];
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
        // A checkpoint does not contain the number of priorities.
        if self.ranks == 0 || self.longest == 0 {
            return None;
        }
        let changes = i32::try_from(self.depth - 1).ok()?;
        let hit = 1.0 / (f64::from(self.ranks) * f64::from(self.longest).powi(changes));
        let probability = (drawn as f64 * (-hit).ln_1p()).exp();
        // A bound near 1 says nothing, so it is not reported.
        (probability < 0.99).then_some(Fact::MissedAtMost { orderings: self.depth, steps: self.longest, probability })
    }
}

/// What is learned: the length of the longest execution; 0 if there was none.
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
    fn the_guarantee_of_the_theorem_is_reported() {
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
        // Two tasks and five steps: probability 1/2 for each execution, then 1/10.
        assert_eq!(at_most(sample(1, 2)), (1, 5, 250.0));
        assert_eq!(at_most(sample(2, 20)), (2, 5, 122.0));
        assert_eq!(sample(6, 20), None);
        assert_eq!(at_most(of(&[500, 600], 1, 2)), (1, 1_100, 250.0));
    }
}
