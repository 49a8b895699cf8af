//! An iteration by several workers: what one of them has to do, as data.

use serde::{Deserialize, Serialize};

use super::Preemption;
use super::frontier::{Frontier, Level};
use crate::piece::Piece;
use crate::strategy::visited::Visited;
use crate::strategy::{Bound, ByPiece, Claim, Given, Strategy, Unit};

/// A part of an iteration: the branch that is walked next, with what is left along it, and others beside.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ways {
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

impl Ways {
    pub(crate) fn stage(&self) -> u32 {
        self.bound
    }

    /// Whether it can have come from a search: a file may say anything.
    pub(crate) fn is_sound(&self) -> bool {
        let fits = |branch: &Branch| branch.fixed <= branch.levels.len() && branch.levels.iter().all(Level::is_sound);
        self.bound < u32::MAX && self.branch.as_ref().is_none_or(fits) && self.more.is_sound()
    }
}

impl Preemption {
    fn piece(&self, branch: Option<Branch>, more: Frontier) -> Piece {
        Piece::Preempted(Ways { bound: self.bound, branch, more, left_out: self.left_out })
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

    fn takes(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Whole | Piece::Preempted(_))
    }

    fn place(&mut self, piece: Piece) {
        let Ways { bound, branch, more, left_out } = match piece {
            Piece::Preempted(ways) => ways,
            _ => Ways { branch: Some(Branch::default()), ..Ways::default() },
        };
        self.bound = bound;
        self.placed = branch.is_some();
        let Branch { levels, fixed } = branch.unwrap_or_default();
        (self.levels, self.fixed) = (levels, fixed);
        self.now = more;
        self.next.begin(bound, left_out);
        self.left_out = left_out;
    }

    fn give(&mut self) -> Given {
        // What comes next is not given away, or two would hand the last branch to and fro.
        if !self.placed && !self.advance() {
            return Given::Nothing;
        }
        let given = match self.now.split() {
            Some(more) => Some((None, more)),
            None => self.split_branch().map(|branch| (Some(branch), Frontier::default())),
        };
        match given {
            Some((branch, more)) => Given::Pieces(vec![self.piece(branch, more)]),
            None => Given::Nothing,
        }
    }

    fn rest(&mut self) -> Option<Piece> {
        if !self.placed && !self.advance() {
            return None;
        }
        let branch = Branch { levels: self.levels.clone(), fixed: self.fixed };
        Some(self.piece(Some(branch), self.now.clone()))
    }

    fn put_off(&mut self) -> Vec<Piece> {
        if let Some(seen) = &mut self.seen {
            seen.commit();
        }
        let piece = |more| Piece::Preempted(Ways { bound: self.bound + 1, branch: None, more, left_out: false });
        self.next.take(self.bound).into_iter().map(piece).collect()
    }

    fn lost(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.lose();
        }
    }

    fn claim(&self) -> Claim {
        let bound = Bound { most: self.bound, unit: Unit::Preemption };
        if self.left_out { Claim::Bounded(bound) } else { Claim::Exhausted }
    }
}
