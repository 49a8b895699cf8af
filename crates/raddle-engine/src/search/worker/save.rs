//! Saves the rest of a search while it runs, so that the end of the process costs only seconds of work.
//!
//! Every worker commits its results every few seconds. The first worker then takes the state of the board: the sum of all commits, and each
//! piece as it was at its latest commit. These are consistent, as they are when a worker is lost.

use std::time::Duration;

use super::Worker;

/// When a worker commits, and whether it then saves the rest.
pub(super) struct Saving {
    /// Only the first worker saves: the others have copies of its strategy.
    writes: bool,
    /// Counted from the start of the search.
    next: Duration,
    /// To be done after the current execution.
    due: bool,
}

/// The time between two saves.
const BETWEEN: Duration = Duration::from_secs(3);

/// The time between two saves is at least this many times as long as a save: the rest of a search can be large.
const SELDOM: u32 = 20;

impl Saving {
    pub(super) fn new(writes: bool, first: Duration) -> Self {
        Self { writes, next: first, due: false }
    }

    /// Checks whether it is time, `elapsed` after the search began.
    pub(super) fn look(&mut self, elapsed: Duration) {
        self.due |= elapsed >= self.next;
    }
}

impl Worker<'_> {
    /// Commits and saves, after an execution, if it is time.
    pub(super) fn save_if_due(&mut self) {
        // A number that stands for several executions is finished first.
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
