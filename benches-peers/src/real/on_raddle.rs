//! The text on the types of raddle.

/// What the text is written on.
mod types {
    pub use raddle::cell::UnsafeCell;
    pub use raddle::sync::atomic::{AtomicBool, AtomicUsize, fence};
    pub use raddle::sync::{Condvar, Mutex};
    pub use raddle::thread;
}

#[expect(clippy::duplicate_mod, reason = "the same text is compiled for each library")]
#[path = "text/drivers.rs"]
pub mod drivers;
