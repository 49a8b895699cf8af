//! Tests of the language and the oracle, and of the strategies against the oracle.

mod counts;
mod delay;
mod delay_sample;
mod errors;
mod estimates;
mod files;
mod first_failure;
mod generated;
mod hapset;
mod hostile;
mod meaning;
mod optimal;
mod preemption;
mod reduction;
mod samplers;
mod seeds;
mod shared_hapset;
mod shared_preemption;
mod states;
mod workers;

use std::fs;
use std::path::Path;

use raddle_litmus::{Litmus, Program};

/// A program from its text.
fn program(text: &str) -> Program {
    let litmus = Litmus::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Program::new(&litmus, "test").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A program of `litmus/`, by its name.
fn read(name: &str) -> Litmus {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus").join(name).with_extension("litmus");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Litmus::parse(&text).unwrap_or_else(|error| panic!("{name}:{error}"))
}

/// The number of states that the oracle may store: plenty for all programs here.
const MAX_ORACLE_STATES: usize = 100_000;
