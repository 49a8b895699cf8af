//! How the values of Raddle's settings are read.
//!
//! The attribute `#[raddle::test]` checks values when a test is compiled, the explorer when it is run. Both use this crate, so that they
//! cannot disagree. It has no dependencies, since every crate that uses the attribute waits for it to be compiled.

#![forbid(unsafe_code)]

pub mod value;
