//! The default: a short systematic start, which settles small programs for good, and samplers in turn.
//!
//! The first executions are systematic. A program that has more orders is sampled between the next ones, so that what any sampler finds at
//! once is found at once; until the start is over, these samples are counted apart, as probes are. Which samplers, and why, is in
//! `docs/evaluation.md`: on the programs there, no one of them is the best, and each finds some bugs that others miss.

use crate::piece::{Learnt, Start};
use crate::rng::Rng;
use crate::strategy::exhaustive::Exhaustive;
use crate::strategy::pct::{PROFILED, Pct};
use crate::strategy::pos::Pos;
use crate::strategy::random::Random;
use crate::strategy::surw::Surw;
use crate::strategy::{ByNumber, ByPiece, Claim, Decision, Next, Run, Sharing, Strategy};
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
    /// Where it was taken up, and what was left of the systematic start then.
    from: Start,
    finished: Option<Claim>,
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
            from: Start::default(),
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

    fn looks_at_steps(&self) -> bool {
        self.turn(self.number).is_none_or(|(which, _)| self.samplers[which].looks_at_steps())
    }

    fn lots(&mut self) -> Option<&mut Rng> {
        self.member().lots()
    }

    fn end(&mut self, run: &Run<'_>) {
        self.member().end(run);
    }

    fn probing(&self) -> bool {
        self.number < SYSTEMATIC_START && self.turn(self.number).is_some()
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
            let Start { next, .. } = self.from;
            assert_eq!(number, next, "raddle bug: the systematic start can be begun again only where it was taken up");
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

    fn learnt(&mut self) -> Learnt {
        let unfinished = self.finished.is_none() && self.next < SYSTEMATIC_START;
        let left = if unfinished { self.exhaustive.rest() } else { None };
        let members = self.samplers.iter_mut().filter_map(by_number).map(|it| it.learnt()).collect();
        Learnt { start: Start { next: self.next, left }, members, ..Learnt::default() }
    }

    fn recall(&mut self, learnt: &Learnt, next: u64) -> bool {
        let Learnt { start, members, .. } = learnt;
        let placed = start.left.as_ref().is_none_or(|left| self.exhaustive.takes(left) && left.is_sound());
        if !placed || (next < SYSTEMATIC_START && start.next != next) || members.len() != self.samplers.len() {
            return false;
        }
        self.from = start.clone();
        self.next = next;
        self.begin_start();
        self.samplers.iter_mut().filter_map(by_number).zip(members).all(|(it, known)| it.recall(known, next))
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
    use crate::piece::Piece;

    #[test]
    fn what_it_did_not_learn_itself_is_refused() {
        let learnt = Portfolio::new(1).learnt();
        assert!(Portfolio::new(1).recall(&learnt, 0));
        assert!(!Portfolio::new(1).recall(&learnt, 5), "nothing is known of the start from there");
        assert!(Portfolio::new(1).recall(&learnt, SYSTEMATIC_START), "the start is over");
        let odd = Start { next: 0, left: Some(Piece::Numbers { from: 0, to: 3 }) };
        assert!(!Portfolio::new(1).recall(&Learnt { start: odd, ..learnt.clone() }, 0));
        assert!(!Portfolio::new(1).recall(&Learnt { members: Vec::new(), ..learnt }, 0));
    }
}
