//! Atomic values, as in [`std::sync::atomic`].
//!
//! Every operation is one step, and all are sequentially consistent: each load sees the latest store. The orderings are
//! checked as `std` does and recorded: whether two accesses to a [cell](crate::cell) race is decided by what they order.

mod number;

pub use std::sync::atomic::Ordering;

pub use self::number::AtomicUsize;
