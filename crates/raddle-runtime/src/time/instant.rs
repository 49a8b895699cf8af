//! Instants of the virtual clock, or of the real one.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::execution::here;
use crate::time::clock;
use crate::uncontrolled;

/// An instant, as [`std::time::Instant`]. In an execution it is one of the virtual clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instant(ClockTime);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ClockTime {
    Real(std::time::Instant),
    /// Nanoseconds since the start of an execution. Negative if the program has subtracted more than has passed.
    Virtual {
        execution: u64,
        nanos: i128,
    },
}

const MIXED: &str =
    "raddle: two instants of different clocks: one of them was taken outside this execution; take both inside";

impl Instant {
    /// The current instant. In an execution this is a step, because tasks share the clock.
    #[must_use]
    #[track_caller]
    pub fn now() -> Self {
        Self(match clock::read(here()) {
            Some((execution, nanos)) => ClockTime::Virtual { execution, nanos: i128::from(nanos) },
            None => {
                uncontrolled::note("Instant::now", None);
                ClockTime::Real(std::time::Instant::now())
            }
        })
    }

    /// How much time has passed since this instant. Reads the clock.
    ///
    /// # Panics
    ///
    /// If this instant is not of the clock that runs now.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// How much later this is than `earlier`; zero if it is not.
    ///
    /// # Panics
    ///
    /// If the two are of different clocks.
    #[must_use]
    #[track_caller]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// How much later this is than `earlier`; `None` if it is not.
    ///
    /// # Panics
    ///
    /// If the two are of different clocks.
    #[must_use]
    #[track_caller]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        match (self.0, earlier.0) {
            (ClockTime::Real(now), ClockTime::Real(earlier)) => now.checked_duration_since(earlier),
            (ClockTime::Virtual { execution: a, nanos: now }, ClockTime::Virtual { execution: b, nanos: earlier })
                if a == b =>
            {
                duration(now.checked_sub(earlier)?)
            }
            _ => panic!("{MIXED}"),
        }
    }

    /// How much later this is than `earlier`; zero if it is not.
    ///
    /// # Panics
    ///
    /// If the two are of different clocks.
    #[must_use]
    #[track_caller]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// The instant `duration` later, or `None` if it cannot be represented.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.moved(duration, |at| at.checked_add(duration), i128::checked_add)
    }

    /// The instant `duration` earlier, or `None` if it cannot be represented.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.moved(duration, |at| at.checked_sub(duration), i128::checked_sub)
    }

    fn moved(
        self,
        duration: Duration,
        real: impl FnOnce(std::time::Instant) -> Option<std::time::Instant>,
        virtually: fn(i128, i128) -> Option<i128>,
    ) -> Option<Self> {
        Some(Self(match self.0 {
            ClockTime::Real(at) => ClockTime::Real(real(at)?),
            ClockTime::Virtual { execution, nanos } => {
                let by = i128::try_from(duration.as_nanos()).ok()?;
                ClockTime::Virtual { execution, nanos: virtually(nanos, by)? }
            }
        }))
    }
}

/// A duration of so many nanoseconds. `None` if the number is negative or too large.
fn duration(nanos: i128) -> Option<Duration> {
    let nanos = u128::try_from(nanos).ok()?;
    let secs = u64::try_from(nanos / 1_000_000_000).ok()?;
    Some(Duration::new(secs, (nanos % 1_000_000_000) as u32))
}

/// # Panics
///
/// If the two are of different clocks.
impl Ord for Instant {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (ClockTime::Real(a), ClockTime::Real(b)) => a.cmp(&b),
            (ClockTime::Virtual { execution: a, nanos }, ClockTime::Virtual { execution: b, nanos: other })
                if a == b =>
            {
                nanos.cmp(&other)
            }
            _ => panic!("{MIXED}"),
        }
    }
}

impl PartialOrd for Instant {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    #[track_caller]
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}
