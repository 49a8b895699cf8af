//! What is told when the process ends, or hangs, in the middle of an execution.
//!
//! A segmentation fault, an abort, a call of `exit`, or a loop that never comes back leaves no time for a report: the search cannot go
//! on, and the memory of the process may be in any state. So what is to be said is said from where it happens, by a handler of the
//! signal: what happened, in which task, after which step, and the schedule that leads there. The schedule goes to the file of
//! regressions as well.
//!
//! Handlers only call what is safe in handlers of signals. They allocate nothing and take no lock: all that depends on the test is
//! [prepared](LastWords) before, the decisions are read from the trace of the running execution, and text is formatted into a
//! small buffer and written straight to the file descriptor. Afterwards the signal goes to whoever handled it before, so that the
//! process ends as it would have.
//!
//! - `attending`: the record that each worker has on its OS thread, through which handlers find the running execution.
//! - `account`: the text.
//! - `schedule`: the decisions of the running execution, as text.
//! - `sink`: formatting without allocation.
//! - `watchdog`: finds workers that have not taken a step for a long time.
//!
//! Where there are no such signals (elsewhere than on Linux), nothing is told, and nothing else changes.

mod account;
mod attending;
mod exit;
mod schedule;
mod sink;
mod watchdog;
mod words;

pub(crate) use self::account::{Participants, Reason, tell};
pub use self::attending::{Attending, attend};
pub(crate) use self::attending::{handles, inside, inside_model};
pub use self::watchdog::Patience;
pub use self::words::{LastWords, RegressionFile};
