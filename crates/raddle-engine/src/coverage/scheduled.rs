//! A receive in a schedule: its name, and what is needed to make it happen in another execution.

use serde::{Deserialize, Serialize};

use crate::coverage::Criterion;
use crate::coverage::recorded::{Name, ReceiveEvent};
use crate::ids::TaskId;
use crate::system::Variant;

/// A receive that a schedule expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// Its name.
    pub name: Name,
    /// The program's label for such messages.
    pub label: String,
    /// The alternative by which it was received.
    pub variant: Variant,
    /// The task that received it in the recorded execution. The name of the receiver has precedence.
    pub task: TaskId,
    /// The task that sent it in the recorded execution.
    pub sender: TaskId,
    /// How many messages that task had sent before.
    pub ordinal: u32,
    /// Whether the receiver is an actor.
    pub mailbox: bool,
    /// Whether messages are received in the order of sending, so that a receive cannot be held back.
    pub arrival: bool,
    /// Whether its send can be held back instead, because a thread sends it.
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
    /// The criterion of its goal.
    pub criterion: Criterion,
    /// The two messages of its goal, as text.
    pub goal: (String, String),
    /// The receives, in order.
    pub receives: Vec<Scheduled>,
}
