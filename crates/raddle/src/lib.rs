//! Systematic testing of concurrent Rust programs: Raddle takes over the scheduling of a test, searches the orders in which
//! its steps can happen, and shows the one that breaks it.
//!
//! # One minute
//!
//! Use `raddle::thread` and `raddle::sync` where you would use those of `std`, and hand the test to Raddle:
//!
//! ```
//! use raddle::sync::atomic::{AtomicUsize, Ordering};
//! use raddle::sync::{Arc, Mutex};
//! use raddle::{Explorer, thread};
//!
//! let report = Explorer::new().run(|| {
//!     let hits = Arc::new(Mutex::new(0));
//!     let threads: Vec<_> = (0..2)
//!         .map(|_| {
//!             let hits = hits.clone();
//!             thread::spawn(move || {
//!                 let seen = *hits.lock().unwrap();
//!                 *hits.lock().unwrap() = seen + 1; // Somebody may have been here in between.
//!             })
//!         })
//!         .collect();
//!     for thread in threads {
//!         thread.join().unwrap();
//!     }
//!     assert_eq!(*hits.lock().unwrap(), 2);
//! });
//!
//! assert!(report.failed());
//! // println!("{report}") shows the order in which it goes wrong, and how to have it again.
//! ```
//!
//! In a test file, [`#[raddle::test]`](macro@test) does the same for a whole function and fails it with the report as the
//! message.
//!
//! # Limits
//!
//! - Only what goes through Raddle's types is under control. A lock of `std` inside a test is not seen; if a thread
//!   waits for it while another holds it, the test hangs.
//! - Atomic operations are sequentially consistent: bugs that need a weaker memory model are not found. Whether accesses
//!   to a [`cell`] race is decided by the orderings as written.
//! - A test must do the same thing when the same decisions are made. Clocks, random numbers, hash order and addresses outside
//!   Raddle's control make it nondeterministic; where that is noticed, it is reported.
//! - A sampling strategy that finds nothing has proved nothing. Only `verified` means that every order was seen.
//!
//! # Settings
//!
//! By attribute (`#[raddle::test(strategy = "pct", executions = 1_000)]`), by [`Explorer`], or by environment:
//! `RADDLE_STRATEGY`, `RADDLE_EXECUTIONS`, `RADDLE_TIME`, `RADDLE_SEED`, `RADDLE_WORKERS`, `RADDLE_STEPS`,
//! `RADDLE_REPLAY`, `RADDLE_OUT`. The environment wins.

#![forbid(unsafe_code)]

mod environment;
mod explorer;
mod file_lock;
mod files;
#[cfg(test)]
mod fuzz;
mod interrupt;
mod last_words;
mod learnt;
mod left;
mod regressions;
mod replay_source;
mod report;
mod schedules;
mod session;
mod settings;
pub mod strategy;
mod strategy_name;
mod tested;
mod workers;

/// What is covered of the orders in which messages are received.
pub mod coverage {
    pub use raddle_engine::coverage::{Achieved, Coverage, Criterion, Example, Growth, Uncovered, Why, forecast};
}

pub use raddle_engine::outcome::Failure;
pub use raddle_engine::schedule::{Schedule, ScheduleError};
pub use raddle_macros::test;
#[doc(inline)]
pub use raddle_runtime::choice::{any, choose, flip};
pub use raddle_runtime::hint_explorer;
pub use raddle_runtime::{actor, cell, collections, hint, model, rand, sync, thread, thread_local, time};

pub use crate::explorer::{ByName, ByValue, Explorer, IntoStrategy};
pub use crate::report::{Report, Verdict};
pub use crate::settings::SettingError;

/// What the expansion of `#[raddle::test]` needs. Not for use by hand.
#[doc(hidden)]
pub mod __macro {
    pub use crate::tested::Tested;
}
