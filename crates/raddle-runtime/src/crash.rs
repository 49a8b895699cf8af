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
//! - `participants`: the tasks of the running execution, as handlers see them.
//! - `words`: what is prepared for a test.
//! - `watchdog`: finds workers that have not taken a step for a long time.
//!
//! Where there are no such signals (elsewhere than on Linux), `elsewhere` stands in: nothing is told, and nothing else changes.

#[cfg(target_os = "linux")]
mod account;
#[cfg(target_os = "linux")]
mod attending;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod exit;
mod participants;
#[cfg(target_os = "linux")]
mod schedule;
#[cfg(target_os = "linux")]
mod sink;
#[cfg(target_os = "linux")]
mod watchdog;
mod words;

#[cfg(target_os = "linux")]
pub(crate) use self::account::{Reason, tell};
#[cfg(target_os = "linux")]
pub use self::attending::{Attending, attend};
#[cfg(target_os = "linux")]
pub(crate) use self::attending::{handles, inside, inside_model};
#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::{Attending, attend};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::elsewhere::{handles, inside, inside_model};
pub(crate) use self::participants::Participants;
pub use self::words::{LastWords, Patience, RegressionFile};
