//! Hints, as in [`std::hint`].

pub use std::hint::{assert_unchecked, black_box, select_unpredictable, unreachable_unchecked};

use crate::coroutine::current;
use crate::execution::here;
use crate::thread::yield_in;
use crate::uncontrolled;

/// Says that the caller spins, as [`std::hint::spin_loop`]. In an execution this lets other threads run first, as
/// [`yield_now`](crate::thread::yield_now) does. A loop that then finds no change is stalled until there is one.
#[inline]
#[track_caller]
pub fn spin_loop() {
    let site = here();
    if current::with(|execution| yield_in(execution, site)).is_none() {
        uncontrolled::note("hint::spin_loop", None);
        std::hint::spin_loop();
    }
}
