//! Interrupted and resumed searches by learned orderings, also with lost workers. An alternative is skipped only because a good execution had
//! its ordering, and a complete search runs everything. One worker at a time searches, however many there are.

use std::collections::BTreeSet;

use raddle_engine::board::Remains;
use raddle_engine::search::{Ended, Report};
use raddle_engine::strategy::{ByPiece, Claim, Summarize};
use raddle_litmus::conformance::{self, OracleLimits, Reference};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::Watched;
use raddle_litmus::{Litmus, Program};
use raddle_strategies::hapset::{Backtrack, Hapset, Knowledge, Statement};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::workers::{Play, play};

const SIZE: Size = Size { threads: 3, steps: 7 };

/// Small programs, with the oracle's counts.
fn programs(seeds: std::ops::Range<u64>, size: Size) -> impl Iterator<Item = (u64, Litmus, Program, Reference)> {
    seeds.filter_map(move |seed| {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").expect("what is generated can be run");
        let known = Reference::of(&program, OracleLimits { traces: 100, orders: 0, ..OracleLimits::default() })?;
        (known.traces() >= 3).then_some((seed, litmus, program, known))
    })
}

/// Simulates a search to its end, or for so many executions. The workers share what they learn with `first`.
fn play_shared(
    first: &Hapset,
    from: Option<Remains>,
    executions: Option<u64>,
    program: &mut Watched,
    how: Play,
) -> (Report, Remains) {
    play(&|| first.copy(), from, executions, program, how)
}

/// Checks that everything is run, and claimed. Returns by how many searches.
fn check_the_rest(seeds: std::ops::Range<u64>, size: Size, lost: u32) -> u64 {
    let mut done = 0;
    for (seed, litmus, program, known) in programs(seeds, size) {
        for workers in [2, 5] {
            let mut watched = Watched::new(program.clone());
            let first = Hapset::new().then_the_rest();
            let how = Play { seed, workers, lost };
            let (report, remains) = play_shared(&first, None, None, &mut watched, how);
            let told = format!("seed {seed}, {workers} workers, {} executions\n{litmus}", report.executions);
            assert_eq!(report.ended, Ended::Done(Claim::Exhausted), "{told}");
            let seen = watched.seen();
            assert_eq!((seen.traces(), &seen.ends), (known.counted.count.all, &known.counted.ends), "{told}");
            assert!(remains.is_empty(), "{told}");
            done += 1;
        }
    }
    done
}

#[test]
fn several_workers_see_all_of_the_rest() {
    let done = check_the_rest(46_000..46_150, SIZE, 0);
    assert!(done > 100, "{done}");
}

