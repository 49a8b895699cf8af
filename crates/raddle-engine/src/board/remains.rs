//! The rest of a search, as data that can be saved and resumed.

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::outcome::Failure;
use crate::piece::{Checkpoint, Piece};
use crate::replay::Script;
use crate::search::Known;
use crate::strategy::{Claim, Sharing, Strategy};

/// The rest of a search, as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct Remains {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) total: Tally,
    pub(crate) claim: Claim,
    /// What the strategy has learned, if the rest depends on it.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// How to reproduce the failure that would be reported.
    pub(crate) failed: Option<Known>,
}

impl Remains {
    /// The rest of a search that has not begun: everything.
    pub(crate) fn of_all(piece: Piece) -> Self {
        let total = Tally::default();
        Self { pieces: vec![piece], total, claim: Claim::Exhausted, checkpoint: None, failed: None }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The current stage; 0 if there are none.
    pub(crate) fn stage(&self) -> u32 {
        self.pieces.iter().map(Piece::stage).min().unwrap_or(0)
    }

    /// The results so far.
    #[must_use]
    pub fn total(&self) -> &Tally {
        &self.total
    }

    /// How to reproduce the failure that the search found before it was saved, if it found one. A failure itself cannot be saved: the
    /// caller who resumes the search runs this schedule, and passes [the result](Self::failed_again).
    #[must_use]
    pub fn failed(&self) -> Option<Script> {
        self.failed.as_ref().map(Known::script)
    }

    /// Sets the failure that was found before the search was saved.
    pub fn failed_again(&mut self, failure: Failure) {
        self.total.found = self.failed.take().map(|known| known.again(failure));
    }

    /// Whether it can come from a search with this strategy. The file may be damaged or edited.
    #[must_use]
    pub fn fits(&self, strategy: &mut dyn Strategy) -> bool {
        let kind = match strategy.sharing() {
            Sharing::Alone => false,
            Sharing::ByNumber(by_number) => {
                let numbers = self.pieces.iter().all(|piece| matches!(piece, Piece::Numbers { .. }));
                let restores = |learned: &Checkpoint| by_number.restore(learned, self.next_number());
                numbers && self.checkpoint.as_ref().is_some_and(restores)
            }
            Sharing::ByPiece(by_piece) => {
                self.checkpoint.is_none() && self.pieces.iter().all(|piece| by_piece.understands(piece))
            }
        };
        kind && self.is_sound()
    }

    /// The number of the execution that comes first.
    pub(crate) fn next_number(&self) -> u64 {
        let from = |piece: &Piece| match piece {
            Piece::Numbers { from, .. } => Some(*from),
            _ => None,
        };
        self.pieces.iter().filter_map(from).min().unwrap_or(u64::MAX)
    }

    /// Whether its parts fit together, as far as the engine can check.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.pieces.iter().all(Piece::is_sound)
            && self.total.is_sound()
            && self.failed.as_ref().is_none_or(Known::is_sound)
    }
}
