//! What the language means, and that the oracle counts right.

mod counts;
mod errors;
mod estimates;
mod files;
mod generated;
mod meaning;
mod reduction;

use raddle_litmus::{Litmus, Program};

/// A program from its text.
fn program(text: &str) -> Program {
    let litmus = Litmus::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Program::new(&litmus, "test").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The states that the oracle may remember: plenty for all that is counted here.
const ROOM: usize = 100_000;
