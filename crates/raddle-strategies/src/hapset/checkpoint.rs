//! The state of an interrupted search by learned orderings, as data.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::ByPiece;
use raddle_engine::system::Choice;
use serde::{Deserialize, Serialize};

use super::guide::Convergence;
use super::knowledge::Knowledge;
use super::skipped_paths::SkippedPaths;
use super::turns::Turns;
use crate::format::Format;
use crate::optimal::Optimal;
use crate::reduction::{Backtrack, Subtree};

/// What the search runs between two changes of the bound or of the kind of search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Round {
    /// The guided search, whose first execution follows these choices.
    Guided(Vec<Choice>),
    /// The complete search.
    Rest,
    Nothing,
}

/// The complete state of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HapsetCheckpoint {
    pub(super) knowledge: Knowledge,
    pub(super) learned: u64,
    pub(super) convergence: Convergence,
    pub(super) skipped: u64,
    pub(super) skipped_above: Vec<u64>,
    pub(super) rarest: Option<SkippedPaths>,
    pub(super) over_bound: Option<SkippedPaths>,
    pub(super) unfinished: Vec<Subtree>,
    pub(super) walks: u64,
    pub(super) backtrack: Backtrack,
    pub(super) failed: bool,
    pub(super) rounds_begun: u32,
    pub(super) round: Round,
    /// Subtrees of the guided search that take turns.
    pub(super) turns: Turns,
    /// The rest of the complete search.
    pub(super) rest: Option<Piece>,
    /// The search is still in its first phase, the random executions to learn from.
    pub(super) learning: bool,
}

impl Format for HapsetCheckpoint {
    const NAME: &'static str = "hapset 2";

    fn is_sound(&self) -> bool {
        let apart = |subtree: &Subtree| subtree.ancestors() == 0 && subtree.is_sound();
        let rest = match &self.rest {
            Some(rest) => self.round == Round::Rest && Optimal::new().understands(rest),
            None => self.round != Round::Rest,
        };
        self.knowledge.is_sound() && self.unfinished.iter().all(apart) && rest && self.turns.is_sound()
    }
}
