//! Which tasks unwind because of a panic.

use crate::execution::state::State;

impl State {
    /// Whether the current task unwinds because of a panic. The standard library knows that of the OS thread only, which is
    /// the same but for tasks that run while another is paused in the middle of unwinding.
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

    /// The current task is about to pause. If it does so in the middle of unwinding, the OS thread counts as panicking while others
    /// run, so it has to be remembered who it is that unwinds.
    #[inline(always)]
    pub(crate) fn note_if_unwinding(&mut self) {
        if std::thread::panicking() || !self.unwinding.is_empty() {
            self.note_who_unwinds();
        }
    }

    #[cold]
    fn note_who_unwinds(&mut self) {
        if !std::thread::panicking() {
            // Whoever was unwinding has caught its panic since.
            self.unwinding.clear();
        } else if self.unwinding.is_empty() {
            self.unwinding.push(self.current);
        }
    }
}
