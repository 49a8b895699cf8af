//! Time on a virtual clock, as in [`std::time`].
//!
//! The clock stands still while tasks run and moves when a sleep or a timed wait ends: to the time that was waited for. Such a
//! wait may end at any point, though no wait ends before one whose time comes earlier; when nothing else can happen, it
//! must. A loop that only watches the clock sees it move once nobody else can go on.
//!
//! To reduction the clock is an object like any other. A timed wait reads it where it begins (its deadline counts from there, and
//! holds back later ones) and where it ends otherwise than by time (it holds them back no more); an end by time changes it.

mod clock;
mod instant;
mod system;

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

pub(crate) use self::clock::{CLOCK, CLOCK_KIND, after, begin_timed_wait};
pub use self::instant::Instant;
pub use self::system::{SystemTime, UNIX_EPOCH};
