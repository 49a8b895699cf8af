//! One step of an execution: its operation, and what else is recorded about it.

use std::panic::Location;

use serde::{Deserialize, Serialize};

use super::access::Access;
use crate::ids::{StepIx, TaskId};
use crate::system::Variant;

/// The place in the source where the program requested an operation.
pub type Site = &'static Location<'static>;

/// A kind of operation, such as "lock" or "send". Each kind is one `static`, identified by its address.
#[derive(Debug)]
pub struct Operation {
    /// The verb for reports: "lock", "load".
    pub verb: &'static str,
    /// What strategies need to know about it.
    pub class: Class,
}

/// The kind of an operation as strategies see it, for any program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Reads shared state.
    Read,
    /// Writes shared state.
    Write,
    /// Reads and writes shared state in one step.
    Update,
    /// Acquires something that others may hold.
    Acquire,
    /// Releases what was acquired.
    Release,
    /// Waits to be woken.
    Wait,
    /// Wakes tasks that wait.
    Notify,
    /// Sends a message.
    Send,
    /// Receives a message.
    Receive,
    /// Creates a task.
    Spawn,
    /// Waits until a task has ended.
    Join,
    /// Ends the task.
    Finish,
    /// Accesses plain memory, where races are failures.
    Cell,
    /// Orders the atomic accesses before and after it. Accesses no object.
    Fence,
    /// Lets other tasks run first.
    Yield,
    /// Reads the clock or waits for it.
    Time,
    /// Asks for one of several values.
    Choice,
}

/// What happened between two decisions. Reports show it, and reduction compares it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The task.
    pub task: TaskId,
    /// Which alternative of the task was taken.
    pub variant: Variant,
    /// The operation.
    pub op: &'static Operation,
    /// The object, and how it was accessed. [`ObjectId::NONE`](crate::ids::ObjectId::NONE) if there is none; a [fence](Class::Fence) orders memory without one.
    pub access: Access,
    /// The value that the step found, if reports show it.
    pub found: Option<Word>,
    /// The value that the step left, if reports show it.
    pub left: Option<Word>,
    /// Whether the task holds the object after the step.
    pub hold: Hold,
    /// The operation changes the object only if it finds this value (a compare-exchange, a `try_lock`). `None` if it always changes the
    /// object, never does, or this is not known.
    pub wants: Option<Word>,
    /// The place in the source.
    pub site: Site,
    /// The number of alternatives at the point that led to this step; 0 if the step needed no decision.
    pub alternatives: u32,
    /// The index of its first further access, in the list of the whole trace.
    pub more: u32,
}

impl Step {
    /// A step that shows no values and does not change who holds what.
    #[must_use]
    pub fn new(
        (task, variant): (TaskId, Variant),
        op: &'static Operation,
        access: Access,
        site: Site,
        alternatives: u32,
    ) -> Self {
        let (found, left, hold, wants, more) = (None, None, Hold::Unchanged, None, 0);
        Self { task, variant, op, access, found, left, hold, wants, site, alternatives, more }
    }
}

/// Whether a step makes its task a holder of the object. Reports of deadlocks use this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// No change.
    #[default]
    Unchanged,
    /// The task holds the object from now on.
    Taken,
    /// The task does not hold the object any more.
    Given,
}

/// A received message. Its names are the same in every execution and survive most edits of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The step that received it.
    pub step: StepIx,
    /// The name of the sender.
    pub sender: u64,
    /// The name of the receiver.
    pub receiver: u64,
    /// The name of the message.
    pub message: u64,
    /// The program's label for such messages.
    pub label: &'static str,
    /// True if it answers a request that its receiver waits for: a synchronous receive.
    pub reply: bool,
    /// True if its receiver changed its behaviour while handling it.
    pub changed: bool,
}

/// The calls that led to an operation, as text that the next build also gives if the source is the same. Each is a `static` value like a
/// [`Site`]; several may have the same text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// The innermost first.
    pub calls: Vec<String>,
}

/// What a step means to strategies that look at more than its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The step has sent a message to this task.
    Sent(TaskId),
    /// The program has given this hint.
    Hint(u64),
    /// These calls led to the step. Only if the program records them.
    Context(&'static Context),
    /// A value that the step found behind a lock or in a message, or that its task left behind a lock later. Used only to compare two runs
    /// of one execution; no strategy sees it.
    Contents(Word),
}

/// A value that fits in a word, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(pub u64);
