//! Plain memory whose accesses must not race, as in [`std::cell`].
//!
//! A type that shares a cell between threads by unsafe means (a lock, a queue, a lazily made value) has to order the accesses to
//! it. With these cells an execution in which nothing orders two accesses, one of them a write, fails as a data race,
//! whichever of them came first in it. What orders them is what orders memory in the C++ and Rust model: locks, joins, and
//! atomics with orderings that are strong enough.
//!
//! An access is no point of decision: if accesses do not race, nobody can tell when exactly they happen.
//!
//! What `std` has and this module has not: `Cell::from_mut`, `Cell::as_slice_of_cells`, `UnsafeCell::from_mut` and the like, which
//! take plain memory for a cell or a cell for several (these cells remember who accessed them, so they have another
//! layout), and `UnsafeCell::raw_get`, whose use could not be seen.

mod plain;
mod unsafe_cell;
mod watch;

pub use std::cell::{LazyCell, OnceCell, Ref, RefCell, RefMut};

pub use self::plain::Cell;
pub use self::unsafe_cell::UnsafeCell;
