//! Reports about a process that ends or hangs in the middle of an execution.
//!
//! After a segmentation fault, an abort, a call of `exit`, or in a loop that never ends, the search cannot go on, and the memory of the
//! process may be in any state. So a signal handler writes the report: what happened, in which task, after which step, and the schedule
//! that leads there. The handler adds the schedule to the file of regressions as well.
//!
//! The handlers use only what is safe in signal handlers. They allocate nothing and take no lock. What depends on the test is
//! [prepared](LastWords) before. The decisions are read from the trace of the running execution. The text is formatted in a small buffer and
//! written to the file descriptor. Afterwards the signal goes to the handler that was installed before, so the process ends as it would
//! without Raddle.
//!
//! - `attending`: the record that each worker has on its OS thread. Handlers find the running execution through it.
//! - `account`: the text of the report.
//! - `schedule`: the decisions of the running execution as text.
//! - `fd_writer`: formatting without allocation.
//! - `view`: what handlers may ask of the running execution.
//! - `words`: the texts that are prepared for a test.
//! - `watchdog`: finds workers whose program has taken no step for a long time.
//!
//! On systems other than Linux there are no handlers: `elsewhere` has functions that do nothing.

#[cfg(target_os = "linux")]
mod account;
#[cfg(target_os = "linux")]
mod attending;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod exit;
#[cfg(target_os = "linux")]
mod fd_writer;
#[cfg(target_os = "linux")]
mod schedule;
mod view;
#[cfg(target_os = "linux")]
mod watchdog;
mod words;

#[cfg(target_os = "linux")]
pub(crate) use self::account::{Reason, tell};
#[cfg(target_os = "linux")]
pub use self::attending::{Attending, attend};
#[cfg(target_os = "linux")]
pub(crate) use self::attending::{away, handles, inside, inside_model, note_step};
#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::{Attending, attend};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::elsewhere::{away, handles, inside, inside_model, note_step};
pub(crate) use self::view::CrashView;
pub use self::words::{LastWords, Patience, RegressionFile, told_to_end};
