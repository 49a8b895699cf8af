//! Who takes part in a running execution, as those see it who tell of its end.

use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;

use crate::execution::Facts;

/// The tasks of a running execution. Everything here is called by handlers of signals.
pub(crate) trait Participants {
    /// Who created a task, and which of those it was, from 1; `None` for the first task.
    fn origin(&self, task: TaskId) -> Option<(TaskId, u32)>;

    /// Writes what the program calls a task; says whether it has a name for it.
    fn write_label(&self, task: TaskId, to: &mut dyn Write) -> Result<bool, fmt::Error>;

    /// The seed of the program's own random numbers, if it has drawn any; else 0.
    fn seed(&self) -> u64;

    /// The seed of its hash keys, if it has made any.
    fn hash_seed(&self) -> Option<u64> {
        None
    }

    /// What is known of the program and belongs to its schedules.
    fn facts(&self) -> Option<&Facts> {
        None
    }
}
