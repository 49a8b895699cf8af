//! Systems on which output is not redirected: see [the parent module](super).

use std::thread;

use super::Sink;

/// Calls `body`.
pub fn apart<R: Send>(body: impl FnOnce() -> R + Send) -> thread::Result<R> {
    Ok(body())
}

/// Nothing is redirected here.
#[derive(Debug)]
pub struct Redirected;

impl Redirected {
    /// Does nothing.
    #[must_use]
    pub fn to(_: Sink) -> Self {
        Self
    }

    /// Returns `None`: nothing was redirected.
    #[must_use]
    pub fn end(self) -> Option<Vec<u8>> {
        None
    }
}

/// Calls `body`.
pub fn unredirected<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Does nothing.
pub fn show_from_here_on() {}

/// Does nothing.
pub(crate) fn discard_from_here_on() {}

/// Does nothing.
pub(crate) fn flush_if_written() {}
