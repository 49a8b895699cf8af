//! What threads share, as in [`std::sync`].

pub mod atomic;
mod barrier;
mod condvar;
#[expect(unsafe_code, reason = "reads the bytes of plain numbers")]
mod contents;
mod lazy_lock;
pub(crate) mod lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod once_value;
mod rwlock;
#[expect(
    unsafe_code,
    reason = "values that live as long as the execution, lent for as long as their `static`; argued there"
)]
pub(crate) mod statics;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::condvar::{Condvar, WaitTimeoutResult};
pub use self::lazy_lock::LazyLock;
pub use self::mutex::{Mutex, MutexGuard};
pub use self::once::{Once, OnceState};
pub use self::once_lock::OnceLock;
pub use self::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
