//! What is left of a search, as data: it can be written down and taken up again.

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::piece::Piece;
use crate::strategy::Claim;
use crate::strategy::dpor::Trunk;

/// What is left of a search, as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct Remains {
    pub(crate) pieces: Vec<Waiting>,
    pub(crate) trunk: Trunk,
    pub(crate) total: Tally,
    pub(crate) claim: Claim,
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
        Self { pieces, trunk, total: Tally::default(), claim: Claim::Exhausted }
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

    /// Whether it can have come from a search: a file may say anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let hangs = |waiting: &Waiting| waiting.under.is_none_or(|place| self.trunk.has(place));
        self.trunk.is_sound() && self.pieces.iter().all(|waiting| hangs(waiting) && waiting.piece.is_sound())
    }
}
