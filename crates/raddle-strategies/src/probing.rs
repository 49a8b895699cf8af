//! Random walks that tell how large a systematic search is.

mod futures;
mod lengths;
mod probe;
mod probed;

pub use self::probe::Probe;
pub use self::probed::Probed;
