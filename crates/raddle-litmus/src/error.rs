//! What can be wrong with a program before it runs.

use thiserror::Error;

use crate::syntax::At;

/// A mistake in a litmus program, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LitmusError {
    /// The text does not follow the grammar.
    #[error("{at}: expected {expected}, found {found}")]
    Expected {
        /// Where.
        at: At,
        /// What could stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A name that nothing has.
    #[error("{at}: unknown name `{name}`: {hint}")]
    Unknown {
        /// Where.
        at: At,
        /// The name.
        name: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A name that two things have.
    #[error("{at}: `{name}` is declared twice")]
    Twice {
        /// Where, the second time.
        at: At,
        /// The name.
        name: String,
    },
    /// Something used as what it is not.
    #[error("{at}: {why}")]
    Misused {
        /// Where.
        at: At,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl LitmusError {
    /// Where the mistake is.
    #[must_use]
    pub fn at(&self) -> At {
        match self {
            Self::Expected { at, .. }
            | Self::Unknown { at, .. }
            | Self::Twice { at, .. }
            | Self::Misused { at, .. } => *at,
        }
    }

    pub(crate) fn misused(at: At, why: impl Into<String>) -> Self {
        Self::Misused { at, why: why.into() }
    }
}
