//! Programs under control: mirrors of the standard library, operation by operation, whose every step Raddle schedules.
//!
//! Inside an execution, each operation that another task could notice pauses its task and hands the decision to the engine.
//! Outside, the same types do what their counterparts in `std` do. Users meet these modules through the crate `raddle`.
//!
//! This crate knows the engine's [`System`](raddle_engine::system::System) and no strategy. Its insides, from the bottom up:
//! `coroutine` (stacks), `execution` (tasks, objects and how an operation becomes a step), `threads` (the `System`), and one
//! module for each mirrored module of `std`.

#![deny(unsafe_code)]

pub mod actor;
mod addresses;
pub mod cell;
pub mod choice;
pub mod collections;
#[expect(unsafe_code, reason = "switching stacks; the invariants are at the head of the module")]
mod coroutine;
#[cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "handlers of signals; what they rely on is at the head of the module")
)]
pub mod crash;
mod execution;
mod explorer_hint;
pub mod hint;
mod integer;
mod mailbox;
pub mod model;
pub mod output;
mod panics;
pub mod rand;
pub mod sync;
pub mod thread;
pub mod threads;
pub mod time;
#[expect(unsafe_code, reason = "which signals a thread blocks; plain calls into libc")]
mod uncontrolled;

pub use self::explorer_hint::hint_explorer;
pub use self::panics::panic_at;
