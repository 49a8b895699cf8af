//! One event of an execution, and the messages that receives can choose from.

use serde::{Deserialize, Serialize};

use super::touch::{Mask, Touch};
use crate::ids::{ObjectId, TaskId};
use crate::system::Variant;
use crate::trace::{Class, Offer, Word};

/// What was decided: together with the task it tells apart everything that can happen at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Label {
    /// The task went on in this way.
    Way(Variant),
    /// The task was given this value.
    Value(u32),
}

impl Label {
    /// As a number.
    pub fn code(self) -> u64 {
        match self {
            Self::Way(Variant::Ready) => 0,
            Self::Way(Variant::TimedOut) => 1,
            Self::Way(Variant::Spurious) => 2,
            Self::Way(Variant::Message(message)) => 1 << 32 | u64::from(message),
            Self::Value(value) => 2 << 32 | u64::from(value),
        }
    }
}

/// What came of one decision.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Who.
    pub task: TaskId,
    /// In which way, or with which value.
    pub label: Label,
    /// What kind of operation it was.
    pub class: Class,
    /// What its step was done to, if to anything.
    pub object: ObjectId,
    /// The value before, if it is known.
    pub found: Option<Word>,
    /// It changes something only if it finds this value.
    pub wants: Option<Word>,
    /// The clock that it could have ended by instead, if it is the end of a wait; [`ObjectId::NONE`] if by none.
    pub timed: ObjectId,
    /// Where the messages it sends begin among those of the whole execution; only those that receives choose from.
    pub(super) offers: u32,
    /// Where its steps begin in the trace.
    pub(super) step: u32,
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) mask: Mask,
    /// It did not happen, and what it would touch is not known.
    pub(super) vague: bool,
    /// It is a look that needed no decision.
    pub look: bool,
}

impl Event {
    /// One that has not happened.
    #[must_use]
    pub fn pending(task: TaskId, label: Label, class: Class, object: ObjectId) -> Self {
        Self {
            task,
            label,
            class,
            object,
            found: None,
            wants: None,
            timed: ObjectId::NONE,
            offers: u32::MAX,
            step: u32::MAX,
            begin: 0,
            end: 0,
            mask: Mask::default(),
            vague: false,
            look: false,
        }
    }
}

/// What an event did, apart from any execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Did {
    /// What kind of operation it was.
    pub class: Class,
    /// What its step was done to, if to anything.
    pub object: ObjectId,
    /// What it touched.
    pub touches: Vec<Touch>,
}

/// A message that receives may choose.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// In which event it was sent; `None` if that was before anything was decided.
    pub event: Option<usize>,
    /// Who sent it.
    pub task: TaskId,
    /// Where it can be received.
    pub place: ObjectId,
    /// What those see of it who may receive it.
    pub offer: Offer,
    /// The message as something that is given and taken.
    pub message: ObjectId,
}
