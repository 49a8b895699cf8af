//! Thread-local values, as [`std::thread_local!`].

/// The thread-local values of a task.
#[derive(Default)]
pub(crate) struct Locals;

impl Locals {
    /// Takes the values away, to be dropped; `None` if there are none.
    pub(crate) fn take(&mut self) -> Option<Vec<Box<dyn std::any::Any>>> {
        None
    }
}
