//! Uniform random walk: at every point, each alternative is equally likely.
//!
//! Each execution has its own random numbers, which depend on the seed and the execution's number. So any execution can be repeated
//! without those before it.

use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Start, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// The uniform random walk.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    execution: u64,
    rng: Rng,
}

impl Random {
    /// The walks of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, execution: 0, rng: Rng::new(seed) }
    }
}

impl Strategy for Random {
    fn needs(&self) -> Needs {
        Needs::sampler("random")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.rng = Rng::new(seed);
        Next::Run(Start { uniform: Some(self.rng.clone()), steps: false, ..Start::with_seed(seed) })
    }

    /// Called only by strategies that use this one for some of their executions and need the steps. Otherwise the engine chooses.
    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        Decision::Take(Choice(self.rng.below(at.alternatives())))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Random {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }
}

impl ByNumber for Random {
    fn jump(&mut self, number: u64) {
        self.execution = number;
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self::new(self.seed))
    }
}
