//! The text on the types of loom.

/// What the text is written on.
mod types {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
    pub use loom::sync::{Condvar, Mutex};
    pub use loom::thread;
}

#[expect(clippy::duplicate_mod, reason = "the same text is compiled for each library")]
#[path = "text/drivers.rs"]
pub mod drivers;
