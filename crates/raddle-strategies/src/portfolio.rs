//! The default: a short systematic start, which settles small programs for good, and samplers in turn.
//!
//! The first executions are systematic. A program that has more orders is sampled between the next ones, so that what any sampler finds at
//! once is found at once; until the start is over, these samples are counted apart, as probes are. Which samplers, and why, is in
//! `docs/evaluation.md`: on the programs there, no one of them is the best, and each finds some bugs that others miss.

use crate::format::{self, Format};
use crate::samplers::pct::{PROFILED, Pct};
use crate::samplers::pos::Pos;
use crate::samplers::random::Random;
use crate::samplers::surw::Surw;
use crate::tree::exhaustive::Exhaustive;
use raddle_engine::piece::{Checkpoint, Piece};
use raddle_engine::strategy::{
    After, ByNumber, ByPiece, Capabilities, Claim, Decision, Needs, Next, Run, Sharing, Start, Strategy,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use serde::{Deserialize, Serialize};

/// Several strategies, one execution each in turn.
pub struct Portfolio {
    seed: u64,
    exhaustive: Exhaustive,
    samplers: Vec<Box<dyn Strategy>>,
    /// The number of the execution that is run or was run last.
    number: u64,
    next: u64,
    /// Where it was taken up, and what was left of the systematic start then.
    from: SystematicStart,
    finished: Option<Claim>,
}

/// How far the systematic start has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SystematicStart {
    /// The execution that comes next.
    next: u64,
    /// What is left; `None` if nothing is.
    left: Option<Piece>,
}

impl Default for SystematicStart {
    fn default() -> Self {
        Self { next: 0, left: Some(Piece::Whole) }
    }
}

/// What was learned: how far the start has come, and what the samplers have learned.
#[derive(Serialize, Deserialize)]
struct Learned {
    start: SystematicStart,
    samplers: Vec<Checkpoint>,
}

impl Format for Learned {
    const NAME: &'static str = "portfolio 1";

    fn is_sound(&self) -> bool {
        self.start.left.as_ref().is_none_or(Piece::is_sound)
    }
}

/// Executions that are systematic, before any is not: more than the smallest tests have orders.
const ALONE: u64 = 20;

/// Systematic executions after that, one to every [few](TURNS).
const BETWEEN: u64 = 980;

/// Of so many executions during the start, one is systematic.
const TURNS: u64 = 3;

/// The number of the first execution after the systematic start.
const SYSTEMATIC_START: u64 = ALONE + BETWEEN * TURNS;

impl Portfolio {
    /// The default mix.
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
            from: SystematicStart::default(),
            finished: None,
        }
    }

    /// Who runs the execution with this number: a sampler, and which of its own executions; `None` for the systematic start.
    fn turn(&self, number: u64) -> Option<(usize, u64)> {
        let sampled = match number.checked_sub(ALONE)? {
            after if after < BETWEEN * TURNS && after.is_multiple_of(TURNS) => return None,
            after if after < BETWEEN * TURNS => after - after / TURNS - 1,
            after => after - BETWEEN,
        };
        let members = self.samplers.len() as u64;
        Some(((sampled % members) as usize, sampled / members))
    }

    /// Goes on with the systematic start where it was taken up.
    fn begin_start(&mut self) {
        match &self.from.left {
            Some(left) => self.exhaustive.place(left.clone()),
            // It settled the program, and nobody had asked.
            None if self.from.next < SYSTEMATIC_START => self.finished = Some(Claim::Exhausted),
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
                // Only the systematic start ever ends here, and then every order was seen.
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
    /// Until the systematic start is over, samples are counted apart.
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
                number, self.from.next,
                "raddle bug: the systematic start can be begun again only where it was taken up"
            );
            self.begin_start();
        }
        self.next = number;
        // Each sampler goes on at the first of its executions from there on.
        let mut placed = vec![false; self.samplers.len()];
        for ahead in 0..TURNS * self.samplers.len() as u64 {
            let Some((which, own)) = self.turn(number.max(ALONE) + ahead) else { continue };
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
        format::checkpoint(&Learned { start: SystematicStart { next: self.next, left }, samplers })
    }

    fn restore(&mut self, checkpoint: &Checkpoint, next: u64) -> bool {
        let Some(Learned { start, samplers }) = format::read_checkpoint(checkpoint) else { return false };
        let placed = start.left.as_ref().is_none_or(|left| self.exhaustive.understands(left));
        if !placed || (next < SYSTEMATIC_START && start.next != next) || samplers.len() != self.samplers.len() {
            return false;
        }
        self.from = start;
        self.next = next;
        self.begin_start();
        self.samplers.iter_mut().filter_map(by_number).zip(&samplers).all(|(it, known)| it.restore(known, next))
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        let mut copy = Self { from: self.from.clone(), ..Self::new(self.seed) };
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
    fn what_it_did_not_learn_itself_is_refused() {
        let learned = Portfolio::new(1).checkpoint();
        assert!(Portfolio::new(1).restore(&learned, 0));
        assert!(!Portfolio::new(1).restore(&learned, 5), "nothing is known of the start from there");
        assert!(Portfolio::new(1).restore(&learned, SYSTEMATIC_START), "the start is over");
        let Learned { start, samplers } = format::read_checkpoint(&learned).expect("just written");
        let odd = SystematicStart { next: 0, left: Some(Piece::Numbers { from: 0, to: 3 }) };
        let odd = format::checkpoint(&Learned { start: odd, samplers });
        assert!(!Portfolio::new(1).restore(&odd, 0));
        let none = format::checkpoint(&Learned { start, samplers: Vec::new() });
        assert!(!Portfolio::new(1).restore(&none, 0));
    }
}