#[test]
fn no_part_of_the_rest_is_lost_with_workers() {
    let done = check_the_rest(46_500..46_600, SIZE, 30);
    assert!(done > 60, "{done}");
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn several_workers_see_all_of_the_rest_of_larger_programs() {
    let seeds = crate::seeds::seeds(300_000, 3_000);
    let size = Size { threads: 4, steps: 10 };
    let (without, with_losses) = (check_the_rest(seeds.clone(), size, 0), check_the_rest(seeds.clone(), size, 50));
    assert!(without + with_losses > seeds.end - seeds.start);
}

const KINDS: [Backtrack; 3] = [Backtrack::Dpor, Backtrack::Baseline, Backtrack::Preemption(u32::MAX)];

#[test]
fn several_workers_skip_only_known_orderings() {
    let mut done = 0;
    for (seed, litmus, program, known) in programs(47_000..47_150, SIZE) {
        for (backtrack, lost) in KINDS.into_iter().flat_map(|kind| [(kind, 0), (kind, 50)]) {
            let mut watched = Watched::new(program.clone());
            let how = Play { seed, workers: 3, lost };
            let first = Hapset::over(backtrack).reverse_all();
            let (report, _) = play_shared(&first, None, Some(3_000), &mut watched, how);
            if report.ended == Ended::BudgetSpent {
                continue;
            }
            assert_eq!(report.ended, Ended::Done(Claim::Selective), "{seed}\n{litmus}");
            let seen = watched.seen();
            let found = (seen.traces(), &seen.ends);
            assert_eq!(found, (known.counted.count.all, &known.counted.ends), "{backtrack:?}, {seed}\n{litmus}");
            done += 1;
        }
    }
    assert!(done > 200, "{done}");
}

/// What was learned, in an order that does not depend on the search.
fn in_order(of: &Hapset) -> Knowledge {
    Knowledge::default().merged_with(&of.export_knowledge())
}

fn pairs(of: &Hapset) -> BTreeSet<(Statement, Statement)> {
    let knowledge = of.export_knowledge();
    knowledge.pairs().map(|(of, before, _)| (of.clone(), before.clone())).collect()
}

/// A guided search by several workers ends, and learns only orderings of good executions.
#[test]
fn what_several_workers_know_was_seen_in_good_executions() {
    let (mut failing, mut shorter, mut all) = (0, 0, 0);
    for (seed, litmus, program, known) in programs(48_000..48_400, SIZE) {
        let mut everything = Hapset::new().reverse_all();
        let (whole, seen) = conformance::run(&program, &mut everything, 3_000);
        if whole.ended == Ended::BudgetSpent || seen.traces() != known.counted.count.all {
            continue;
        }
        for backtrack in [Backtrack::Dpor, Backtrack::Baseline, Backtrack::Preemption(2)] {
            let first = Hapset::over(backtrack);
            let mut watched = Watched::new(program.clone());
            let how = Play { seed, workers: 3, lost: 0 };
            let (report, _) = play_shared(&first, None, Some(5_000), &mut watched, how);
            assert_eq!(report.ended, Ended::Done(Claim::Selective), "{backtrack:?}, {seed}\n{litmus}");
            // After a failure, the strategy exports nothing.
            let known_to_be_good = whole.failing > 0 || pairs(&first).is_subset(&pairs(&everything));
            assert!(known_to_be_good, "{backtrack:?}, {seed}\n{litmus}");
            assert!(first.orderings() <= everything.orderings(), "{backtrack:?}, {seed}\n{litmus}");
            all += 1;
            failing += u64::from(report.failing > 0);
            shorter += u64::from(watched.seen().traces() < known.counted.count.all);
        }
    }
    assert!(all > 300 && failing > 20 && shorter > 50, "{all}, {failing}, {shorter}");
}

/// Only failing executions have the load immediately after the store, so no search may learn this ordering.
#[test]
fn nobody_learns_from_executions_that_fail() {
    let text = "shared x = 0; shared y = 0;
        thread setter { store(x, 1); }
        thread reader { t = load(x); assert t == 0; }
        thread adder(i in 1..=3) { t = add(y, 1); t = add(y, 1); }";
    let program = Program::new(&Litmus::parse(text).expect("it is written well"), "failing").expect("it can be run");
    for (seed, backtrack) in (0..10).flat_map(|seed| KINDS.map(|kind| (seed, kind))) {
        for (lost, first) in [(0, Hapset::over(backtrack)), (50, Hapset::over(backtrack).then_the_rest())] {
            let how = Play { seed, workers: 3, lost };
            let (report, _) = play_shared(&first, None, Some(2_000), &mut Watched::new(program.clone()), how);
            assert!(report.failing > 0, "{backtrack:?}, {seed}: it is found");
            assert_eq!(
                first.orderings(),
                2,
                "{backtrack:?}, {seed}: the store after the load, and adding after adding"
            );
        }
    }
}

type Make = fn() -> Hapset;

const MADE: [Make; 6] = [
    Hapset::new,
    || Hapset::over(Backtrack::Baseline),
    || Hapset::over(Backtrack::Preemption(1)),
    Hapset::over_few_preemptions,
    || Hapset::new().learn(9, 5),
    || Hapset::new().then_the_rest(),
];

/// Searches in parts of so many executions each. Each part resumes from what the previous one has saved.
fn in_sittings(make: Make, each: u64, program: &mut Watched, how: Play) -> (Report, Hapset, u64) {
    let mut from = None;
    for sittings in 1.. {
        let first = make();
        let (report, remains) = play_shared(&first, from.take(), Some(each), program, how);
        if remains.is_empty() {
            return (report, first, sittings);
        }
        let text = serde_json::to_string(&remains).expect("what is left can be written down");
        let read: Remains = serde_json::from_str(&text).expect("what was written can be read");
        assert!(read.fits(&mut make()), "{text}");
        from = Some(read);
    }
    unreachable!("the numbers end before a search does")
}

#[test]
fn a_search_in_several_sittings_is_the_same_search() {
    let mut sittings = 0;
    for (seed, litmus, program, known) in programs(49_000..49_060, SIZE) {
        for (at, make) in MADE.into_iter().enumerate() {
            let alone = Play { seed, workers: 1, lost: 0 };
            let (whole, parts) = (make(), &mut Watched::new(program.clone()));
            let (once, _) = play_shared(&whole, None, None, &mut Watched::new(program.clone()), alone);
            let (report, last, needed) = in_sittings(make, 3, parts, alone);
            sittings += needed;
            let told = format!("{at}, seed {seed}, {needed} sittings\n{litmus}");
            assert_eq!(report.ended, once.ended, "{told}");
            if at < 5 {
                assert_eq!((report.executions, report.guarantee), (once.executions, once.guarantee), "{told}");
                assert_eq!((last.facts(), in_order(&last)), (whole.facts(), in_order(&whole)), "{told}");
            } else {
                let seen = parts.seen();
                assert_eq!((seen.traces(), &seen.ends), (known.counted.count.all, &known.counted.ends), "{told}");
            }
        }
    }
    assert!(sittings > 600, "{sittings}");
}

#[test]
fn several_workers_may_stop_and_go_on() {
    for (seed, litmus, program, known) in programs(49_200..49_300, SIZE) {
        let mut watched = Watched::new(program.clone());
        let how = Play { seed, workers: 3, lost: 0 };
        let (report, _, _) = in_sittings(|| Hapset::new().then_the_rest(), 5, &mut watched, how);
        let seen = watched.seen();
        assert_eq!(report.ended, Ended::Done(Claim::Exhausted), "{seed}\n{litmus}");
        assert_eq!((seen.traces(), &seen.ends), (known.counted.count.all, &known.counted.ends), "{seed}\n{litmus}");
    }
}

#[test]
fn what_another_search_has_left_does_not_fit() {
    let (_, _, program, _) = programs(49_000..49_100, SIZE).next().expect("some are small");
    let how = Play { seed: 1, workers: 1, lost: 0 };
    let left = |make: Make| play_shared(&make(), None, Some(2), &mut Watched::new(program.clone()), how).1;
    assert!(left(Hapset::new).fits(&mut Hapset::new()));
    assert!(!left(Hapset::new).fits(&mut Exhaustive::depth_first()));
    let (_, remains) = play(&|| Box::new(Optimal::new()), None, Some(2), &mut Watched::new(program.clone()), how);
    assert!(remains.fits(&mut Optimal::new()) && !remains.fits(&mut Hapset::new()), "nothing was learnt");
}
