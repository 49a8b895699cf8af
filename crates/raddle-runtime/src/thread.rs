//! Threads, as in [`std::thread`].

mod handle;
pub(crate) mod local;
mod packet;
mod park;
mod scope;
mod spawn;

pub use std::thread::{Result, available_parallelism};

pub use crate::execution::panicking;

pub use self::handle::{Thread, ThreadId, current};
pub use self::local::{AccessError, LocalKey};
pub(crate) use self::park::yield_in;
pub use self::park::{park, park_timeout, sleep, yield_now};
pub use self::scope::{Scope, ScopedJoinHandle, scope};
pub(crate) use self::spawn::run_task;
pub use self::spawn::{Builder, JoinHandle, spawn};
