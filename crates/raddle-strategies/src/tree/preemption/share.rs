//! An iteration by several workers: what one of them has to do, as data.

use serde::{Deserialize, Serialize};

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};

use super::Preemption;
use super::frontier::{Frontier, Level};
use crate::format::{self, Format};
use crate::states::visited::Visited;

/// A part of an iteration: the branch that is walked next, with what is left along it, and others beside.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PreemptionPiece {
    /// How many preemptions every order of it has.
    bound: u32,
    branch: Option<Branch>,
    more: Frontier,
    /// Of what this piece came to for the next iteration, something was not kept.
    left_out: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Branch {
    levels: Vec<Level>,
    /// At so many levels, from the root, nothing else is part of it.
    fixed: usize,
}

impl PreemptionPiece {
    fn write(&self) -> Piece {
        format::part(self.bound, self)
    }

    fn read(piece: &Piece) -> Option<Self> {
        match piece {
            Piece::Whole => Some(Self { branch: Some(Branch::default()), ..Self::default() }),
            piece => format::read_part(piece).filter(|read: &Self| read.bound == piece.stage()),
        }
    }
}

impl Format for PreemptionPiece {
    const NAME: &'static str = "preemption 1";

    fn is_sound(&self) -> bool {
        let fits = |branch: &Branch| branch.fixed <= branch.levels.len() && branch.levels.iter().all(Level::is_sound);
        self.bound < u32::MAX && self.branch.as_ref().is_none_or(fits) && self.more.is_sound()
    }
}

impl Preemption {
    fn piece(&self, branch: Option<Branch>, more: Frontier) -> Piece {
        PreemptionPiece { bound: self.bound, branch, more, left_out: self.left_out }.write()
    }

    /// The free choices at the shallowest level that has some left.
    fn split_branch(&mut self) -> Option<Branch> {
        let open = |at: &usize| self.levels[*at].choice + 1 < self.levels[*at].free.end;
        let at = (self.fixed..self.levels.len()).find(open)?;
        let mut levels = self.levels[..=at].to_vec();
        levels[at].choice += 1;
        self.levels[at].free.end = levels[at].choice;
        Some(Branch { levels, fixed: at })
    }
}

impl ByPiece for Preemption {
    fn copy(&self) -> Box<dyn Strategy> {
        let (next, seen) = (self.next.copy(), self.seen.as_ref().map(Visited::copy));
        Box::new(Self { next, seen, ..Self::up_to(self.most) })
    }

    fn understands(&self, piece: &Piece) -> bool {
        PreemptionPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        let read = PreemptionPiece::read(&piece).expect("raddle bug: a piece of another strategy");
        let PreemptionPiece { bound, branch, more, left_out } = read;
        self.bound = bound;
        self.placed = branch.is_some();
        let Branch { levels, fixed } = branch.unwrap_or_default();
        (self.levels, self.fixed) = (levels, fixed);
        self.now = more;
        self.next.begin(bound, left_out);
        self.left_out = left_out;
    }

    fn give(&mut self) -> Option<Piece> {
        // What comes next is not given away, or two would hand the last branch to and fro.
        if !self.placed && !self.advance() {
            return None;
        }
        let (branch, more) = match self.now.split() {
            Some(more) => (None, more),
            None => (Some(self.split_branch()?), Frontier::default()),
        };
        Some(self.piece(branch, more))
    }

    fn rest(&mut self) -> Option<Piece> {
        if !self.placed && !self.advance() {
            return None;
        }
        let branch = Branch { levels: self.levels.clone(), fixed: self.fixed };
        Some(self.piece(Some(branch), self.now.clone()))
    }

    fn take_later(&mut self) -> Vec<Piece> {
        if let Some(seen) = &mut self.seen {
            seen.commit();
        }
        let bound = self.bound + 1;
        let piece = |more| PreemptionPiece { bound, branch: None, more, left_out: false }.write();
        self.next.take(self.bound).into_iter().map(piece).collect()
    }

    fn revert(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.lose();
        }
    }

    fn claim(&self) -> Claim {
        let bound = Bound { most: self.bound, unit: Unit::Preemption };
        if self.left_out { Claim::Bounded(bound) } else { Claim::Exhausted }
    }
}
