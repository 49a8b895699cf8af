//! Uniform random walk: at every point each alternative is equally likely.
//!
//! Each execution has a stream of its own, drawn from the seed and the execution's number, so that any one of them can be
//! had again without those before it.

use crate::rng::{Rng, mix};
use crate::strategy::{ByNumber, Decision, Next, Run, Sharing, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// The uniform random walk.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    execution: u64,
    rng: Rng,
}

impl Random {
    /// The walks that belong to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, execution: 0, rng: Rng::new(seed) }
    }
}

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.rng = Rng::new(seed);
        Next::Run { seed }
    }

    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        Decision::Take(Choice(self.rng.below(at.alternatives())))
    }

    fn looks_at_steps(&self) -> bool {
        false
    }

    fn lots(&mut self) -> Option<&mut Rng> {
        Some(&mut self.rng)
    }

    fn end(&mut self, _: &Run<'_>) {}

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn walks_uniformly(&self) -> bool {
        true
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
