//! How an execution ended, and what has to be known to tell a person about it.

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

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A task panicked.
    Panic {
        /// Which.
        task: TaskId,
        /// With which message.
        message: String,
        /// Where.
        place: Option<Place>,
    },
    /// A destructor panicked while a panic was unwinding the task: outside Raddle, the process aborts.
    Abort {
        /// Which task.
        task: TaskId,
        /// The messages of both panics, the first one first.
        messages: [String; 2],
        /// Where the second one came from.
        place: Option<Place>,
    },
    /// A panic came to a frame that cannot be unwound, such as that of an `extern "C"` function: outside Raddle, the process aborts.
    CannotUnwind {
        /// Which task.
        task: TaskId,
        /// With which message.
        message: String,
        /// Where the panic came from.
        place: Option<Place>,
    },
    /// A task ran out of stack.
    StackOverflow {
        /// Which.
        task: TaskId,
        /// How large its stack was.
        stack_bytes: usize,
    },
    /// Nobody can go on, and somebody wants to.
    Deadlock {
        /// Who waits, for what.
        waiting: Vec<Waiting>,
    },
    /// Tasks go on for ever without anything changing.
    Livelock {
        /// Who spins, on what.
        spinning: Vec<Waiting>,
    },
    /// The execution took more steps than allowed.
    TooManySteps {
        /// The bound.
        bound: u32,
        /// What every task that has not ended was about to do.
        unfinished: Vec<Waiting>,
    },
    /// Two accesses to plain memory, one of them a write, with nothing to order them.
    DataRace {
        /// The memory.
        object: ObjectId,
        /// The earlier of the two.
        first: Accessed,
        /// The later.
        second: Accessed,
    },
    /// Something that outlives the execution carries its contents into the next one.
    Leak {
        /// What.
        object: ObjectId,
        /// Where it was touched in this execution.
        site: Place,
    },
    /// A monitor has seen what must not happen, or has not seen what must.
    Violation {
        /// Whose event it was.
        task: TaskId,
        /// What the monitor is called.
        monitor: String,
        /// What it says.
        message: String,
    },
    /// A message was sent to somebody who has stopped, and the program says that must not happen.
    DeadLetter {
        /// Who sent it.
        task: TaskId,
        /// Which message, to whom.
        message: String,
    },
    /// Somebody received a message that it does not handle, and the program says that must not happen.
    Unhandled {
        /// Who received it.
        task: TaskId,
        /// Which message, by whom.
        message: String,
    },
    /// A lock was granted here and is held by somebody who is not part of this execution.
    HeldElsewhere {
        /// Which.
        object: ObjectId,
        /// Where it was to be taken.
        site: Place,
    },
    /// A thread that is not under control used something of the execution's, or waited for it.
    Uncontrolled {
        /// What it used: "Mutex"; or what it called.
        what: &'static str,
        /// Where that was made, if it is an object.
        made: Option<Place>,
        /// Where it was used.
        site: Place,
    },
    /// The program did something else although every decision was the same.
    Nondeterminism(Divergence),
}

impl Failure {
    /// What kind of failure this is, in a word or two.
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
    /// Who.
    pub task: TaskId,
    /// What it is about to do.
    pub op: &'static Operation,
    /// To what; [`ObjectId::NONE`] if to nothing.
    pub object: ObjectId,
    /// Where in the source.
    pub site: Site,
    /// Who holds the object, and where they took it.
    pub held_by: Vec<(TaskId, Site)>,
}

/// Equal if they tell the same story; the order of steps that led there does not matter.
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
    /// Who.
    pub task: TaskId,
    /// Whether it wrote.
    pub wrote: bool,
    /// Where in the source.
    pub site: Site,
    /// At which step.
    pub step: StepIx,
}

/// A place in the source, by value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as the compiler was given it.
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

/// Who took part in an execution, and what they touched: the words for its indices.
#[derive(Clone, Debug, Default)]
pub struct Participants {
    /// By [`TaskId`].
    pub tasks: Vec<TaskInfo>,
    /// By [`ObjectId`].
    pub objects: Vec<ObjectInfo>,
    /// What steps did, in the program's own words, where it has any; in order of steps.
    pub remarks: Vec<Remark>,
}

/// What the program has to say of one of its steps.
#[derive(Clone, Debug)]
pub struct Remark {
    /// Which step; the latest when it was made.
    pub step: StepIx,
    /// Who did what is told.
    pub task: TaskId,
    /// What there is to say.
    pub text: String,
    /// Where in the source.
    pub site: Site,
    /// Whether this is said of the step itself, in the place of other words, or told after it.
    pub instead: bool,
}

/// What is to be said of a task.
#[derive(Clone, Debug)]
pub struct TaskInfo {
    /// How it came to be.
    pub name: TaskName,
    /// What the program calls it, if it gave it a name.
    pub label: Option<String>,
    /// Whether it has ended.
    pub finished: bool,
}

/// What is to be said of an object.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// What it is: "Mutex".
    pub noun: &'static str,
    /// Where in the source it was made, if that is known.
    pub made: Option<Site>,
    /// How its values are written.
    pub show: fn(Word) -> String,
}
