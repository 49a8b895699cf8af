//! A receive as a schedule speaks of it: by its name, and with what is needed to bring it about in another execution.

use serde::{Deserialize, Serialize};

use crate::coverage::Criterion;
use crate::coverage::recorded::{Name, ReceiveEvent};
use crate::ids::TaskId;
use crate::system::Variant;

/// A receive that is to come about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// What it is called.
    pub name: Name,
    /// What the program calls such messages.
    pub label: String,
    /// In which way it was received.
    pub variant: Variant,
    /// The task that received it when it was recorded; the name of the receiver counts for more.
    pub task: TaskId,
    /// The task that sent it then.
    pub sender: TaskId,
    /// How many messages that task had sent before.
    pub ordinal: u32,
    /// Whether the receiver is an actor.
    pub mailbox: bool,
    /// Whether messages come in the order of sending, so that a receive cannot be held back.
    pub arrival: bool,
    /// Whether its send can be held back instead, since a thread sends it.
    pub steered: bool,
}

impl From<&ReceiveEvent> for Scheduled {
    fn from(event: &ReceiveEvent) -> Self {
        let arrival = event.delivery.is_none();
        Self {
            name: event.name,
            label: event.label.to_owned(),
            variant: event.variant,
            task: event.task,
            sender: event.sender,
            ordinal: event.ordinal,
            mailbox: event.mailbox,
            arrival,
            steered: arrival && event.cause.is_none(),
        }
    }
}

/// A schedule that was generated and followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// What for.
    pub criterion: Criterion,
    /// What was to come before what, in words.
    pub goal: (String, String),
    /// The receives, in order.
    pub receives: Vec<Scheduled>,
}
