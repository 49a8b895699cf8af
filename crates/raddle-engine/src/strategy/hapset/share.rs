//! Search by orderings that were seen, by several workers, and in several sittings.
//!
//! A guided search is shared like any reduction, over the trunk. What comes after it is a later stage of the board: the ways that have one
//! preemption more, one after the other, or the search that leaves nothing out, which is shared in its turn. What was passed by is run
//! beside that by each worker for itself, from the [pool](super::pool).

use super::course::Stretch;
use super::{Guide, Hapset, Phase};
use crate::piece::{Learnt, Piece};
use crate::strategy::dpor::{Dpor, News, Subtree, Trunk};
use crate::strategy::random::Random;
use crate::strategy::{ByNumber, ByPiece, Claim, Given, Strategy};

impl Hapset {
    /// Who has the piece that this worker works at.
    fn at_work(&mut self) -> &mut Dpor {
        match (self.phase, &mut self.rest) {
            (Phase::Rarest | Phase::Rest, Some(rest)) => rest,
            _ => &mut self.guided,
        }
    }

    /// Begins to learn, or to search at once.
    fn place_whole(&mut self) {
        self.walks = self.pool.lock().walks;
        self.random = Random::new(self.seed);
        self.random.jump(self.learn.saturating_sub(self.walks));
        self.phase = Phase::Learning;
        self.guided.place(Piece::Whole);
    }

    fn place_part(&mut self, piece: Piece) {
        self.phase = match self.pool.lock().stretch {
            Stretch::Rest => Phase::Rest,
            _ => Phase::Guided,
        };
        self.at_work().place(piece);
    }

    fn place_next(&mut self, stage: u32) {
        let stretch = self.pool.lock().come_to(stage);
        match stretch {
            Stretch::Guided(way) => self.place_part(Piece::Reduced(Subtree::along(way))),
            Stretch::Rest => self.place_part(Piece::Whole),
            Stretch::Nothing => self.phase = Phase::Over,
        }
    }
}

impl ByPiece for Hapset {
    fn copy(&self) -> Box<dyn Strategy> {
        let like = Self::with(Guide::copy(self.guide()), self.pool.clone());
        let rest = self.rest.as_ref().map(|_| Dpor::optimal());
        let Self { learn, seed, deepest_first, .. } = *self;
        Box::new(Self { learn, seed, deepest_first, rest, ..like })
    }

    fn takes(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Whole | Piece::Reduced(_) | Piece::After { .. })
    }

    fn place(&mut self, piece: Piece) {
        match piece {
            Piece::After { stage } => self.place_next(stage),
            Piece::Reduced(_) => self.place_part(piece),
            _ => self.place_whole(),
        }
        let backtrack = self.pool.lock().backtrack;
        self.guide_mut().backtrack = backtrack;
    }

    fn give(&mut self) -> Given {
        match self.phase {
            Phase::Learning | Phase::Over => Given::Nothing,
            _ => self.at_work().give(),
        }
    }

    fn rest(&mut self) -> Option<Piece> {
        match self.phase {
            Phase::Learning => Some(Piece::Whole),
            Phase::Over => None,
            _ => self.at_work().rest(),
        }
    }

    fn leave_rest(&mut self) -> Option<Piece> {
        match self.phase {
            Phase::Guided => self.guided.leave_rest(),
            _ => self.rest(),
        }
    }

    fn put_off(&mut self) -> Vec<Piece> {
        self.guide_mut().commit();
        let mut pool = self.pool.lock();
        pool.walks = self.walks;
        pool.announce().map(|stage| Piece::After { stage }).into_iter().collect()
    }

    fn lost(&mut self) {
        self.guide_mut().lose();
        self.rarest_begun = false;
    }

    fn leave(&mut self) {
        if self.rarest_begun
            && let Some(Piece::Reduced(rest)) = self.guided.rest()
        {
            self.pool.lock().halfway.push(rest);
        }
        self.rarest_begun = false;
    }

    fn has_learnt(&self) -> bool {
        self.guide().has_news()
    }

    fn learnt(&mut self) -> Option<Learnt> {
        Some(Learnt { course: Some(Box::new(self.pool.lock().course())), ..Learnt::default() })
    }

    fn recall(&mut self, learnt: Option<&Learnt>) -> bool {
        let Some(course) = learnt.and_then(|learnt| learnt.course.as_deref()) else { return false };
        let fits = course.is_sound() && (course.stretch != Stretch::Rest || self.rest.is_some());
        if fits {
            let pool = self.pool.clone();
            let mut pool = pool.lock();
            pool.take_up(course);
            self.guide_mut().take_all(&pool);
        }
        fits
    }

    fn selects(&self) -> bool {
        true
    }

    /// As long as something may come after what was done, it is said there.
    fn claim(&self) -> Claim {
        if self.phase == Phase::Over { Claim::Selective } else { Claim::Exhausted }
    }

    fn takes_turns(&self) -> bool {
        self.phase == Phase::Guided && !self.deepest_first
    }

    fn trunk(&self) -> Trunk {
        if self.deepest_first { Trunk::default() } else { Trunk::default().in_turn() }
    }

    fn news(&mut self) -> News {
        match self.phase {
            Phase::Learning | Phase::Over => News::default(),
            _ => self.at_work().news(),
        }
    }
}
