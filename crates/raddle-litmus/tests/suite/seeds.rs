//! Generated programs by seed, and the settings of long runs.

use std::ops::Range;

use raddle_litmus::conformance::{OracleLimits, Reference};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::{Litmus, Program};

/// A number from the environment, for a run without a time limit.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The seeds of a long run: COUNT of them, starting with FROM.
pub fn seeds(from: u64, count: u64) -> Range<u64> {
    let from = number("FROM", from);
    from..from + number("COUNT", count)
}

/// Programs of a range of seeds that are not too large, with the oracle's counts.
pub fn programs(seeds: Range<u64>, size: Size) -> impl Iterator<Item = (u64, Litmus, Program, Reference)> {
    seeds.filter_map(move |seed| {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").unwrap_or_else(|error| panic!("{seed}: {error}\n{litmus}"));
        let known = Reference::of(&program, OracleLimits { orders: 0, ..OracleLimits::default() })?;
        Some((seed, litmus, program, known))
    })
}
