//! A cell that threads share without a lock, as unsafe code does.

use raddle_runtime::cell::UnsafeCell;

/// A cell that claims to be shared safely.
pub struct Shared(pub UnsafeCell<u32>);

// SAFETY: a lie; whether the accesses are ordered is what the tests find out, and executions run on one OS thread.
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new(value: u32) -> Self {
        Self(UnsafeCell::new(value))
    }
}
