//! How a search by learned orderings is interrupted and resumed. The rest of the search is one piece.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{ByNumber, ByPiece, Claim, Strategy};

use super::checkpoint::{HapsetCheckpoint, Round};
use super::turns::Turns;
use super::{Guide, Hapset, Phase};
use crate::format;
use crate::optimal::Optimal;
use crate::reduction::Subtree;
use crate::samplers::random::Random;

impl Hapset {
    /// Begins with the random executions, or with the search if there are none.
    fn place_whole(&mut self) {
        self.begin_learning();
        self.turns = Turns::default();
        self.turns.begin(Subtree::default());
    }

    fn begin_learning(&mut self) {
        self.walks = self.pool.lock().walks;
        self.random = Random::new(self.seed);
        self.random.jump(self.learn.saturating_sub(self.walks));
        self.phase = Phase::Learning;
    }

    fn place_rest(&mut self, checkpoint: HapsetCheckpoint) {
        let pool = self.pool.clone();
        let mut state = pool.lock();
        state.restore(&checkpoint);
        self.guide_mut().import_all(&state);
        self.guide_mut().backtrack = state.backtrack;
        drop(state);
        self.turns = checkpoint.turns;
        self.rarest_begun = false;
        match checkpoint.round {
            Round::Guided(_) if checkpoint.learning => self.begin_learning(),
            Round::Guided(_) => self.phase = Phase::Guided,
            Round::Nothing => self.phase = Phase::Over,
            Round::Rest => {
                self.phase = Phase::Rest;
                let mut rest = Optimal::new();
                rest.place(checkpoint.rest.unwrap_or(Piece::Whole));
                self.rest = Some(rest);
            }
        }
    }
}

impl ByPiece for Hapset {
    fn copy(&self) -> Box<dyn Strategy> {
        let like = Self::with(Guide::copy(self.guide()), self.pool.clone());
        let rest = self.rest.as_ref().map(|_| Optimal::new());
        let Self { learn, seed, deepest_first, .. } = *self;
        Box::new(Self { learn, seed, deepest_first, rest, ..like })
    }

    fn understands(&self, piece: &Piece) -> bool {
        let fits = |read: HapsetCheckpoint| read.round != Round::Rest || self.rest.is_some();
        *piece == Piece::Whole || format::read_part(piece).is_some_and(fits)
    }

    fn place(&mut self, piece: Piece) {
        match piece {
            Piece::Whole => self.place_whole(),
            piece => self.place_rest(format::read_part(&piece).expect("raddle bug: a piece of another strategy")),
        }
    }

    fn give(&mut self) -> Option<Piece> {
        None
    }

    fn splits(&self) -> bool {
        false
    }

    fn rest(&mut self) -> Option<Piece> {
        self.commit();
        let mut rest = HapsetCheckpoint { learning: self.phase == Phase::Learning, ..self.pool.lock().checkpoint() };
        match (self.phase, &mut self.rest) {
            (Phase::Over, _) => return None,
            (Phase::Rarest | Phase::Rest, Some(everything)) => {
                if self.rarest_begun {
                    rest.unfinished.extend(self.guided.rest_of_subtree());
                }
                // The whole search ends with the complete search.
                rest.rest = Some(everything.rest()?);
            }
            _ => {}
        }
        rest.turns = self.turns.clone();
        rest.turns.put_current_back(&mut self.guided);
        Some(format::part(0, &rest))
    }

    fn take_later(&mut self) -> Vec<Piece> {
        self.commit();
        Vec::new()
    }

    fn revert(&mut self) {
        self.guide_mut().discard_uncommitted();
        self.rarest_begun = false;
    }

    /// A search that ends before its last phase is followed by another piece, which makes the claim.
    fn claim(&self) -> Claim {
        if self.phase == Phase::Over { Claim::Selective } else { Claim::Exhausted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn the_rest_of_a_search_can_be_read() {
        let mut hapset = Hapset::new();
        hapset.place(Piece::Whole);
        let rest = hapset.rest().expect("all is left");
        assert!(Hapset::new().understands(&rest) && !Optimal::new().understands(&rest));
        let left: HapsetCheckpoint = format::read_part(&rest).expect("just written");
        assert!(left.is_sound() && left.learning);
    }
    #[test]
    fn a_damaged_rest_of_the_complete_search_is_refused() {
        let hapset = Hapset::new().then_the_rest();
        let written = |rest: Option<Piece>| {
            let checkpoint = hapset.pool.lock().checkpoint();
            format::part(0, &HapsetCheckpoint { round: Round::Rest, rest, ..checkpoint })
        };
        let good = written(Optimal::new().rest());
        assert!(hapset.understands(&good) && !Hapset::new().understands(&good));
        for wrong in [None, Some(Piece::Numbers { from: 0, to: 1 }), Some(Piece::Part { stage: 0, bytes: vec![1] })] {
            assert!(!hapset.understands(&written(wrong)));
        }
    }
}
