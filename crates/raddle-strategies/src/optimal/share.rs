//! How workers share the search, and how it is written down: by the pieces on the stack.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};

use super::Optimal;
use super::piece::{Pending, Written};
use crate::format;

impl ByPiece for Optimal {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(Self { bound: self.bound, mistake: self.mistake, ..Self::empty() })
    }

    fn understands(&self, piece: &Piece) -> bool {
        *piece == Piece::Whole || format::read_part::<Written>(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        self.stack.clear();
        if piece == Piece::Whole {
            return self.stack.push(Pending::whole());
        }
        let written: Written = format::read_part(&piece).expect("raddle bug: a piece of another strategy");
        self.hit_bound |= written.hit_bound;
        self.stack.extend(written.read());
    }

    /// The oldest piece is nearest to the root, so most follows from it.
    fn give(&mut self) -> Option<Piece> {
        if self.stack.len() < 2 {
            return None;
        }
        let oldest = self.stack.remove(0);
        Some(format::part(0, &Written::write([&oldest].into_iter(), false)))
    }

    fn rest(&mut self) -> Option<Piece> {
        (!self.stack.is_empty()).then(|| format::part(0, &Written::write(self.stack.iter(), self.hit_bound)))
    }

    fn claim(&self) -> Claim {
        match self.bound.filter(|_| self.hit_bound) {
            Some(most) => Claim::Bounded(Bound { most, unit: Unit::Deviation }),
            None => Claim::Exhausted,
        }
    }
}
