//! Iterative random search, a baseline of Desai, Qadeer and Seshia (2015): random walks up to a depth that grows from iteration to
//! iteration. Iteration i has 3^i walks.
//!
//! The depth is counted in steps and doubles, so programs of any length are soon run to their end. A walk is pruned at the first point
//! with alternatives beyond the depth.

use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Random walks up to a growing depth.
#[derive(Debug)]
pub struct IterativeRandom {
    seed: u64,
    execution: u64,
    /// The depth of the first iteration.
    depth: usize,
    /// The depth of the current iteration.
    bound: usize,
    rng: Rng,
}

/// The default depth of the first iteration, in steps.
const DEPTH: usize = 16;

impl IterativeRandom {
    /// The walks of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, execution: 0, depth: DEPTH, bound: DEPTH, rng: Rng::new(seed) }
    }

    /// Sets the depth of the first iteration, in steps.
    ///
    /// # Panics
    ///
    /// If that is 0.
    #[must_use]
    pub fn from_depth(self, steps: u32) -> Self {
        assert!(steps > 0, "raddle: the first walk must be allowed at least one step");
        Self { depth: steps as usize, ..self }
    }
}

/// The iteration of the walk with this number.
fn iteration(number: u64) -> u32 {
    // (3^i - 1) / 2 walks come before iteration i.
    (number.saturating_mul(2).saturating_add(1)).ilog(3)
}

impl Strategy for IterativeRandom {
    fn needs(&self) -> Needs {
        Needs::sampler("irs")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.bound = self.depth.saturating_mul(1 << iteration(self.execution));
        self.execution += 1;
        self.rng = Rng::new(seed);
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        if so_far.len() >= self.bound {
            return Decision::Prune;
        }
        Decision::Take(Choice(self.rng.below(at.alternatives())))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for IterativeRandom {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }
}

impl ByNumber for IterativeRandom {
    fn jump(&mut self, number: u64) {
        self.execution = number;
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self { depth: self.depth, ..Self::new(self.seed) })
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::example::Counters;
    use raddle_engine::search::{Limits, search};

    use super::*;

    #[test]
    fn each_iteration_has_three_times_as_many_walks() {
        let all = [0, 1, 3, 4, 12, 13, 39, 40].map(iteration);
        assert_eq!(all, [0, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(iteration(u64::MAX), 40);
    }

    #[test]
    fn walks_are_cut_until_they_are_long_enough() {
        let run = |executions| {
            let limits = Limits { executions: Some(executions), ..Limits::default() };
            search(&mut Counters::new(&[5, 5]), &mut IterativeRandom::new(1).from_depth(3), &limits)
        };
        // 3 steps in the first walk, 6 in the next three, 12 in the nine after them.
        let one = run(1);
        assert_eq!((one.executions, one.pruned, one.longest), (0, 1, 3));
        let all = run(13);
        assert_eq!((all.executions + all.pruned, all.longest), (13, 10));
        assert!(all.executions >= 9, "{all:?}");
    }
}
