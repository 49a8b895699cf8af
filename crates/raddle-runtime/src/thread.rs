//! Threads, as in [`std::thread`].

pub(crate) mod local;
mod handle;
mod park;
mod scope;
mod spawn;

pub use self::local::{AccessError, LocalKey};
pub use self::park::{park, park_timeout, sleep, yield_now};
pub(crate) use self::spawn::run_task;
pub use self::handle::{Thread, ThreadId, current};
pub use self::scope::{Scope, ScopedJoinHandle, scope};
pub use self::spawn::{Builder, JoinHandle, spawn};
pub use std::thread::{Result, panicking};
