//! Who decides: all strategies of Raddle. Each is a value that implements [`Strategy`](raddle_engine::strategy::Strategy).
//!
//! - [`samplers`] draw executions at random: `random`, `pct`, `pos`, `surw`, and the plain ones that tests compare with.
//! - [`tree`] walks the tree of all decisions: `exhaustive`, and `preemption` with few preemptions first.
//! - [`reduction`] runs one execution of those that differ only in the order of independent steps: `dpor` and its kin.
//! - [`states`] enters each state once: `states`, and `delay` with few delays first.
//! - [`receives`] generates schedules that receive messages in orders not seen before: `receive-order`.
//! - [`hapset`] reverses only races whose reversal is new, by ordering constraints that it has learned.
//! - [`portfolio`] takes turns between several of them; [`probing`] says how large a systematic search is.
//!
//! The engine below knows none of these. A strategy of your own needs nothing from here.

#![forbid(unsafe_code)]

mod format;
pub mod hapset;
pub mod names;
pub mod portfolio;
pub mod probing;
pub mod receives;
pub mod reduction;
pub mod samplers;
pub mod states;
pub mod tree;
mod varint;
pub mod watched;
