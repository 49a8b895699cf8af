//! How an execution ended, and the names that a report about it needs.

use std::fmt;
use std::panic::Location;

use crate::ids::{ObjectId, StepIx, TaskId};
use crate::schedule::{Divergence, TaskName};
use crate::trace::{Operation, Site, Word};

/// How an execution ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Every task that had to end has ended.
    Completed,
    /// Something went wrong.
    Failed(Box<Failure>),
}

impl Outcome {
    /// The failure, if it is one.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Outcome::Completed => None,
            Outcome::Failed(failure) => Some(failure),
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(Box::new(failure))
    }
}

/// The ways in which an execution fails.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A task panicked.
    Panic {
        /// The task.
        task: TaskId,
        /// The message.
        message: String,
        /// The place in the source.
        place: Option<Place>,
    },
    /// A destructor panicked while a panic was unwinding the task: outside Raddle, the process aborts.
    Abort {
        /// The task.
        task: TaskId,
        /// The messages of both panics, the first one first.
        messages: [String; 2],
        /// The place of the second panic.
        place: Option<Place>,
    },
    /// A panic reached a frame that cannot be unwound, such as that of an `extern "C"` function. Outside Raddle, the process aborts.
    CannotUnwind {
        /// The task.
        task: TaskId,
        /// The message.
        message: String,
        /// The place of the panic.
        place: Option<Place>,
    },
    /// The stack of a task has overflowed.
    StackOverflow {
        /// The task.
        task: TaskId,
        /// The size of the stack.
        stack_bytes: usize,
    },
    /// Deadlock: no task is enabled, and some have not ended.
    Deadlock {
        /// The tasks that wait, and for what.
        waiting: Vec<Waiting>,
    },
    /// Livelock: tasks run forever without changing anything.
    Livelock {
        /// The tasks that spin, and on what.
        spinning: Vec<Waiting>,
    },
    /// The execution took more steps than allowed.
    TooManySteps {
        /// The limit.
        bound: u32,
        /// The pending operation of every task that has not ended.
        unfinished: Vec<Waiting>,
    },
    /// Two accesses to plain memory, at least one of them a write, and nothing orders them.
    DataRace {
        /// The memory.
        object: ObjectId,
        /// The earlier of the two.
        first: Accessed,
        /// The later one.
        second: Accessed,
    },
    /// An object that outlives the execution carries its contents into the next one.
    Leak {
        /// The object.
        object: ObjectId,
        /// Where this execution used it.
        site: Place,
    },
    /// A monitor has seen an event that must not happen, or has not seen one that must.
    Violation {
        /// The task that announced the event.
        task: TaskId,
        /// The name of the monitor.
        monitor: String,
        /// The error of the monitor.
        message: String,
    },
    /// A message was sent to an actor that has stopped, and the program says that this is a failure.
    DeadLetter {
        /// The sender.
        task: TaskId,
        /// The message and its receiver.
        message: String,
    },
    /// An actor received a message that it does not handle, and the program says that this is a failure.
    Unhandled {
        /// The receiver.
        task: TaskId,
        /// The message and its receiver, as text.
        message: String,
    },
    /// The engine granted a lock that is held from outside the execution.
    HeldElsewhere {
        /// The lock.
        object: ObjectId,
        /// Where the task tried to take it.
        site: Place,
    },
    /// A thread that Raddle does not control used an object of the execution, or waited for it.
    Uncontrolled {
        /// The kind of the object ("Mutex"), or the function that was called.
        what: &'static str,
        /// Where the object was made, if there is one.
        made: Option<Place>,
        /// Where it was used.
        site: Place,
    },
    /// The program behaved differently although every decision was the same.
    Nondeterminism(Divergence),
}

impl Failure {
    /// The kind of the failure, in a word or two.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Panic { .. } => "panic",
            Failure::Abort { .. } | Failure::CannotUnwind { .. } => "abort",
            Failure::StackOverflow { .. } => "stack overflow",
            Failure::Deadlock { .. } => "deadlock",
            Failure::Livelock { .. } => "livelock",
            Failure::TooManySteps { .. } => "too many steps",
            Failure::DataRace { .. } => "data race",
            Failure::Leak { .. } => "leak between executions",
            Failure::Violation { .. } => "violated monitor",
            Failure::DeadLetter { .. } => "dead letter",
            Failure::Unhandled { .. } => "unhandled message",
            Failure::HeldElsewhere { .. } => "lock held outside the execution",
            Failure::Uncontrolled { .. } => "uncontrolled thread",
            Failure::Nondeterminism(_) => "nondeterminism",
        }
    }
}

/// A task and what it waits for.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The task.
    pub task: TaskId,
    /// Its pending operation.
    pub op: &'static Operation,
    /// The object; [`ObjectId::NONE`] if there is none.
    pub object: ObjectId,
    /// The place in the source.
    pub site: Site,
    /// The tasks that hold the object, and where they took it.
    pub held_by: Vec<(TaskId, Site)>,
}

/// Equal if the report would be the same. The steps that led there do not matter.
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        let key = |w: &Self| (w.task, w.op.verb, w.object, *w.site, w.held_by.clone());
        key(self) == key(other)
    }
}

impl Eq for Waiting {}

/// An access to plain memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// The task.
    pub task: TaskId,
    /// True for a write.
    pub wrote: bool,
    /// The place in the source.
    pub site: Site,
    /// The step.
    pub step: StepIx,
}

/// A place in the source, by value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&Location<'_>> for Place {
    fn from(at: &Location<'_>) -> Self {
        Self { file: at.file().to_owned(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The tasks and objects of an execution: names for their indices.
#[derive(Clone, Debug, Default)]
pub struct Participants {
    /// By [`TaskId`].
    pub tasks: Vec<TaskInfo>,
    /// By [`ObjectId`].
    pub objects: Vec<ObjectInfo>,
    /// The program's own texts for steps, in order of steps.
    pub remarks: Vec<Remark>,
}

/// The program's text for one step.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The step: the latest one when the text was added.
    pub step: StepIx,
    /// The task that the text is about.
    pub task: TaskId,
    /// The text.
    pub text: String,
    /// The place in the source.
    pub site: Site,
    /// True if the text replaces that of the step; false if it is shown after it.
    pub instead: bool,
}

/// What a report needs to know about a task.
#[derive(Clone, Debug)]
pub struct TaskInfo {
    /// How it was created.
    pub name: TaskName,
    /// The name that the program gave it, if any.
    pub label: Option<String>,
    /// Whether it has ended.
    pub finished: bool,
}

/// What a report needs to know about an object.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// Its kind: "Mutex".
    pub noun: &'static str,
    /// Where it was made, if that is known.
    pub made: Option<Site>,
    /// How its values are shown.
    pub show: fn(Word) -> String,
}
