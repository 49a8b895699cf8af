//! A piece of the search is data: it can be handed to another worker, split, written down and taken up again.
//!
//! Only the strategy that made a part of a search can read it. The search moves it, and knows nothing of it but its stage.

use serde::{Deserialize, Serialize};

mod hex;

/// A part of what a search has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// Everything there is.
    Whole,
    /// The executions with these numbers, where each can be run by its number.
    Numbers {
        /// The first.
        from: u64,
        /// The first that is not part of it.
        to: u64,
    },
    /// A part that only the strategy which made it can read.
    Part {
        /// See [`Piece::stage`].
        stage: u32,
        /// Begins with the version of its format.
        #[serde(with = "hex")]
        bytes: Vec<u8>,
    },
}

impl Piece {
    /// More executions than anybody can run: a larger number has not come from a search.
    pub(crate) const MOST_RUN: u64 = 1 << 60;

    /// Whether it can have come from a search, as far as that can be told without its strategy: a file may say anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Numbers { from, to } => from < to && *from <= Self::MOST_RUN,
            Self::Part { stage, .. } => *stage < u32::MAX,
        }
    }

    /// The place of a piece where the search goes in stages: a later stage begins when all pieces of the earlier ones are done. 0 where
    /// there are no stages.
    #[must_use]
    pub fn stage(&self) -> u32 {
        match self {
            Self::Part { stage, .. } => *stage,
            _ => 0,
        }
    }
}

/// What a strategy has learned from the executions that were run, where the others depend on it. Only the strategy can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Checkpoint {
    /// Empty if nothing was learned, else it begins with the version of its format.
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
