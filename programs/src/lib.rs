//! Programs with known bugs, written as ordinary users of `raddle`, and what is known of each exactly.

#![forbid(unsafe_code)]

pub mod delay;
pub mod eta;
pub mod hapset;
mod program;
pub mod sctbench;

pub use self::program::{Family, Program};
