//! A cell that threads share. Nothing in it keeps accesses apart: that is what the code around it is for, and what is tested.

use super::types::UnsafeCell;

pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: this code is only run by Raddle, loom and shuttle. They run one thread at a time and switch threads at steps, and
// what is done inside `read` and `write` has none.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        Shared(UnsafeCell::new(value))
    }

    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        // SAFETY: as for `Sync`, nobody writes meanwhile.
        self.0.with(|value| look(unsafe { &*value }))
    }

    pub fn write<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: as for `Sync`, nobody else has access meanwhile.
        self.0.with_mut(|value| change(unsafe { &mut *value }))
    }
}
