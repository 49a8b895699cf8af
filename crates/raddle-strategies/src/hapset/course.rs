//! How far a search by learned orderings has come, as data.

use serde::{Deserialize, Serialize};

use super::guide::Convergence;
use super::lessons::Lessons;
use super::skipped::Skipped;
use super::turns::Turns;
use crate::format::Format;
use crate::reduction::{Backtrack, Subtree};
use raddle_engine::system::Choice;

/// What is done at a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stretch {
    /// What is new, beginning with this way.
    Guided(Vec<Choice>),
    /// Everything.
    Rest,
    Nothing,
}

/// All that is known of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HapsetCheckpoint {
    pub(super) lessons: Lessons,
    pub(super) learnt: u64,
    pub(super) convergence: Convergence,
    pub(super) passed_by: u64,
    pub(super) passed_above: Vec<u64>,
    pub(super) rarest: Option<Skipped>,
    pub(super) later: Option<Skipped>,
    pub(super) halfway: Vec<Subtree>,
    pub(super) walks: u64,
    pub(super) backtrack: Backtrack,
    pub(super) failed: bool,
    pub(super) stage: u32,
    pub(super) stretch: Stretch,
    /// Subtrees that are to be run in turn.
    pub(super) turns: Turns,
    /// What is left of the search that leaves nothing out.
    pub(super) rest: Option<Subtree>,
    /// The random walks that are learned from come first.
    pub(super) learning: bool,
}

impl Format for HapsetCheckpoint {
    const NAME: &'static str = "hapset 1";

    fn is_sound(&self) -> bool {
        let apart = |subtree: &Subtree| subtree.frozen() == 0 && subtree.is_sound();
        let rest = self.rest.as_ref().is_none_or(apart) && self.rest.is_some() == (self.stretch == Stretch::Rest);
        self.lessons.is_sound() && self.halfway.iter().all(apart) && rest && self.turns.is_sound()
    }
}
