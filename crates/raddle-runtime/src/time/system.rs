//! The time of day.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::{Duration, SystemTimeError};

use crate::execution::here;
use crate::time::clock;
use crate::uncontrolled;

/// The time of day, as [`std::time::SystemTime`]. Every execution begins on 1 January 2020, 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// 1 January 1970, 00:00 UTC, as [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

/// When executions begin.
const START: Duration = Duration::from_secs(1_577_836_800);

impl SystemTime {
    /// 1 January 1970, 00:00 UTC.
    pub const UNIX_EPOCH: Self = Self(std::time::UNIX_EPOCH);

    /// The current time of day. In an execution this is a step, because tasks share the clock.
    #[must_use]
    #[track_caller]
    pub fn now() -> Self {
        Self(match clock::read(here()) {
            Some((_, nanos)) => std::time::UNIX_EPOCH + START + Duration::from_nanos(nanos),
            None => {
                uncontrolled::note("SystemTime::now", None);
                std::time::SystemTime::now()
            }
        })
    }

    /// How much later this is than `earlier`.
    ///
    /// # Errors
    ///
    /// If it is earlier; the error says by how much.
    pub fn duration_since(&self, earlier: Self) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// How much time has passed since this time. Reads the clock.
    ///
    /// # Errors
    ///
    /// If this time is in the future; the error says by how much.
    #[track_caller]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        Self::now().duration_since(*self)
    }

    /// The time `duration` later, or `None` if it cannot be represented.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// The time `duration` earlier, or `None` if it cannot be represented.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(time: std::time::SystemTime) -> Self {
        Self(time)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(SystemTime(time): SystemTime) -> Self {
        time
    }
}

impl Add<Duration> for SystemTime {
    type Output = Self;

    #[track_caller]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("overflow when adding duration to a time of day")
    }
}

impl AddAssign<Duration> for SystemTime {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = Self;

    #[track_caller]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("overflow when subtracting duration from a time of day")
    }
}

impl SubAssign<Duration> for SystemTime {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}
