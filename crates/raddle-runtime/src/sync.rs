//! What threads share, as in [`std::sync`].

pub mod atomic;
pub mod mpsc;
mod mutex;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use self::mutex::{Mutex, MutexGuard};
