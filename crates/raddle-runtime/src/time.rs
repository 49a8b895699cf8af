//! Time on a virtual clock, as in [`std::time`].
//!
//! The clock stands still while tasks run. It moves when a sleep or a timed wait times out: to the deadline of the wait. A wait may time out
//! at any point, but not before a wait with an earlier deadline. If no other action is enabled, it must time out. If a task spins on the
//! clock, the clock moves once no other task is enabled.
//!
//! For reduction the clock is an object like any other. A timed wait reads it where it begins: its deadline counts from there, and from there
//! on no later deadline can come first. A wait that ends otherwise than by its timeout reads the clock as well, since from then on later
//! deadlines can come first. A timeout changes the clock.

mod clock;
mod instant;
mod system;

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

pub(crate) use self::clock::{CLOCK, CLOCK_KIND, after, begin_timed_wait};
pub use self::instant::Instant;
pub use self::system::{SystemTime, UNIX_EPOCH};
