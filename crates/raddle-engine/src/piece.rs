//! A piece of the search is data: it can be handed to another worker, split, written down and taken up again.

use serde::{Deserialize, Serialize};

use crate::strategy::delay::Deviations;
use crate::strategy::dpor::Subtree;
use crate::strategy::exhaustive::Boughs;
use crate::strategy::hapset::Course;
use crate::strategy::preemption::Ways;
use crate::strategy::surw::Counts;
use crate::system::Choice;

/// What a strategy knows from the executions that were run, where the others depend on it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Learnt {
    /// Steps of the longest execution that it learnt from; 0 if there was none.
    pub longest: u32,
    /// How often each task touched each object in those.
    #[serde(default)]
    pub counts: Counts,
    /// How far a systematic start has come.
    pub start: Start,
    /// What those know that take turns under it.
    pub members: Vec<Learnt>,
    /// How far a search by orderings that were seen has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Box<Course>>,
}

/// A systematic start of executions that go by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The execution that comes next.
    pub next: u64,
    /// What is left; `None` if nothing is.
    pub left: Option<Piece>,
}

impl Default for Start {
    fn default() -> Self {
        Self { next: 0, left: Some(Piece::Whole) }
    }
}

/// A part of what a search has to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Branches of the tree of decisions.
    Boughs(Boughs),
    /// A part of the tree as reduction sees it.
    Reduced(Subtree),
    /// Orders with a certain number of preemptions.
    Preempted(Ways),
    /// States that take a certain number of delays.
    Delayed(Deviations),
    /// What comes next when all before it is done, if anything does: the strategy knows.
    After {
        /// Its [stage](Self::stage).
        stage: u32,
    },
}

impl Piece {
    /// More executions than anybody can run: a larger number has not come from a search.
    pub(crate) const MOST_RUN: u64 = 1 << 60;

    /// Whether it can have come from a search: a file may say anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Numbers { from, to } => from < to && *from <= Self::MOST_RUN,
            Self::Boughs(boughs) => boughs.is_sound(),
            Self::Reduced(subtree) => subtree.is_sound(),
            Self::Preempted(ways) => ways.is_sound(),
            Self::Delayed(deviations) => deviations.is_sound(),
            Self::After { stage } => (1..u32::MAX).contains(stage),
        }
    }

    /// Where it has its place if all that comes earlier has to be done before it: the larger, the later. 0 where there are no
    /// stages.
    #[must_use]
    pub fn stage(&self) -> u32 {
        match self {
            Self::Preempted(ways) => ways.stage(),
            Self::Delayed(deviations) => deviations.stage(),
            Self::After { stage } => *stage,
            _ => 0,
        }
    }

    /// Whether one worker alone would have run some of it before the execution with these choices.
    pub(crate) fn may_precede(&self, choices: &[Choice]) -> bool {
        matches!(self, Self::Boughs(boughs) if boughs.may_precede(choices))
    }
}
