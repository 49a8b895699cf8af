//! Atomic values, as in [`std::sync::atomic`].
//!
//! Every operation is one step. All are sequentially consistent: each load sees the latest store. The orderings are checked as `std` does,
//! and recorded: race detection on [cells](crate::cell) uses them.
//!
//! Not available here: `from_ptr` and the unstable `from_mut` of `std`. They make an atomic out of the memory of a plain number. An atomic
//! of Raddle also has a tag, so it has another layout than a number.

mod boolean;
mod fence;
mod integer;
mod pointer;
mod shared;
mod step;

pub use std::sync::atomic::Ordering;

pub use self::boolean::AtomicBool;
pub use self::fence::{compiler_fence, fence};
pub use self::integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use self::pointer::AtomicPtr;
