//! What signal handlers may ask of an execution.

use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;

use crate::crash::CrashView;
use crate::execution::Facts;
use crate::execution::State;

impl CrashView for State {
    fn origin(&self, task: TaskId) -> Option<(TaskId, u32)> {
        let known = self.tasks.get(task.index()).filter(|_| task != TaskId::MAIN)?;
        Some((known.parent, known.ordinal))
    }

    fn write_label(&self, task: TaskId, to: &mut dyn Write) -> Result<bool, fmt::Error> {
        let label = self.tasks.get(task.index()).and_then(|task| task.label.as_deref());
        label.map_or(Ok(()), |label| to.write_str(label))?;
        Ok(label.is_some())
    }

    fn facts(&self) -> Option<&Facts> {
        Some(&self.settings.facts)
    }

    fn hash_seed(&self) -> Option<u64> {
        self.made_hash_keys.then_some(self.settings.hash_seed)
    }

    fn seed(&self) -> u64 {
        self.seed_if_drawn()
    }
}
