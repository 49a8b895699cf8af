//! The default strategy: a short systematic start, which verifies small programs, and samplers in turn.
//!
//! The first executions are systematic. If the program has more, samples are run between the next systematic ones, so that bugs that some
//! sampler finds immediately are found early. Until the start is over, these samples are counted separately, as probes are.
//! `docs/evaluation.md` says which samplers are used and why: on the programs there, none of them is best, and each finds bugs that others
//! miss.

use raddle_engine::piece::{Checkpoint, Piece};
use raddle_engine::strategy::{
    After, ByNumber, ByPiece, Capabilities, Claim, Decision, Needs, Next, Run, Sharing, Start, Strategy,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use serde::{Deserialize, Serialize};

use crate::format::{self, Format};
use crate::samplers::pct::{PROFILED, Pct};
use crate::samplers::pos::Pos;
use crate::samplers::random::Random;
use crate::samplers::surw::Surw;
use crate::tree::exhaustive::Exhaustive;

/// Several strategies, which take turns.
pub struct Portfolio {
    seed: u64,
    exhaustive: Exhaustive,
    samplers: Vec<Box<dyn Strategy>>,
    /// The number of the current or latest execution.
    number: u64,
    next: u64,
    /// Where the search was resumed, and what was left of the systematic start then.
    resumed_at: SystematicStart,
    finished: Option<Claim>,
}

/// The progress of the systematic start.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SystematicStart {
    /// The next execution.
    next: u64,
    /// What is left; `None` if nothing is.
    left: Option<Piece>,
}

impl Default for SystematicStart {
    fn default() -> Self {
        Self { next: 0, left: Some(Piece::Whole) }
    }
}

/// The state of an interrupted search: the progress of the start, and what the samplers have learned.
#[derive(Serialize, Deserialize)]
struct PortfolioCheckpoint {
    start: SystematicStart,
    samplers: Vec<Checkpoint>,
}

impl Format for PortfolioCheckpoint {
    const NAME: &'static str = "portfolio 1";

    fn is_sound(&self) -> bool {
        self.start.left.as_ref().is_none_or(Piece::is_sound)
    }
}

/// The number of systematic executions before the first sample: more than the smallest tests have.
const SYSTEMATIC_ONLY: u64 = 20;

/// The number of systematic executions after that, one in every [few](SYSTEMATIC_EVERY).
const INTERLEAVED: u64 = 980;

/// One of so many executions during the start is systematic.
const SYSTEMATIC_EVERY: u64 = 3;

/// The number of the first execution after the systematic start.
const SYSTEMATIC_START: u64 = SYSTEMATIC_ONLY + INTERLEAVED * SYSTEMATIC_EVERY;

impl Portfolio {
    /// The default samplers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            exhaustive: Exhaustive::depth_first(),
            samplers: vec![
                Box::new(Pos::new(seed)),
                Box::new(Surw::new(seed)),
                Box::new(Pct::new(seed, 3)),
                Box::new(Random::new(seed)),
            ],
            number: 0,
            next: 0,
            resumed_at: SystematicStart::default(),
            finished: None,
        }
    }

    /// Which sampler runs the execution with this number, and which of its own executions that is; `None` for the systematic start.
    fn turn(&self, number: u64) -> Option<(usize, u64)> {
        let sampled = match number.checked_sub(SYSTEMATIC_ONLY)? {
            after if after < INTERLEAVED * SYSTEMATIC_EVERY && after.is_multiple_of(SYSTEMATIC_EVERY) => return None,
            after if after < INTERLEAVED * SYSTEMATIC_EVERY => after - after / SYSTEMATIC_EVERY - 1,
            after => after - INTERLEAVED,
        };
        let members = self.samplers.len() as u64;
        Some(((sampled % members) as usize, sampled / members))
    }

    /// Continues the systematic start where the search was resumed.
    fn begin_start(&mut self) {
        match &self.resumed_at.left {
            Some(left) => self.exhaustive.place(left.clone()),
            // The start has covered the whole program, and the search was interrupted before it reported that.
            None if self.resumed_at.next < SYSTEMATIC_START => self.finished = Some(Claim::Exhausted),
            None => {}
        }
    }

    fn member(&mut self) -> &mut dyn Strategy {
        match self.turn(self.number) {
            None => &mut self.exhaustive,
            Some((which, _)) => &mut *self.samplers[which],
        }
    }
}

