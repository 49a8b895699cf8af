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
//! message:
//!
//! ```
//! # // A test function is not run by a documentation test; this one is compiled.
//! #[raddle::test(strategy = "dpor")]
//! fn deposits_add_up() {
//!     let balance = raddle::sync::Arc::new(raddle::sync::Mutex::new(100));
//!     let other = balance.clone();
//!     let deposit = raddle::thread::spawn(move || *other.lock().unwrap() += 10);
//!     *balance.lock().unwrap() += 50;
//!     deposit.join().unwrap();
//!     assert_eq!(*balance.lock().unwrap(), 160);
//! }
//! ```
//!
//! `cargo test -- --nocapture` shows the verdict of a test that passes.
//!
//! # How a library gets these types
//!
//! For unit tests inside the crate, Raddle is a dev-dependency and one module chooses the types:
//!
//! ```text
//! #[cfg(test)]
//! pub(crate) use raddle::sync::Mutex;
//! #[cfg(not(test))]
//! pub(crate) use std::sync::Mutex;
//! ```
//!
//! For integration tests, and for code in other crates, the module asks for `cfg(raddle)` instead of `cfg(test)`, and the tests are run with
//! `RUSTFLAGS="--cfg raddle"`. In `Cargo.toml`:
//!
//! ```text
//! [target.'cfg(raddle)'.dependencies]
//! raddle = …
//!
//! [lints.rust]
//! unexpected_cfgs = { level = "warn", check-cfg = ["cfg(raddle)"] }
//! ```
//!
//! Outside a Raddle test, these types work as those of `std` do. A test whose code is built with the types of `std` has the verdict
//! [`NothingToExplore`](Verdict::NothingToExplore). With this in the `Cargo.toml` of the workspace, tests are two to three times as fast:
//!
//! ```text
//! [profile.dev.package.raddle-engine]
//! opt-level = 3
//! [profile.dev.package.raddle-runtime]
//! opt-level = 3
//! ```
//!
//! # Limits
//!
//! - Only operations of Raddle's types are steps. A thread of `std` that uses one of Raddle's objects is a failure (on Linux). A thread that waits
//!   for a lock of `std`, while another holds it across a step, is reported as a hang.
//! - Atomics are sequentially consistent: bugs that need a weaker memory model are not found, and the verdict of a program that uses weaker
//!   orderings says so. Whether accesses to a [`cell`] race is decided by the orderings as written.
//! - `Arc` is that of `std`: changes of its counts are no steps. A `std::thread_local!` is shared by all threads of a test; use
//!   [`thread_local!`].
//! - A loop that goes round 1,000 times without a change is assumed to spin until something changes, and the verdict says so.
//! - A test must do the same thing when the same decisions are made. A program that depends on a clock, random numbers, hash order or
//!   addresses outside Raddle's control is reported where that is noticed. [`collections`], [`time`] and [`rand`] have replacements.
//! - Threads that can never continue are abandoned: their destructors do not run, and what they own leaks.
//! - A sampling strategy that finds nothing has proved nothing. Only `verified` means that every order was covered.
//!
//! # Settings
//!
//! By attribute (`#[raddle::test(strategy = "pct", executions = 1_000)]`), by the methods of [`Explorer`], or by environment
//! (`RADDLE_STRATEGY=pct RADDLE_EXECUTIONS=1000 cargo test`). The environment wins. Each method of [`Explorer`] says what its setting means; the
//! setting has the same name in an attribute, and in the environment that name in capitals after `RADDLE_`. `spurious_wakeups`,
//! `isolate_panics`, `keep_going`, `stack_size` and `regressions` cannot be set by environment. `RADDLE_REPLAY` runs one schedule, `RADDLE_OUT` says where files
//! go, and `RADDLE_PROGRESS` whether progress is shown.

#![forbid(unsafe_code)]

mod budget;
mod environment;
mod explorer;
mod file_lock;
mod files;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
mod interrupt;
mod last_words;
mod learned;
mod plan;
mod regressions;
mod replay_source;
mod report;
mod saved_search;
mod schedules;
mod session;
mod settings;
pub mod strategy;
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
