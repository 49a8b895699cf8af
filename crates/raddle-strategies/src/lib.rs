//! All strategies of Raddle. Each is a value that implements [`Strategy`](raddle_engine::strategy::Strategy).
//!
//! - [`samplers`] draw executions at random: `random`, `pct`, `pos`, `surw`, and simple ones that tests compare with.
//! - [`tree`] walks the tree of all decisions: `exhaustive`, and `preemption`, which runs executions with few preemptions first.
//! - [`reduction`] runs one execution of each trace (class of executions that differ only in the order of independent steps):
//!   `dpor` and its variants.
//! - [`states`] visits each state once: `states`, and `delay`, which runs executions with few delays first.
//! - [`receives`] generates schedules that receive messages in orders not seen before: `receive-order`.
//! - [`hapset`] reverses only races whose reversal is a new ordering, according to ordering constraints that it has learned.
//! - [`portfolio`] alternates between several strategies; [`probing`] estimates how large a systematic search is.
//!
//! The engine depends on none of these. A strategy of your own needs nothing from this crate.

#![forbid(unsafe_code)]

mod causality;
mod format;
pub mod hapset;
pub mod names;
pub mod optimal;
pub mod portfolio;
pub mod probing;
pub mod receives;
pub mod reduction;
pub mod samplers;
pub mod states;
mod time_left;
pub mod tree;
mod varint;
pub mod watched;
