//! Moments of the virtual clock, or of the real one.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::execution::here;
use crate::time::clock;

/// A moment, as [`std::time::Instant`]. Those of an execution lie on its virtual clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instant(Moment);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Moment {
    Real(std::time::Instant),
    /// Nanoseconds since the start of an execution; a program may well count back to before it.
    Virtual {
        execution: u64,
        nanos: i128,
    },
}

const MIXED: &str =
    "raddle: two instants of different clocks: one of them was taken outside this execution; take both inside";

impl Instant {
    /// Now. Inside an execution this is a step: the clock is shared.
    #[must_use]
    #[track_caller]
    pub fn now() -> Self {
        Self(match clock::read(here()) {
            Some((execution, nanos)) => Moment::Virtual { execution, nanos: i128::from(nanos) },
            None => Moment::Real(std::time::Instant::now()),
        })
    }

    /// How much time has passed since then; looks at the clock.
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
            (Moment::Real(now), Moment::Real(earlier)) => now.checked_duration_since(earlier),
            (Moment::Virtual { execution: a, nanos: now }, Moment::Virtual { execution: b, nanos: earlier })
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

    /// `duration` later, if that can be said.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.moved(duration, |at| at.checked_add(duration), i128::checked_add)
    }

    /// `duration` earlier, if that can be said.
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
            Moment::Real(at) => Moment::Real(real(at)?),
            Moment::Virtual { execution, nanos } => {
                let by = i128::try_from(duration.as_nanos()).ok()?;
                Moment::Virtual { execution, nanos: virtually(nanos, by)? }
            }
        }))
    }
}

/// So many nanoseconds; `None` if negative or more than a duration holds.
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
            (Moment::Real(a), Moment::Real(b)) => a.cmp(&b),
            (Moment::Virtual { execution: a, nanos }, Moment::Virtual { execution: b, nanos: other }) if a == b => {
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
