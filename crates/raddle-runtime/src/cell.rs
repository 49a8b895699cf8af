//! Plain memory whose accesses must not race, as in [`std::cell`].
//!
//! A type that uses unsafe code to share a cell between threads (a lock, a queue, a lazy value) has to order the accesses to it. With these
//! cells, an execution fails with a data race if it has two accesses, one of them a write, and neither happens before the other. Happens-before
//! is that of the memory model of C++ and Rust: by locks, joins, and atomics with strong enough orderings.
//!
//! An access needs no decision: if accesses do not race, no task can observe when exactly they happen.
//!
//! Not available here: `Cell::from_mut`, `Cell::as_slice_of_cells`, `UnsafeCell::from_mut` and similar functions of `std`. They use plain memory
//! as a cell, or one cell as several; but these cells also have a tag, so they have another layout. `UnsafeCell::raw_get` is missing because
//! Raddle could not see its use.

mod access;
mod plain;
mod unsafe_cell;

pub use std::cell::{LazyCell, OnceCell, Ref, RefCell, RefMut};

pub use self::plain::Cell;
pub use self::unsafe_cell::UnsafeCell;
