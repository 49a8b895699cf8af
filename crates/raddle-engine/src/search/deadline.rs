//! When a search has to be over, in the middle of an execution too.

use std::time::Instant;

/// Steps after which the clock is looked at: looking costs about as much as a short step, and `time` is to hold within a second
/// also where steps take milliseconds.
const LOOK_EVERY: u32 = 64;

/// A time at which a search has to be over, and when to look at the clock again.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    /// `None` if there is no such time.
    at: Option<Instant>,
    /// Steps until the clock is looked at.
    left: u32,
}

impl Deadline {
    pub(crate) fn new(at: Option<Instant>) -> Self {
        Self { at, left: LOOK_EVERY }
    }

    /// The time itself.
    pub(crate) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// One more step is taken; says whether the time is over, as far as is known.
    #[inline]
    pub(crate) fn is_over(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        let over = self.at.is_some_and(|at| Instant::now() >= at);
        // Once it is over, everybody who asks is told so.
        self.left = if over { 1 } else { LOOK_EVERY };
        over
    }
}
