//! The text on the types of shuttle, which has no cells: that of std stands for them, and accesses that race go unnoticed.

/// What the text is written on.
mod types {
    pub use shuttle::sync::atomic::{AtomicBool, AtomicUsize, fence};
    pub use shuttle::sync::{Condvar, Mutex};
    pub use shuttle::thread;

    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[expect(clippy::duplicate_mod, reason = "the same text is compiled for each library")]
#[path = "text/drivers.rs"]
pub mod drivers;