impl Strategy for Portfolio {
    fn needs(&self) -> Needs {
        Needs { revisits: true, ..Needs::sampler("portfolio") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if let Some(claim) = self.finished {
            return Next::Done(claim);
        }
        self.number = self.next;
        self.next += 1;
        match self.member().begin(prefix) {
            Next::Run(start) => Next::Run(Start { probe: self.is_probe(), ..start }),
            Next::Done(claim) => {
                // Only the systematic start can end, and then every execution was run.
                self.finished = Some(claim);
                Next::Done(claim)
            }
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.member().choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.member().end(run)
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Portfolio {
    /// True for samples before the end of the systematic start, which are counted separately.
    fn is_probe(&self) -> bool {
        self.number < SYSTEMATIC_START && self.turn(self.number).is_some()
    }
}

impl Capabilities for Portfolio {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }
}

fn by_number(sampler: &mut Box<dyn Strategy>) -> Option<&mut dyn ByNumber> {
    match sampler.sharing() {
        Sharing::ByNumber(by_number) => Some(by_number),
        _ => None,
    }
}

impl ByNumber for Portfolio {
    fn warm_up(&self) -> u64 {
        SYSTEMATIC_START + self.samplers.len() as u64 * PROFILED
    }

    fn uncounted(&self) -> Option<Vec<u64>> {
        Some((0..SYSTEMATIC_START).filter(|number| self.turn(*number).is_some()).collect())
    }

    fn jump(&mut self, number: u64) {
        if number < SYSTEMATIC_START && number != self.next {
            assert_eq!(
                number, self.resumed_at.next,
                "raddle bug: the systematic start can be begun again only where it was resumed"
            );
            self.begin_start();
        }
        self.next = number;
        // Each sampler continues with its first execution after `number`.
        let mut placed = vec![false; self.samplers.len()];
        for ahead in 0..SYSTEMATIC_EVERY * self.samplers.len() as u64 {
            let Some((which, own)) = self.turn(number.max(SYSTEMATIC_ONLY) + ahead) else { continue };
            if std::mem::replace(&mut placed[which], true) {
                continue;
            }
            if let Sharing::ByNumber(sampler) = self.samplers[which].sharing() {
                sampler.jump(own);
            }
        }
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let unfinished = self.finished.is_none() && self.next < SYSTEMATIC_START;
        let left = if unfinished { self.exhaustive.rest() } else { None };
        let samplers = self.samplers.iter_mut().filter_map(by_number).map(|it| it.checkpoint()).collect();
        format::checkpoint(&PortfolioCheckpoint { start: SystematicStart { next: self.next, left }, samplers })
    }

    fn restore(&mut self, checkpoint: &Checkpoint, next: u64) -> bool {
        let Some(PortfolioCheckpoint { start, samplers }) = format::read_checkpoint(checkpoint) else { return false };
        let placed = start.left.as_ref().is_none_or(|left| self.exhaustive.understands(left));
        if !placed || (next < SYSTEMATIC_START && start.next != next) || samplers.len() != self.samplers.len() {
            return false;
        }
        self.resumed_at = start;
        self.next = next;
        self.begin_start();
        self.samplers.iter_mut().filter_map(by_number).zip(&samplers).all(|(it, known)| it.restore(known, next))
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        let mut copy = Self { resumed_at: self.resumed_at.clone(), ..Self::new(self.seed) };
        for (own, sampler) in copy.samplers.iter_mut().zip(&mut self.samplers) {
            if let Sharing::ByNumber(sampler) = sampler.sharing() {
                *own = sampler.copy();
            }
        }
        Box::new(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_that_do_not_fit_are_refused() {
        let learned = Portfolio::new(1).checkpoint();
        assert!(Portfolio::new(1).restore(&learned, 0));
        assert!(!Portfolio::new(1).restore(&learned, 5), "nothing is known of the start from there");
        assert!(Portfolio::new(1).restore(&learned, SYSTEMATIC_START), "the start is over");
        let PortfolioCheckpoint { start, samplers } = format::read_checkpoint(&learned).expect("just written");
        let foreign = SystematicStart { next: 0, left: Some(Piece::Numbers { from: 0, to: 3 }) };
        let foreign = format::checkpoint(&PortfolioCheckpoint { start: foreign, samplers });
        assert!(!Portfolio::new(1).restore(&foreign, 0));
        let none = format::checkpoint(&PortfolioCheckpoint { start, samplers: Vec::new() });
        assert!(!Portfolio::new(1).restore(&none, 0));
    }
}
