//! What is left of a search is written down while it goes on, so that the end of the process costs seconds and not everything.
//!
//! Every worker commits what it has done every few seconds. The first worker then takes what the board knows: the sum of all commits,
//! and each piece as it was at its latest commit. These fit together, just as they do when a worker is lost.

use std::time::Duration;

use super::Worker;

/// When a worker commits, and whether it then writes down what is left.
pub(super) struct Saving {
    /// Only the first worker does: the others have copies of its strategy.
    writes: bool,
    /// Since the start of the search.
    next: Duration,
    /// To be done after this execution.
    due: bool,
}

/// Between two times.
const BETWEEN: Duration = Duration::from_secs(3);

/// The time between is at least this many times as long as writing takes: what is left of a search can be large.
const SELDOM: u32 = 20;

impl Saving {
    pub(super) fn new(writes: bool, first: Duration) -> Self {
        Self { writes, next: first, due: false }
    }

    /// Notices that it is time, `elapsed` after the search began.
    pub(super) fn look(&mut self, elapsed: Duration) {
        self.due |= elapsed >= self.next;
    }
}

impl Worker<'_> {
    /// Commits and writes, after an execution, if it is time.
    pub(super) fn save_if_due(&mut self) {
        // A number that stands for several executions is run whole.
        if !self.saving.as_ref().is_some_and(|saving| saving.due) || self.same_number {
            return;
        }
        if self.job.is_some() {
            self.commit(None);
        }
        let search = self.search;
        let begun = search.started.elapsed();
        if let (true, Some((_, saver))) = (self.saving.as_ref().is_some_and(|saving| saving.writes), &search.saver) {
            let mut remains = search.board.snapshot();
            remains.checkpoint = self.checkpoint();
            saver(remains);
        }
        let now = search.started.elapsed();
        if let Some(saving) = &mut self.saving {
            saving.due = false;
            saving.next = now + BETWEEN.max((now - begun) * SELDOM);
        }
    }
}
