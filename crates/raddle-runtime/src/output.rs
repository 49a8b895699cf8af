//! Where the output of the program under test goes.
//!
//! A search runs a program thousands of times, and what it prints each time is of no use to anybody. The test harness collects what
//! a test prints in a buffer that threads inherit from whoever starts them, and that cannot be emptied from outside. So executions
//! run on threads that are [started apart](apart), without that buffer, and their writes to standard output and standard error are
//! [redirected](Redirected): they are thrown away, or kept to be shown between marks.
//!
//! This works by symbols of libc that are interposed, on Linux with glibc. Elsewhere output goes where it always went, and nothing
//! is known of it.

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
#[expect(unsafe_code, reason = "interposed symbols of libc; the invariants are at the head of the module")]
mod interposed;

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
#[path = "output/plain.rs"]
mod interposed;

pub use self::interposed::{Redirected, apart, show_from_here_on, unredirected};
pub(crate) use self::interposed::{discard_from_here_on, flush_if_written};

/// What becomes of what is written to standard output and standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// It is thrown away.
    Nowhere,
    /// It is kept.
    Kept,
    /// It goes where it would have gone.
    Unchanged,
}
