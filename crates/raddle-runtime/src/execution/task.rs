//! What is known of a task.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Place;
use raddle_engine::schedule::TaskName;

use crate::coroutine::act::Act;
use crate::execution::Ask;
use crate::thread::local::Locals;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Created, and not yet run to its first operation.
    Newborn,
    /// Running, or paused at what it asks for.
    Alive,
    /// Ended.
    Finished,
}

/// A task of the running execution.
pub(crate) struct Task {
    pub(crate) parent: TaskId,
    /// Which of its parent's children it is, from 1.
    pub(crate) ordinal: u32,
    /// How many children it has.
    pub(crate) children: u32,
    /// What the program calls it.
    pub(crate) label: Option<String>,
    pub(crate) status: Status,
    pub(crate) asks: Option<Ask>,
    /// The effect of what it asks for.
    pub(crate) act: Option<Act>,
    /// The task as something others look at: whether it has ended.
    pub(crate) end: ObjectId,
    /// Publishes what the destructors of its thread-local values did, to whoever joins it; `None` if there were none.
    pub(crate) exit: Option<ObjectId>,
    /// The task as something others wake: its parking token, or a notification.
    pub(crate) signal: ObjectId,
    /// It was let go on by others since its latest decision, and nobody can tell whether before or after that.
    pub(crate) let_go: bool,
    /// How often it was chosen to go on.
    pub(crate) turns: u64,
    /// The panics that unwound it, the latest last.
    pub(crate) panics: Vec<(String, Option<Place>)>,
    pub(crate) locals: Locals,
    /// How many hash keys it has drawn.
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

    /// How a task came to be.
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
