//! The default: a short systematic start, which settles small programs for good, then random walks and PCT in turn.

use crate::strategy::exhaustive::Exhaustive;
use crate::strategy::pct::Pct;
use crate::strategy::random::Random;
use crate::strategy::{Claim, Decision, Next, Run, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// Several strategies, one execution each in turn.
pub struct Portfolio {
    exhaustive: Exhaustive,
    systematic_left: u64,
    samplers: Vec<Box<dyn Strategy>>,
    turn: Turn,
    finished: Option<Claim>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Systematic,
    Sampler(usize),
}

/// Executions given to the systematic start: more than most small tests have orders, less than a second of work.
const SYSTEMATIC_START: u64 = 2_000;

impl Portfolio {
    /// The default mix.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            exhaustive: Exhaustive::depth_first(),
            systematic_left: SYSTEMATIC_START,
            samplers: vec![Box::new(Random::new(seed)), Box::new(Pct::new(seed, 2)), Box::new(Pct::new(seed, 3))],
            turn: Turn::Systematic,
            finished: None,
        }
    }

    fn member(&mut self) -> &mut dyn Strategy {
        match self.turn {
            Turn::Systematic => &mut self.exhaustive,
            Turn::Sampler(which) => &mut *self.samplers[which],
        }
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if let Some(claim) = self.finished {
            return Next::Done(claim);
        }
        let next = self.member().begin(prefix);
        if let Next::Done(claim) = next {
            // Only the systematic start ever ends here, and then every order was seen.
            self.finished = Some(claim);
        }
        next
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.member().choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) {
        self.member().end(run);
        self.turn = match self.turn {
            Turn::Systematic if self.systematic_left > 1 => {
                self.systematic_left -= 1;
                Turn::Systematic
            }
            Turn::Systematic => Turn::Sampler(0),
            Turn::Sampler(which) => Turn::Sampler((which + 1) % self.samplers.len()),
        };
    }

    fn walks_uniformly(&self) -> bool {
        match self.turn {
            Turn::Systematic => false,
            Turn::Sampler(which) => self.samplers[which].walks_uniformly(),
        }
    }

    fn revisits(&self) -> bool {
        true
    }
}
