//! What signal handlers may ask of the running execution.

use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;

use crate::execution::Facts;

/// What signal handlers may ask of the running execution. The functions must be safe to call in a signal handler.
pub(crate) trait CrashView {
    /// The task that has created `task`, and which of its children `task` is, from 1. `None` for the first task.
    fn origin(&self, task: TaskId) -> Option<(TaskId, u32)>;

    /// Writes the name that the program has given to a task. Returns false if there is none.
    fn write_label(&self, task: TaskId, to: &mut dyn Write) -> Result<bool, fmt::Error>;

    /// The seed of the program's random numbers, or 0 if it has drawn none.
    fn seed(&self) -> u64;

    /// The seed for the keys of hash maps, if the program has made any.
    fn hash_seed(&self) -> Option<u64> {
        None
    }

    /// The facts about the program that its schedules contain.
    fn facts(&self) -> Option<&Facts> {
        None
    }
}
