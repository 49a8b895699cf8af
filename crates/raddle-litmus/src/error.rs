//! Errors in a program that are found before it runs.

use thiserror::Error;

use crate::syntax::At;

/// A mistake in a litmus program, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LitmusError {
    /// The text does not follow the grammar.
    #[error("{at}: expected {expected}, found {found}")]
    Expected {
        /// The place.
        at: At,
        /// What is expected there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A name that is not declared.
    #[error("{at}: unknown name `{name}`: {hint}")]
    Unknown {
        /// The place.
        at: At,
        /// The name.
        name: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A name that is declared twice.
    #[error("{at}: `{name}` is declared twice")]
    Twice {
        /// The place of the second declaration.
        at: At,
        /// The name.
        name: String,
    },
    /// Something that is used in a wrong way.
    #[error("{at}: {why}")]
    Misused {
        /// The place.
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
