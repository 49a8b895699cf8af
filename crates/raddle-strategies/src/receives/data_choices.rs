//! Identifies data choices across executions, so that those of the recorded execution are repeated during the same receives.

use raddle_engine::coverage::{Draw, Name};
use raddle_engine::ids::TaskId;
use raddle_engine::trace::Trace;

/// The next data choice of each task, identified by the task's latest receive.
#[derive(Debug, Default)]
pub(super) struct DataChoices {
    receipts: usize,
    /// By task: its latest receive, and the number of its data choices since.
    latest: Vec<(Option<Name>, u32)>,
}

impl DataChoices {
    /// The data choice that `task` is about to make.
    pub(super) fn next(&mut self, task: TaskId, trace: &Trace) -> Draw {
        for receipt in &trace.receipts()[self.receipts..] {
            if !receipt.reply {
                let receiver = trace.steps()[receipt.step.index()].task;
                *self.of(receiver) = (Some(Name::of(receipt)), 0);
            }
        }
        self.receipts = trace.receipts().len();
        let (during, before) = self.of(task);
        let draw = Draw { during: *during, task, before: *before };
        *before += 1;
        draw
    }

    fn of(&mut self, task: TaskId) -> &mut (Option<Name>, u32) {
        if self.latest.len() <= task.index() {
            self.latest.resize(task.index() + 1, (None, 0));
        }
        &mut self.latest[task.index()]
    }
}
