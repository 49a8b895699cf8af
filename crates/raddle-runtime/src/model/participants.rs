//! The actors of a model, as handlers of signals ask for them.

use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;

use crate::crash::CrashView;
use crate::model::step::{ModelState, index};

impl CrashView for ModelState {
    fn origin(&self, task: TaskId) -> Option<(TaskId, u32)> {
        let info = self.infos.get(task.index().checked_sub(1)?)?;
        Some((info.parent, info.ordinal))
    }

    fn write_label(&self, task: TaskId, to: &mut dyn Write) -> Result<bool, fmt::Error> {
        match self.infos.get(if task == TaskId::MAIN { usize::MAX } else { index(task) }) {
            Some(info) => write!(to, "{}", info.who)?,
            None => to.write_str("the model")?,
        }
        Ok(true)
    }

    fn seed(&self) -> u64 {
        0
    }
}
