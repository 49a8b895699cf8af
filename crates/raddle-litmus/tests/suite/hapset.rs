//! Search by learned orderings: it skips an alternative only because its ordering was seen.

use raddle_engine::search::Ended;
use raddle_engine::strategy::Claim;
use raddle_litmus::conformance::{self, OracleLimits, Reference};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::{Litmus, Program};
use raddle_strategies::hapset::{Backtrack, Hapset};

use crate::read;

/// Small programs, with the oracle's counts.
fn programs(
    seeds: std::ops::Range<u64>,
    size: Size,
    traces: u64,
) -> impl Iterator<Item = (u64, Litmus, Program, Reference)> {
    seeds.filter_map(move |seed| {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").unwrap_or_else(|error| panic!("{seed}: {error}\n{litmus}"));
        let limits = OracleLimits { traces, orders: 0, ..OracleLimits::default() };
        Reference::of(&program, limits).map(|known| (seed, litmus, program, known))
    })
}

const SIZE: Size = Size { threads: 3, steps: 7 };

/// Checks that nothing is skipped if every reversal counts as new. Returns how many programs were done in time.
fn check_heedless(seeds: std::ops::Range<u64>, size: Size, traces: u64) -> u64 {
    let mut done = 0;
    for (seed, litmus, program, known) in programs(seeds, size, traces) {
        for backtrack in [Backtrack::Dpor, Backtrack::Baseline, Backtrack::Preemption(u32::MAX)] {
            let (report, seen) = conformance::run(&program, &mut Hapset::over(backtrack).reverse_all(), 3_000);
            if report.ended == Ended::BudgetSpent {
                continue;
            }
            assert_eq!(report.ended, Ended::Done(Claim::Selective), "{seed}\n{litmus}");
            let found = (seen.traces(), &seen.ends);
            assert_eq!(found, (known.counted.count.all, &known.counted.ends), "{backtrack:?}, {seed}\n{litmus}");
            done += 1;
        }
    }
    done
}

#[test]
fn only_known_orderings_are_skipped() {
    let done = check_heedless(40_000..40_150, SIZE, 60);
    assert!(done > 250, "{done}");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn only_known_orderings_are_skipped_in_larger_programs() {
    let done = check_heedless(41_000..44_000, Size { threads: 4, steps: 9 }, 300);
    assert!(done > 3_000, "{done}");
}

#[test]
fn the_guided_search_proves_nothing_and_the_rest_everything() {
    let (mut several, mut fewer) = (0, 0);
    for (seed, litmus, program, known) in programs(45_000..45_200, SIZE, 100) {
        let (guided, seen) = conformance::run(&program, &mut Hapset::new(), 10_000);
        assert_eq!(guided.ended, Ended::Done(Claim::Selective), "{seed}\n{litmus}");
        assert!(!guided.verified());
        assert!(seen.ends.is_subset(&known.counted.ends), "{seed}\n{litmus}");
        several += u64::from(known.traces() > 3);
        fewer += u64::from(seen.traces() < known.counted.count.all);
        let (all, seen) = conformance::run(&program, &mut Hapset::new().then_the_rest(), 10_000);
        assert_eq!(all.ended, Ended::Done(Claim::Exhausted), "{seed}\n{litmus}");
        let found = (seen.traces(), &seen.ends);
        assert_eq!(found, (known.counted.count.all, &known.counted.ends), "{seed}\n{litmus}");
        // These executions take turns with those of a search that runs each trace once.
        assert!(all.executions <= guided.executions + 2 * known.traces() + 1, "{seed}: {}\n{litmus}", all.executions);
    }
    assert!(several > 60 && fewer > 40, "{several}, {fewer}");
}

#[test]
fn the_rest_is_searched_of_published_programs_too() {
    for name in ["lastzero-5", "philosophers-3", "reorder-3", "twostage", "two-phase-commit-3", "relay-per-sender"] {
        let program = Program::new(&read(name), name).expect("the program is fine");
        let known =
            Reference::of(&program, OracleLimits { orders: 0, ..OracleLimits::default() }).expect("it is small");
        let (all, seen) = conformance::run(&program, &mut Hapset::new().then_the_rest(), 100_000);
        assert_eq!(all.ended, Ended::Done(Claim::Exhausted), "{name}");
        assert_eq!((seen.traces(), &seen.ends), (known.counted.count.all, &known.counted.ends), "{name}");
    }
}
