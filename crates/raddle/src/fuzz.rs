//! Every parser is given many texts that are almost right. It must not panic, and must answer soon and in little memory.
//!
//! `cargo xtask fuzz-parsers` runs a million of them; a few thousand are part of the tests. The same numbers give the same texts.

mod inputs;
mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use raddle_engine::rng::{Rng, mix};

use self::inputs::{Parser, parsers};
use self::mutate::mutate;

/// No text may take longer.
const LONGEST: Duration = Duration::from_secs(1);

/// Runs so many inputs, in turn for each parser.
fn run(inputs: u64) {
    let mut parsers = parsers();
    // What is made once is made now.
    parsers.iter_mut().for_each(|parser| assert!((parser.read)(&parser.examples[0])));
    let count = parsers.len() as u64;
    for number in 0..inputs {
        let Parser { name, examples, read } = &mut parsers[(number % count) as usize];
        let mut rng = Rng::new(mix(1, number));
        let text = mutate(&mut rng, examples);
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&text)));
        let shown = || text.chars().take(2_000).collect::<String>();
        assert!(outcome.is_ok(), "{name} panicked at input {number}:\n{}", shown());
        assert!(start.elapsed() < LONGEST, "{name} took {:?} for input {number}:\n{}", start.elapsed(), shown());
    }
}

#[test]
fn parsers_read_what_is_right() {
    for Parser { name, examples, mut read } in parsers() {
        assert!(!examples.is_empty(), "{name}");
        for example in &examples {
            assert!(read(example), "{name} refuses {example}");
        }
    }
}

#[test]
fn parsers_answer_whatever_they_are_given() {
    run(3_000);
}

/// The most memory that this process has had, in bytes, where the system tells.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// To be run alone, since memory is counted for the process.
#[test]
#[ignore = "a million inputs take a quarter of a minute optimised: run by `cargo xtask fuzz-parsers`"]
fn parsers_answer_a_million_times() {
    let inputs = std::env::var("FUZZ_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(1_000_000);
    run(inputs);
    if let Some(bytes) = most_memory() {
        assert!(bytes < 100 << 20, "{bytes} bytes of memory were used");
    }
}
