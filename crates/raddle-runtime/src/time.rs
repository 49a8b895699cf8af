//! Time on a virtual clock, as in [`std::time`].
//!
//! The clock stands still while tasks run and moves when a sleep or a timed wait ends: to the time that was waited for. Such a
//! wait may end at any point, though no wait ends before one whose time comes earlier; when nothing else can happen, it
//! must. A loop that only watches the clock sees it move once nobody else can go on.

use std::time::Duration;

use raddle_engine::ids::ObjectId;

use crate::execution::{Kind, word_as_number};

/// The clock is the first object of every execution; its word counts nanoseconds from the start.
pub(crate) const CLOCK: ObjectId = ObjectId::new(0);

pub(crate) static CLOCK_KIND: Kind = Kind { noun: "clock", show: word_as_number };

/// `duration` after `now`, or the end of time.
pub(crate) fn after(now: u64, duration: Duration) -> u64 {
    now.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
