//! How several workers share an iteration: a part of it as data.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};
use serde::{Deserialize, Serialize};

use super::Preemption;
use super::frontier::{PreemptionFrontier, PreemptionLevel};
use crate::format::{self, Format};
use crate::states::visited::Visited;

/// A part of an iteration: the branch that is walked next, with the rest of its subtree, and further branches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PreemptionPiece {
    /// The number of preemptions of every execution of it.
    bound: u32,
    branch: Option<WorkerBranch>,
    more: PreemptionFrontier,
    /// Some work for the next iteration that this piece has produced was not stored.
    dropped_some: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct WorkerBranch {
    levels: Vec<PreemptionLevel>,
    /// At so many levels, from the root, no other alternative is part of it.
    fixed: usize,
}

impl PreemptionPiece {
    fn write(&self) -> Piece {
        format::part(self.bound, self)
    }

    fn read(piece: &Piece) -> Option<Self> {
        match piece {
            Piece::Whole => Some(Self { branch: Some(WorkerBranch::default()), ..Self::default() }),
            piece => format::read_part(piece).filter(|read: &Self| read.bound == piece.stage()),
        }
    }
}

impl Format for PreemptionPiece {
    const NAME: &'static str = "preemption 1";

    fn is_sound(&self) -> bool {
        let fits = |branch: &WorkerBranch| {
            branch.fixed <= branch.levels.len() && branch.levels.iter().all(PreemptionLevel::is_sound)
        };
        self.bound < u32::MAX && self.branch.as_ref().is_none_or(fits) && self.more.is_sound()
    }
}

impl Preemption {
    fn piece(&self, branch: Option<WorkerBranch>, more: PreemptionFrontier) -> Piece {
        PreemptionPiece { bound: self.bound, branch, more, dropped_some: self.dropped_some }.write()
    }

    /// Splits off the free alternatives at the shallowest level that has some left.
    fn split_branch(&mut self) -> Option<WorkerBranch> {
        let open = |at: &usize| self.levels[*at].choice + 1 < self.levels[*at].free.end;
        let at = (self.fixed..self.levels.len()).find(open)?;
        let mut levels = self.levels[..=at].to_vec();
        levels[at].choice += 1;
        self.levels[at].free.end = levels[at].choice;
        Some(WorkerBranch { levels, fixed: at })
    }
}

impl ByPiece for Preemption {
    fn copy(&self) -> Box<dyn Strategy> {
        let (next, visited) = (self.next.copy(), self.visited.as_ref().map(Visited::copy));
        Box::new(Self { next, visited, ..Self::up_to(self.most) })
    }

    fn understands(&self, piece: &Piece) -> bool {
        PreemptionPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        let read = PreemptionPiece::read(&piece).expect("raddle bug: a piece of another strategy");
        let PreemptionPiece { bound, branch, more, dropped_some } = read;
        self.bound = bound;
        self.path_ready = branch.is_some();
        let WorkerBranch { levels, fixed } = branch.unwrap_or_default();
        (self.levels, self.fixed) = (levels, fixed);
        self.remaining = more;
        self.next.begin(bound, dropped_some);
        self.dropped_some = dropped_some;
    }

    fn give(&mut self) -> Option<Piece> {
        // The next execution is not given away. Otherwise two workers could pass the last branch back and forth forever.
        if !self.path_ready && !self.advance() {
            return None;
        }
        let (branch, more) = match self.remaining.split() {
            Some(more) => (None, more),
            None => (Some(self.split_branch()?), PreemptionFrontier::default()),
        };
        Some(self.piece(branch, more))
    }

    fn rest(&mut self) -> Option<Piece> {
        if !self.path_ready && !self.advance() {
            return None;
        }
        let branch = WorkerBranch { levels: self.levels.clone(), fixed: self.fixed };
        Some(self.piece(Some(branch), self.remaining.clone()))
    }

    fn take_later(&mut self) -> Vec<Piece> {
        if let Some(visited) = &mut self.visited {
            visited.commit();
        }
        let bound = self.bound + 1;
        let piece = |more| PreemptionPiece { bound, branch: None, more, dropped_some: false }.write();
        self.next.take(self.bound).into_iter().map(piece).collect()
    }

    fn revert(&mut self) {
        if let Some(visited) = &mut self.visited {
            visited.discard_uncommitted();
        }
    }

    fn claim(&self) -> Claim {
        let bound = Bound { most: self.bound, unit: Unit::Preemption };
        if self.dropped_some { Claim::Bounded(bound) } else { Claim::Exhausted }
    }
}
