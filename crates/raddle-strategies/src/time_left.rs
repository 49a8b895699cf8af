//! Whether the time of a search is over, asked from inside a long computation.

use std::cell::Cell;
use std::time::Instant;

/// Questions after which the clock is looked at.
const LOOK_EVERY: u32 = 64;

/// How long a computation may go on. A question costs little, so that it can be asked in every round of a loop.
#[derive(Debug, Default)]
pub(crate) struct TimeLeft {
    deadline: Option<Instant>,
    asked: Cell<u32>,
    over: Cell<bool>,
}

impl TimeLeft {
    pub(crate) fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, ..Self::default() }
    }

    /// True from the moment at which the time was seen to be over.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        let asked = self.asked.get().wrapping_add(1);
        self.asked.set(asked);
        if asked.is_multiple_of(LOOK_EVERY) {
            self.look();
        }
        self.over.get()
    }

    /// True if one of the questions so far was answered so: then the computation was not finished.
    pub(crate) fn was_over(&self) -> bool {
        self.over.get()
    }

    #[cold]
    fn look(&self) {
        self.over.set(self.deadline.is_some_and(|deadline| Instant::now() >= deadline));
    }
}
