//! A task of the running execution.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Place;
use raddle_engine::schedule::TaskName;

use crate::coroutine::act::Act;
use crate::execution::Ask;
use crate::thread::local::Locals;

/// Whether a task has begun, and whether it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It was created and has not begun yet.
    Newborn,
    /// It runs, or is paused at an operation.
    Alive,
    /// It has ended.
    Finished,
}

/// A task of the running execution.
pub(crate) struct Task {
    pub(crate) parent: TaskId,
    /// Which child of its parent it is, from 1.
    pub(crate) ordinal: u32,
    /// How many children it has.
    pub(crate) children: u32,
    /// The name that the program has given to it.
    pub(crate) label: Option<String>,
    pub(crate) status: Status,
    /// The operation that it asks for.
    pub(crate) asks: Option<Ask>,
    /// The effect of that operation.
    pub(crate) act: Option<Act>,
    /// The object that says whether the task has ended.
    pub(crate) end: ObjectId,
    /// The object by which the destructors of its thread-local values happen before a join. `None` if there were none.
    pub(crate) exit: Option<ObjectId>,
    /// The object by which other tasks wake it: its parking token.
    pub(crate) signal: ObjectId,
    /// True if another task has enabled an invisible operation of this one since the latest decision for it.
    pub(crate) let_go: bool,
    /// How often it was chosen.
    pub(crate) turns: u64,
    /// The panics that have unwound it, the latest last.
    pub(crate) panics: Vec<(String, Option<Place>)>,
    pub(crate) locals: Locals,
    /// How many keys of hash maps it has made.
    pub(crate) hash_keys: u64,
}

impl Task {
    pub(crate) fn new(parent: TaskId, ordinal: u32, label: Option<String>, end: ObjectId, signal: ObjectId) -> Self {
        Self {
            parent,
            ordinal,
            children: 0,
            label,
            status: Status::Newborn,
            asks: None,
            act: None,
            end,
            exit: None,
            signal,
            let_go: false,
            turns: 0,
            panics: Vec::new(),
            locals: Locals::default(),
            hash_keys: 0,
        }
    }

    /// The name of a task in schedules: its ordinal, those of its parent, and so on.
    pub(crate) fn name(tasks: &[Task], task: TaskId) -> TaskName {
        let mut path = Vec::new();
        let mut at = task;
        while at != TaskId::MAIN {
            path.push(tasks[at.index()].ordinal);
            at = tasks[at.index()].parent;
        }
        path.reverse();
        TaskName(path)
    }
}
