//! Threads, as in [`std::thread`].

mod handle;
pub(crate) mod local;
mod park;
mod spawn;

pub(crate) use self::park::yield_in;
pub use self::handle::{Thread, ThreadId, current};
pub use self::park::{park, park_timeout, sleep, yield_now};
pub(crate) use self::spawn::run_task;
pub use self::spawn::{Builder, JoinHandle, spawn};
pub use std::thread::{Result, panicking};
