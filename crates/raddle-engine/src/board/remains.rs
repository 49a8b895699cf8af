//! What is left of a search, as data: it can be written down and taken up again.

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::outcome::Failure;
use crate::piece::{Learnt, Piece};
use crate::replay::Script;
use crate::search::Known;
use crate::strategy::dpor::{Subtree, Trunk};
use crate::strategy::{Claim, Sharing, Strategy};

/// What is left of a search, as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct Remains {
    pub(crate) pieces: Vec<Waiting>,
    pub(crate) trunk: Trunk,
    pub(crate) total: Tally,
    pub(crate) claim: Claim,
    /// What the strategy has learnt, where what is left depends on it.
    pub(crate) learnt: Option<Learnt>,
    /// How to come to the failure that would be reported.
    pub(crate) failed: Option<Known>,
}

/// A piece that nobody has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub piece: Piece,
    /// The place in the trunk that it hangs under.
    pub under: Option<usize>,
}

impl Remains {
    /// A search of which nothing has been done.
    pub(crate) fn of_all(piece: Piece, trunk: Trunk) -> Self {
        let pieces = vec![Waiting { piece, under: None }];
        Self { pieces, trunk, total: Tally::default(), claim: Claim::Exhausted, learnt: None, failed: None }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.trunk.is_empty()
    }

    /// The stage that is not done; 0 if there are none.
    pub(crate) fn stage(&self) -> u32 {
        self.pieces.iter().map(|waiting| waiting.piece.stage()).min().unwrap_or(0)
    }

    /// What was done.
    #[must_use]
    pub fn total(&self) -> &Tally {
        &self.total
    }

    /// How to come to the failure that an earlier sitting has found, if it found one. Failures themselves cannot be written down:
    /// who takes up the search runs this, and tells [what comes of it](Self::failed_again).
    #[must_use]
    pub fn failed(&self) -> Option<Script> {
        self.failed.as_ref().map(Known::script)
    }

    /// The failure of an earlier sitting is this.
    pub fn failed_again(&mut self, failure: Failure) {
        self.total.found = self.failed.take().map(|known| known.again(failure));
    }

    /// Whether it can have come from a search with this strategy: a file may say anything.
    #[must_use]
    pub fn fits(&self, strategy: &mut dyn Strategy) -> bool {
        let pieces = || self.pieces.iter().map(|waiting| &waiting.piece);
        let kind = match strategy.sharing() {
            Sharing::Alone => false,
            Sharing::ByNumber(by_number) => {
                let numbers = pieces().all(|piece| matches!(piece, Piece::Numbers { .. }));
                let recalls = |learnt: &Learnt| by_number.recall(learnt, self.next_number());
                numbers && self.trunk.is_empty() && self.learnt.as_ref().is_some_and(recalls)
            }
            Sharing::ByPiece(by_piece) => {
                let shares = by_piece.takes(&Piece::Reduced(Subtree::default()));
                let takes = pieces().all(|piece| by_piece.takes(piece)) && (shares || self.trunk.is_empty());
                takes && by_piece.recall(self.learnt.as_ref())
            }
        };
        kind && self.is_sound()
    }

    /// The number of the execution that comes first.
    pub(crate) fn next_number(&self) -> u64 {
        let from = |waiting: &Waiting| match waiting.piece {
            Piece::Numbers { from, .. } => Some(from),
            _ => None,
        };
        self.pieces.iter().filter_map(from).min().unwrap_or(u64::MAX)
    }

    /// Whether its parts fit together.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let mut shared = Vec::new();
        for Waiting { piece, under } in &self.pieces {
            match (piece, under) {
                (Piece::Reduced(subtree), Some(place)) => shared.push((*place, subtree)),
                (Piece::Reduced(subtree), None) if subtree.frozen() > 0 => return false,
                (_, Some(_)) => return false,
                (_, None) => {}
            }
        }
        let pieces = self.pieces.iter().all(|waiting| waiting.piece.is_sound());
        pieces
            && self.total.is_sound()
            && self.failed.as_ref().is_none_or(Known::is_sound)
            && self.trunk.is_sound(&shared)
    }
}
