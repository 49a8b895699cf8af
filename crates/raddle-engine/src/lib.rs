//! The search: it decides, again and again, what a concurrent program does next, until the orders that matter have been
//! seen or the budget is spent.
//!
//! This crate knows [systems](system::System) that are paused at [points](system::Point), the [steps](trace::Step) they
//! take, and [strategies](strategy::Strategy) that decide. It knows nothing of threads, actors, files or terminals: a
//! program of any kind that implements [`System`](system::System) can be searched, and a strategy written once works on
//! all of them.
//!
//! ```
//! use raddle_engine::search::{Limits, search};
//! use raddle_strategies::tree::exhaustive::Exhaustive;
//! # use raddle_engine::example::Counters;
//!
//! // Two tasks that each take two steps: six orders.
//! let report = search(&mut Counters::new(&[2, 2]), &mut Exhaustive::depth_first(), &Limits::default());
//! assert_eq!(report.executions, 6);
//! assert!(report.verified());
//! ```

#![forbid(unsafe_code)]

pub mod board;
pub mod caveats;
pub mod coverage;
pub mod estimate;
pub mod example;
pub mod facts;
pub mod forward;
pub mod ids;
pub mod order;
pub mod outcome;
pub mod piece;
pub mod replay;
pub mod rng;
pub mod schedule;
pub mod search;
pub mod shrink;
pub mod strategy;
pub mod system;
pub mod thousands;
pub mod trace;
