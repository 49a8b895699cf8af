//! Generated programs: the oracle's ways of counting agree with each other and with the engine's exhaustive search.

use std::collections::HashSet;

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, search};
use raddle_engine::system::{Choice, Point, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::{self, Watched};
use raddle_litmus::{Litmus, Program};
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::MAX_ORACLE_STATES;

/// Small enough to run every single execution.
const TINY: Size = Size { threads: 3, steps: 6 };

fn programs(seeds: std::ops::Range<u64>, size: Size) -> impl Iterator<Item = (u64, Litmus, Program)> {
    seeds.map(move |seed| {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").unwrap_or_else(|error| panic!("{seed}: {error}\n{litmus}"));
        (seed, litmus, program)
    })
}

#[test]
fn oracle_counts_happens_before_relations() {
    let mut compared = 0;
    let mut several = 0;
    for (seed, litmus, program) in programs(0..500, TINY) {
        let Ok(orders) = oracle::orders(&program, 3_000) else {
            continue;
        };
        let traces =
            oracle::traces(&program, MAX_ORACLE_STATES).unwrap_or_else(|why| panic!("{seed}: {why}\n{litmus}"));
        assert_eq!(traces.count, orders.count, "{seed}\n{litmus}");
        assert_eq!(traces.ends, orders.ends, "{seed}\n{litmus}");
        compared += 1;
        several += u32::from(traces.count.all > 3);
    }
    assert!(compared >= 400 && several >= 150, "{compared} compared, {several} with more than three traces");
}

#[test]
fn exhaustive_search_sees_every_execution() {
    let limits = Limits { executions: Some(5_000), keep_going: true, ..Limits::default() };
    let mut compared = 0;
    for (seed, litmus, program) in programs(1_000..1_400, TINY) {
        let plain =
            oracle::executions(&program, MAX_ORACLE_STATES).unwrap_or_else(|why| panic!("{seed}: {why}\n{litmus}"));
        let traces =
            oracle::traces(&program, MAX_ORACLE_STATES).unwrap_or_else(|why| panic!("{seed}: {why}\n{litmus}"));
        assert_eq!(traces.ends, plain.ends, "{seed}\n{litmus}");
        if plain.count.all >= 5_000 {
            continue;
        }
        let mut watched = Watched::new(program);
        let report = search(&mut watched, &mut Exhaustive::depth_first(), &limits);
        let found = (u128::from(report.executions), u128::from(report.failing));
        assert_eq!(found, (plain.count.all, plain.count.failing), "{seed}\n{litmus}");
        let seen = watched.seen();
        assert_eq!((seen.traces(), &seen.ends), (traces.count.all, &plain.ends), "{seed}\n{litmus}");
        compared += 1;
    }
    assert!(compared >= 300, "{compared} compared");
}

#[test]
fn programs_have_all_there_is() {
    let mut words = HashSet::new();
    let mut ends = (0, 0);
    for (_, litmus, program) in programs(0..200, Size { threads: 4, steps: 9 }) {
        let text = litmus.to_string();
        let is_name = |c: char| c.is_alphanumeric() || c == '-';
        words.extend(text.split(|c| !is_name(c)).map(str::to_owned));
        let Ok(plain) = oracle::executions(&program, MAX_ORACLE_STATES) else {
            continue;
        };
        ends.0 += u32::from(plain.ends.iter().any(|(_, failure)| failure.is_none()));
        ends.1 += u32::from(plain.ends.iter().any(|(_, f)| f.as_ref().is_some_and(|f| f.starts_with("deadlock"))));
    }
    let all = "load store cas add lock unlock trylock send recv choose if else while assert final \
        arrival per-sender causal unordered shared mutex channel thread in";
    for word in all.split_whitespace() {
        assert!(words.contains(word), "no program has {word}");
    }
    assert!(ends.0 > 100 && ends.1 > 20, "programs with a good end, with a deadlock: {ends:?}");
}

#[test]
fn printed_programs_parse_to_themselves() {
    for (seed, litmus, program) in programs(2_000..2_300, TINY) {
        let text = litmus.to_string();
        let again = Litmus::parse(&text).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        assert_eq!(again.to_string(), text, "{seed}");
        let parsed = Program::new(&again, "generated").expect("the printed program was fine");
        let counts = [&program, &parsed].map(|p| oracle::executions(p, MAX_ORACLE_STATES).map(|counted| counted.count));
        assert_eq!(counts[0], counts[1], "{seed}\n{text}");
    }
}

#[test]
fn a_fork_goes_on_as_a_re_run_does() {
    for (seed, litmus, program) in programs(3_000..3_300, Size::default()) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::default();
        let mut execution = program.begin();
        let mut choices = Vec::new();
        while !matches!(execution.point(), Point::End(_)) {
            let mut again = program.begin();
            choices.iter().for_each(|&choice| again.advance(choice, &mut trace));
            let fork = execution.fork();
            assert_eq!(fork.state(), again.state(), "{seed}\n{litmus}");
            assert_eq!(fork.fingerprint(), again.fingerprint(), "{seed}\n{litmus}");
            let choice = Choice(rng.below(execution.point().alternatives()));
            choices.push(choice);
            execution.advance(choice, &mut trace);
            // The copy does not move.
            assert_eq!(fork.state(), again.state(), "{seed}\n{litmus}");
        }
    }
}
