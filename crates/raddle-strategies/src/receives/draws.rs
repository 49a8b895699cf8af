//! What the program drew when it was recorded is drawn again in the course of the same receives.

use raddle_engine::coverage::{Draw, Name};
use raddle_engine::ids::TaskId;
use raddle_engine::trace::Trace;

/// Which draw a task is about to make, by the receive in whose course it is.
#[derive(Debug, Default)]
pub(super) struct Draws {
    receipts: usize,
    /// By task: its latest receive, and how often it has drawn since.
    latest: Vec<(Option<Name>, u32)>,
}

impl Draws {
    /// The one that `task` is about to make.
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
