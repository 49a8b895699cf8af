//! The receives of one execution: who received what from whom, and what each of them depends on.
//!
//! All of it is [read](reader) off the trace.

mod reader;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::reader::Reader;
use crate::ids::{StepIx, TaskId};
use crate::system::Variant;
use crate::trace::{Delivery, Receipt, Trace};

/// What a receive is called, in every execution in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    /// Who sent the message.
    pub sender: u64,
    /// Who received it.
    pub receiver: u64,
    /// Which message it is.
    pub message: u64,
    /// How many receives of the same name came before it, where a message arrives twice.
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
    /// What it is called.
    pub name: Name,
    /// What the program calls such messages.
    pub label: &'static str,
    /// Whether its receiver changed its behaviour.
    pub changes: bool,
    /// Which task received, in this execution.
    pub task: TaskId,
    /// In which way.
    pub variant: Variant,
    /// Which step it is.
    pub step: StepIx,
    /// Where in the trace it was sent; `None` if that is not known.
    pub sent: Option<StepIx>,
    /// Which task has sent it.
    pub sender: TaskId,
    /// How many messages that task had sent before; beyond counting if that is not known.
    pub ordinal: u32,
    /// Whether the receiver is an actor; else it is the end of a channel.
    pub mailbox: bool,
    /// Which messages it may overtake; `None` if none: messages come in the order in which they were sent.
    pub delivery: Option<Delivery>,
    /// The latest receives that its sender knew of, and those that came before the receiver was there. Receives before these of the same
    /// receiver count as well.
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
    /// Receives that were too many to be looked at: beyond the first 30,000, or 10,000 of one receiver.
    pub left_out: u64,
    /// What was drawn, by who drew and how often it had drawn since its latest receive.
    pub drawn: HashMap<Draw, u32>,
}

/// When a value was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The receive whose handler drew it; `None` if the task has not received anything.
    pub during: Option<Name>,
    /// The task, where it has not received anything.
    pub task: TaskId,
    /// How often it had drawn before.
    pub before: u32,
}

impl Recorded {
    /// What `trace` has received.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        Reader::read_all(trace)
    }

    /// Whether anybody changes its behaviour.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.events.iter().any(|event| event.changes)
    }
}
