//! The receives of one execution: sender, receiver and message of each, and what it depends on.
//!
//! They are [read](reader) from the trace.

mod reader;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::reader::Reader;
use crate::ids::{StepIx, TaskId};
use crate::system::Variant;
use crate::trace::{Delivery, Receipt, Trace};

/// The name of a receive, the same in every execution in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    /// The sender.
    pub sender: u64,
    /// The receiver.
    pub receiver: u64,
    /// The message.
    pub message: u64,
    /// How many receives with the same name came before it, if a message arrives twice.
    pub again: u32,
}

impl Name {
    /// The name of a receive, if it is the first of that name.
    #[must_use]
    pub fn of(receipt: &Receipt) -> Self {
        let Receipt { sender, receiver, message, .. } = *receipt;
        Self { sender, receiver, message, again: 0 }
    }
}

/// An asynchronous receive.
#[derive(Clone, Debug)]
pub struct ReceiveEvent {
    /// Its name.
    pub name: Name,
    /// The program's label for such messages.
    pub label: &'static str,
    /// Whether its receiver changed its behaviour.
    pub changes: bool,
    /// The task that received it in this execution.
    pub task: TaskId,
    /// The alternative by which it was received.
    pub variant: Variant,
    /// Its step.
    pub step: StepIx,
    /// The step that sent it; `None` if that is not known.
    pub sent: Option<StepIx>,
    /// The task that sent it.
    pub sender: TaskId,
    /// How many messages that task had sent before; the largest number if that is not known.
    pub ordinal: u32,
    /// Whether the receiver is an actor; else it is the end of a channel.
    pub mailbox: bool,
    /// The delivery order, if the receive chooses among messages; `None` if messages are received in the order of sending.
    pub delivery: Option<Delivery>,
    /// The latest receives that its sender knew of, and those before the creation of the receiver. They stand for all earlier receives of
    /// the same receivers.
    pub causes: Vec<usize>,
    /// The receive whose handler sent it, if an actor sent it.
    pub cause: Option<usize>,
}

/// The receives of an execution.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// In the order in which they happened.
    pub events: Vec<ReceiveEvent>,
    /// Receives whose handler sent a request and waited, and the receive whose handler replied.
    pub waits: Vec<(usize, usize)>,
    /// Receives that were ignored: those after the first 30,000, or the first 10,000 of one receiver.
    pub left_out: u64,
    /// Data choices: who asked, how often it had asked since its latest receive, and the value.
    pub drawn: HashMap<Draw, u32>,
}

/// The position of a data choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The receive whose handler asked for it; `None` if the task has not received anything.
    pub during: Option<Name>,
    /// The task, if it has not received anything.
    pub task: TaskId,
    /// How often it had asked before.
    pub before: u32,
}

impl Recorded {
    /// The receives of `trace`.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        Reader::read_all(trace)
    }

    /// Whether any receiver changes its behaviour.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.events.iter().any(|event| event.changes)
    }
}
