//! Controlled programs: types that mirror those of the standard library, operation by operation. Raddle schedules every operation.
//!
//! In an execution, a task pauses before each operation that another task can observe, and the engine decides which task goes on. Outside,
//! the same types do what those of `std` do. Users get these modules through the crate `raddle`.
//!
//! This crate knows the engine's [`System`](raddle_engine::system::System) and no strategy. Its modules, from the bottom up: `coroutine`
//! (stacks), `execution` (tasks, objects, and how an operation becomes a step), `threads` (the `System`), and one module for each mirrored
//! module of `std`.

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
    expect(unsafe_code, reason = "signal handlers; what they rely on is at the head of the module")
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
