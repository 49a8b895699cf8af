//! The search by preemptions with several workers: at every bound all executions, and each failure at its smallest bound.

use raddle_engine::board::Remains;
use raddle_engine::facts::Fact;
use raddle_engine::search::{Limits, Report};
use raddle_engine::strategy::{Strategy, Unit};
use raddle_litmus::Program;
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::{self, Bounded, Seen, Watched};
use raddle_strategies::tree::preemption::Preemption;

use crate::workers::{Play, play, play_within};

/// Small programs with their executions by the number of preemptions.
fn by_preemptions(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Program, Vec<Bounded>)> {
    seeds.filter_map(|seed| {
        let litmus = generate(seed, Size { threads: 3, steps: 8 });
        let program = Program::new(&litmus, "generated").expect("what is generated can be run");
        let bounded = oracle::preemptions(&program, 400).ok()?;
        (bounded.len() > 1).then_some((seed, program, bounded))
    })
}

fn up_to(bound: u32, cache: bool) -> Box<dyn Strategy> {
    let strategy = Preemption::up_to(bound);
    Box::new(if cache { strategy } else { strategy.without_cache() })
}

/// The fact that is reported about a failure with the fewest preemptions.
fn remark_on(within: &[Bounded]) -> Option<Fact> {
    let fewest = within.iter().position(Bounded::fails)?;
    Some(Fact::FoundWith(fewest as u32, Unit::Preemption))
}

/// True if exactly what exists up to the last of these bounds was run: without a cache each execution once, with a cache each trace.
fn covers(report: &Report, seen: &Seen, within: &[Bounded], cache: bool) -> bool {
    let orders: u64 = within.iter().map(Bounded::executions).sum();
    let exact = report.executions == orders && report.pruned == 0 && seen.is_exactly(within);
    seen.covers_exactly(within) && (cache || exact)
}

/// Checks every bound of these programs with several workers. Returns the number of executions.
fn all_bounds(seeds: std::ops::Range<u64>, lost: u32) -> u64 {
    let mut executions = 0;
    for (seed, program, bounded) in by_preemptions(seeds) {
        for (bound, workers, cache) in
            (0..bounded.len()).flat_map(|b| [(b, 2, false), (b, 5, false), (b, 2, true), (b, 5, true)])
        {
            let make = || up_to(bound as u32, cache);
            let within = &bounded[..=bound];
            let told =
                |report: &Report| format!("seed {seed}, bound {bound}, {workers} workers, cache {cache}: {report:?}");
            let mut watched = Watched::new(program.clone());
            let (report, remains) = play(&make, None, None, &mut watched, Play { seed, workers, lost });
            assert!(covers(&report, &watched.seen(), within, cache) && remains.is_empty(), "{}", told(&report));
            let remark = report.found.as_ref().and_then(|found| found.remark.clone());
            assert_eq!(remark, remark_on(within), "{}", told(&report));
            // Each prefix is visited once, by whichever worker, so the counts are the same. Work that was lost does not count.
            let alone =
                play(&make, None, None, &mut Watched::new(program.clone()), Play { seed, workers: 1, lost: 0 }).0;
            let counts = |report: &Report| (report.executions, report.pruned, report.failing, report.ended);
            assert_eq!(counts(&report), counts(&alone), "{}", told(&report));
            executions += report.executions;
        }
    }
    executions
}

#[test]
fn several_workers_cover_every_bound() {
    let executions = all_bounds(23_000..23_150, 0);
    assert!(executions > 10_000, "only {executions} executions");
}

#[test]
fn every_bound_is_covered_though_workers_are_lost() {
    let executions = all_bounds(24_000..24_150, 30);
    assert!(executions > 10_000, "only {executions} executions");
}

#[test]
fn a_resumed_search_by_preemptions_covers_the_same() {
    let mut sittings = 0;
    for (seed, program, bounded) in by_preemptions(25_000..25_100) {
        for (bound, cache) in (0..bounded.len()).flat_map(|bound| [(bound, false), (bound, true)]) {
            let make = || up_to(bound as u32, cache);
            let mut watched = Watched::new(program.clone());
            let mut from = None;
            let report = loop {
                let (report, remains) = play(&make, from, Some(7), &mut watched, Play { seed, workers: 3, lost: 0 });
                if remains.is_empty() {
                    break report;
                }
                sittings += 1;
                let text = serde_json::to_string(&remains).expect("what is left can be written down");
                let read: Remains = serde_json::from_str(&text).expect("what was written can be read");
                assert!(read.is_sound());
                from = Some(read);
            };
            let fine = covers(&report, &watched.seen(), &bounded[..=bound], cache);
            assert!(fine, "seed {seed}, bound {bound}, cache {cache}: {report:?}");
        }
    }
    assert!(sittings > 1_000, "only {sittings} sittings");
}

#[test]
fn the_first_failure_of_any_worker_has_the_fewest_preemptions() {
    let mut failing = 0;
    for (seed, program, bounded) in by_preemptions(27_000..27_200) {
        for (workers, cache) in [(1, true), (2, true), (5, true), (2, false), (5, false)] {
            let make = || up_to(u32::MAX, cache);
            let limits = Limits::default();
            let (report, _) = play_within(&limits, &make, None, &mut program.clone(), Play { seed, workers, lost: 0 });
            let remark = report.found.and_then(|found| found.remark);
            assert_eq!(remark, remark_on(&bounded), "seed {seed}, {workers} workers, cache {cache}");
            failing += u64::from(remark.is_some());
        }
    }
    assert!(failing > 100, "only {failing} failures");
}
