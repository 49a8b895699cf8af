//! Which tasks are unwinding because of a panic.

use crate::execution::state::State;

impl State {
    /// Whether the current task is unwinding because of a panic. The standard library knows this for the OS thread only. That is not the
    /// same while another task of the OS thread is paused in the middle of unwinding.
    #[inline]
    pub(crate) fn unwinds(&self) -> bool {
        std::thread::panicking() && (self.unwinding.is_empty() || self.unwinding.contains(&self.current))
    }

    /// The current task has panicked and begins to unwind.
    #[cold]
    pub(crate) fn note_unwinding(&mut self) {
        if !self.unwinding.is_empty() && !self.unwinding.contains(&self.current) {
            self.unwinding.push(self.current);
        }
    }

    /// Called when the current task is about to pause. If it pauses in the middle of unwinding, the OS thread counts as panicking while
    /// other tasks run. So we remember which task it is that unwinds.
    #[inline(always)]
    pub(crate) fn note_if_unwinding(&mut self) {
        if std::thread::panicking() || !self.unwinding.is_empty() {
            self.note_who_unwinds();
        }
    }

    #[cold]
    fn note_who_unwinds(&mut self) {
        if !std::thread::panicking() {
            // The tasks that were unwinding have caught their panics.
            self.unwinding.clear();
        } else if self.unwinding.is_empty() {
            self.unwinding.push(self.current);
        }
    }
}
