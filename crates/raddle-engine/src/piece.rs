//! A piece of the search is data: it can be handed to another worker, split, saved and resumed.
//!
//! Only the strategy that made a piece can read it. The engine moves it, and knows only its stage.

use serde::{Deserialize, Serialize};

mod hex;

/// A part of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// The whole search.
    Whole,
    /// The executions with these numbers, for strategies that can run each execution by its number.
    Numbers {
        /// The first.
        from: u64,
        /// The number after the last.
        to: u64,
    },
    /// A part that only the strategy that made it can read.
    Part {
        /// See [`Piece::stage`].
        stage: u32,
        /// Begins with the version of its format.
        #[serde(with = "hex")]
        bytes: Vec<u8>,
    },
}

impl Piece {
    /// More executions than any search runs. A larger number is not from a search.
    pub(crate) const MOST_RUN: u64 = 1 << 60;

    /// Whether it can come from a search, as far as the engine can check. The file may be damaged or edited.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Numbers { from, to } => from < to && *from <= Self::MOST_RUN,
            Self::Part { stage, .. } => *stage < u32::MAX,
        }
    }

    /// The stage of a piece: a later stage begins when all pieces of the earlier ones are done. 0 for searches without stages.
    #[must_use]
    pub fn stage(&self) -> u32 {
        match self {
            Self::Part { stage, .. } => *stage,
            _ => 0,
        }
    }
}

/// What a strategy has learned from executions, if later executions depend on it. Only the strategy can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Checkpoint {
    /// Empty if nothing was learned; else it begins with the version of its format.
    #[serde(with = "hex")]
    pub bytes: Vec<u8>,
}

impl Checkpoint {
    /// Whether nothing was learned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
