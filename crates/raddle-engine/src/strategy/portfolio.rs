//! The default: a short systematic start, which settles small programs for good, then random walks and PCT in turn.

use crate::strategy::exhaustive::Exhaustive;
use crate::strategy::pct::{PROFILED, Pct};
use crate::strategy::random::Random;
use crate::strategy::{ByNumber, Claim, Decision, Next, Run, Sharing, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// Several strategies, one execution each in turn.
pub struct Portfolio {
    seed: u64,
    exhaustive: Exhaustive,
    samplers: Vec<Box<dyn Strategy>>,
    /// The number of the execution that is run or was run last.
    number: u64,
    next: u64,
    /// It was taken up in the middle of the systematic start, of which nothing is known any more, so there is none.
    begins_late: bool,
    finished: Option<Claim>,
}

/// Executions given to the systematic start: more than most small tests have orders, less than a second of work.
const SYSTEMATIC_START: u64 = 2_000;

impl Portfolio {
    /// The default mix.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            exhaustive: Exhaustive::depth_first(),
            samplers: vec![Box::new(Random::new(seed)), Box::new(Pct::new(seed, 2)), Box::new(Pct::new(seed, 3))],
            number: 0,
            next: 0,
            begins_late: false,
            finished: None,
        }
    }

    /// Who runs the execution with this number: a sampler, and which of its own executions; `None` for the systematic start.
    fn turn(&self, number: u64) -> Option<(usize, u64)> {
        let start = if self.begins_late { 0 } else { SYSTEMATIC_START };
        let sampled = number.checked_sub(start)?;
        let members = self.samplers.len() as u64;
        Some(((sampled % members) as usize, sampled / members))
    }

    fn member(&mut self) -> &mut dyn Strategy {
        match self.turn(self.number) {
            None => &mut self.exhaustive,
            Some((which, _)) => &mut *self.samplers[which],
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
        self.number = self.next;
        self.next += 1;
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
    }

    fn walks_uniformly(&self) -> bool {
        self.turn(self.number).is_some_and(|(which, _)| self.samplers[which].walks_uniformly())
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn revisits(&self) -> bool {
        true
    }
}

impl ByNumber for Portfolio {
    fn warm_up(&self) -> u64 {
        SYSTEMATIC_START + self.samplers.len() as u64 * PROFILED
    }

    fn jump(&mut self, number: u64) {
        if number < SYSTEMATIC_START && number != self.next {
            self.begins_late = number > 0;
        }
        if number == 0 {
            self.exhaustive = Exhaustive::depth_first();
        }
        self.next = number;
        // Each sampler goes on at the first of its executions from there on.
        for ahead in 0..self.samplers.len() as u64 {
            let Some((which, own)) =
                self.turn(if self.begins_late { number } else { number.max(SYSTEMATIC_START) } + ahead)
            else {
                continue;
            };
            if let Sharing::ByNumber(sampler) = self.samplers[which].sharing() {
                sampler.jump(own);
            }
        }
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        let mut copy = Self::new(self.seed);
        for (own, sampler) in copy.samplers.iter_mut().zip(&mut self.samplers) {
            if let Sharing::ByNumber(sampler) = sampler.sharing() {
                *own = sampler.copy();
            }
        }
        Box::new(copy)
    }
}
