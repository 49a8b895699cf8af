//! Atomic values, as in [`std::sync::atomic`].
//!
//! Every operation is one step, and all are sequentially consistent: each load sees the latest store. The orderings are
//! checked as `std` does and recorded: whether two accesses to a [cell](crate::cell) race is decided by what they order.
//!
//! What `std` has and this module has not: `from_ptr` and the unstable `from_mut`, which make an atomic out of memory that is
//! a plain number. An atomic here has to carry its place in the execution, so it does not have the number's layout.

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
