//! How far a search by orderings that were seen has come, as data: what is left of it depends on that.

use serde::{Deserialize, Serialize};

use super::Backtrack;
use super::guide::Convergence;
use super::lessons::Lessons;
use super::skipped::Skipped;
use crate::strategy::dpor::Subtree;
use crate::system::Choice;

/// What is done at a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stretch {
    /// What is new, beginning with this way.
    Guided(Vec<Choice>),
    /// Everything.
    Rest,
    Nothing,
}

/// All that the workers have in common, written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Course {
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
    pub(super) announced: u32,
}

impl Course {
    /// Whether it can have come from a search: a file may say anything.
    pub(super) fn is_sound(&self) -> bool {
        let apart = |subtree: &Subtree| subtree.frozen() == 0 && subtree.is_sound();
        let announced = self.stage == self.announced || self.stage.checked_add(1) == Some(self.announced);
        self.lessons.is_sound() && self.halfway.iter().all(apart) && announced
    }
}
