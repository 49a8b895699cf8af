//! The output of the program under test.
//!
//! A search runs a program thousands of times, and the output of most executions is useless. The test harness collects the output of a test
//! in a buffer. A thread inherits this buffer from the thread that starts it, and nobody can empty it from outside. So executions run on
//! threads that are [started apart](apart), without that buffer, and their writes to standard output and standard error are
//! [redirected](Redirected): they are discarded, or kept to be shown in the report.
//!
//! This works by interposing symbols of libc, on Linux with glibc. On other systems nothing is redirected.

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
#[expect(unsafe_code, reason = "interposed symbols of libc; the invariants are at the head of the module")]
mod interposed;

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
#[path = "output/plain.rs"]
mod interposed;

pub use self::interposed::{Redirected, apart, show_from_here_on, unredirected};
pub(crate) use self::interposed::{discard_from_here_on, flush_if_written};

/// Where writes to standard output and standard error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// They are discarded.
    Nowhere,
    /// They are kept.
    Kept,
    /// They go where they would go without Raddle.
    Unchanged,
}
