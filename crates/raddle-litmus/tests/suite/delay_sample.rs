//! Stratified sampling: every execution is drawn as often as the tree of all executions predicts, and not less often than is guaranteed.

mod recording;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use raddle_engine::board::Remains;
use raddle_engine::facts::Fact;
use raddle_engine::ids::TaskId;
use raddle_engine::search::{Limits, Report, Search, search};
use raddle_engine::strategy::Strategy;
use raddle_engine::system::{self, Choice, Describe, Point, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::{Program, oracle};
use raddle_strategies::states::delay::{
    Delay, DelayHybrid, DelaySample, DelayingExplorer, Event, ProbabilisticRoundRobin, RoundRobin, RunToCompletion,
};

pub(crate) use self::recording::Recording;
use self::tree::Tree;
use crate::workers::{Play, play_within};

const SIZE: Size = Size { threads: 3, steps: 7 };

/// The end of the execution with these choices.
fn end_of(program: &Program, choices: &[u32]) -> u64 {
    let mut trace = Trace::default();
    let mut system = system::Program::start(&mut program.clone(), 0, &mut trace);
    choices.iter().for_each(|choice| system.advance(Choice(*choice), &mut trace));
    system.fingerprint().expect("litmus programs can be seen")
}

const LIMITS: Limits =
    Limits { executions: None, time: None, total_steps: None, steps: 100_000, keep_going: true, repeats: false };

/// The rest of a search that has only `samples` samples, none of which was drawn.
fn first(samples: u64, strategy: &mut dyn Strategy) -> Remains {
    let limits = Limits { executions: Some(0), ..LIMITS };
    let (_, remains) = Search::new(strategy, &limits, 1).leave(Vec::new());
    let text = serde_json::to_string(&remains).expect("what is left can be written down");
    let text = text.replace(&u64::MAX.to_string(), &samples.to_string());
    serde_json::from_str(&text).expect("what was written can be read")
}

/// Runs the first samples with one worker.
fn run(program: &mut Recording, strategy: &mut dyn Strategy, samples: u64, forks: bool) -> Report {
    let remains = first(samples, strategy);
    let search = Search::resume(strategy, &LIMITS, 1, remains);
    let search = if forks { search } else { search.without_forks() };
    let mut worker = search.worker(strategy);
    let _ = worker.work(program);
    search.close(vec![worker])
}

/// Small programs with more than one execution.
fn generated(seeds: std::ops::Range<u64>, orders: u128) -> impl Iterator<Item = (u64, Program, u128)> {
    seeds.filter_map(move |seed| {
        let program = Program::new(&generate(seed, SIZE), "generated").expect("what is generated can be run");
        let all = oracle::executions(&program, crate::MAX_ORACLE_STATES).ok()?.count.all;
        (2..=orders).contains(&all).then_some((seed, program, all))
    })
}

fn check_bound<E: DelayingExplorer + Clone>(seed: u64, program: &Program, orders: u128, explorer: &E) {
    let tree = Tree::of(program, explorer);
    let executions = tree.executions();
    // Each execution is in exactly one stratum.
    assert_eq!(executions.len() as u128, orders, "seed {seed}");
    let longest = executions.iter().map(|execution| tree.length(execution)).max().unwrap_or(0) as f64;
    let mut strata: BTreeMap<usize, f64> = BTreeMap::new();
    for execution in &executions {
        let delays: usize = execution.iter().sum();
        let probability = tree.probability(execution);
        let promised = longest.powf(-(delays as f64));
        assert!(probability >= promised * (1.0 - 1e-9), "seed {seed}: {execution:?}: {probability} < {promised}");
        *strata.entry(delays).or_default() += probability;
    }
    // The rest is the probability that a sample ends at a point without a further delay.
    assert!(strata.values().all(|sum| *sum <= 1.0 + 1e-9), "seed {seed}: {strata:?}");
    assert!((strata[&0] - 1.0).abs() < 1e-9 && (strata[&1] - 1.0).abs() < 1e-9, "seed {seed}: {strata:?}");
}

#[test]
fn no_execution_is_less_likely_than_is_promised() {
    for (seed, program, orders) in generated(60_000..60_300, 1_000) {
        check_bound(seed, &program, orders, &RoundRobin::default());
        check_bound(seed, &program, orders, &RunToCompletion::default());
        check_bound(seed, &program, orders, &ProbabilisticRoundRobin::new(seed));
    }
}

/// The number of samples with one delay; each further stratum has twice as many.
const DRAWN: u32 = 400;

/// The chi-square distance of the drawn executions from the expected ones, over all strata that were sampled.
fn check_frequencies<E: DelayingExplorer + Clone + Send + 'static>(seed: u64, program: &Program, explorer: &E) -> u32 {
    let tree = Tree::of(program, explorer);
    let mut strategy = DelaySample::new(explorer.clone(), seed).with_samples(DRAWN / 2, 2);
    let mut recording = Recording::new(program);
    let samples = 1 + u64::from(DRAWN) * 7;
    let report = run(&mut recording, &mut strategy, samples, true);
    let mut seen: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    recording.ends().into_iter().for_each(|end| *seen.entry(end).or_default() += 1);
    assert_eq!(report.executions, seen.values().map(|times| u64::from(*times)).sum::<u64>());
    let mut cells = 0;
    // Each sample with three delays contains one with two and one with one.
    for (delays, draws) in [(1, DRAWN * 7), (2, DRAWN * 6), (3, DRAWN * 4)] {
        let (mut distance, mut degrees) = (0.0, 0);
        for execution in tree.executions().iter().filter(|execution| execution.iter().sum::<usize>() == delays) {
            let expected = tree.probability(execution) * f64::from(draws);
            let drawn = seen.remove(&tree.choices(execution)).unwrap_or(0);
            distance += (f64::from(drawn) - expected).powi(2) / expected;
            degrees += 1;
        }
        // Five standard deviations of the chi-square distribution, and more where there are few cells.
        let most = f64::from(degrees) + 5.0 * f64::from(2 * degrees).sqrt() + 10.0;
        assert!(distance < most, "seed {seed}, {delays} delays: {distance} > {most} with {degrees} executions");
        cells += degrees;
    }
    // The execution without delays is run once, and no execution has more delays than requested.
    assert_eq!(seen.into_values().collect::<Vec<_>>(), [1], "seed {seed}");
    cells
}

#[test]
fn each_execution_is_drawn_as_often_as_it_is_likely() {
    let mut cells = 0;
    for (seed, program, _) in generated(61_000..61_020, 60) {
        cells += check_frequencies(seed, &program, &RoundRobin::default());
        cells += check_frequencies(seed, &program, &RunToCompletion::default());
    }
    assert!(cells > 50, "only {cells} executions were counted");
}

#[test]
fn several_workers_draw_the_same_samples_as_one() {
    let failure = |report: &Report| {
        report.found.as_ref().map(|found| (found.after, found.remark.clone(), format!("{:?}", found.script)))
    };
    let mut failing = 0;
    for (seed, program, _) in generated(62_000..62_040, 5_000) {
        let make = || -> Box<dyn Strategy> { Box::new(DelaySample::new(RunToCompletion::default(), seed)) };
        let samples = 1 + 20 + 40 + 80;
        let mut alone = Recording::new(&program);
        let report = run(&mut alone, &mut *make(), samples, true);
        let mut plain = alone.ends();
        let without_delay = plain[0].clone();
        let sorted = |ends: Vec<Vec<u32>>| {
            let mut ends: Vec<_> = ends.into_iter().filter(|end| *end != without_delay).collect();
            ends.sort();
            ends
        };
        let mut again = Recording::new(&program);
        let longer = run(&mut again, &mut *make(), samples, false);
        assert_eq!((again.ends(), longer.executions), (plain.clone(), report.executions), "seed {seed}: copies differ");
        plain = sorted(plain);
        for (workers, lost) in [(2, 0), (5, 0), (3, 500)] {
            let play = Play { seed, workers, lost };
            let mut recording = Recording::new(&program);
            let from = Some(first(samples, &mut *make()));
            let (shared, remains) = play_within(&LIMITS, &make, from, &mut recording, play);
            assert!(remains.is_empty(), "seed {seed}");
            assert_eq!(shared.executions, report.executions, "seed {seed}, {workers} workers");
            assert_eq!(failure(&shared), failure(&report), "seed {seed}, {workers} workers");
            failing += u32::from(shared.failing > 0);
            let ends = sorted(recording.ends());
            if lost == 0 {
                assert_eq!(ends, plain, "seed {seed}, {workers} workers");
            } else {
                // The samples of a lost worker are drawn again.
                let once = |ends: &[Vec<u32>]| ends.iter().cloned().collect::<BTreeSet<_>>();
                assert_eq!(once(&ends), once(&plain), "seed {seed}, workers are lost");
            }
        }
    }
    assert!(failing > 0, "none of the programs fails");
}

#[test]
fn the_guarantee_is_reported() {
    let program = crate::program("shared x = 0; thread a { store(x, 1); store(x, 2); } thread b { store(x, 3); }");
    let sample = |program: &Program, executions| {
        let limits = Limits { executions: Some(executions), ..LIMITS };
        search(&mut program.clone(), &mut DelaySample::new(RoundRobin::default(), 1), &limits)
    };
    // Two points have an alternative, and no execution has more than one delay, so a sample is one execution. Of 61 samples, 60 have a
    // delay, and 40 were meant to have two.
    let told = |executions| match sample(&program, executions).guarantee? {
        Fact::Drawn { chances, beyond_search: false, points: 2 } => {
            assert!(chances.iter().all(|(_, chance)| *chance > 0.9999 && *chance <= 1.0), "{chances:?}");
            Some(chances.into_iter().map(|(delays, _)| delays).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(told(20), None);
    assert_eq!(told(21), Some(vec![1]));
    assert_eq!(told(60), Some(vec![1]));
    assert_eq!(told(61), Some(vec![1, 2]));
    let report = sample(&crate::program("shared x = 0; thread a { store(x, 1); }"), 100);
    assert!(report.verified() && report.executions == 1 && report.guarantee.is_none(), "{report:?}");
}

/// All ends, by the executions that lead there.
fn ends(program: &Program, explorer: &RoundRobin) -> BTreeSet<u64> {
    let tree = Tree::of(program, explorer);
    tree.executions().iter().map(|execution| end_of(program, &tree.choices(execution))).collect()
}

#[test]
fn samples_reach_all_that_the_search_has_left() {
    let explorer = RoundRobin::default();
    let mut sampled = 0;
    for (seed, program, _) in generated(63_000..63_060, 200) {
        let all = ends(&program, &explorer);
        for share in [1, 2, 5] {
            let mut recording = Recording::new(&program);
            let limits = Limits { executions: Some(1_500), ..LIMITS };
            let mut strategy = DelayHybrid::new(explorer.clone(), seed).with_share(share, u64::MAX);
            let report = search(&mut recording, &mut strategy, &limits);
            let seen: BTreeSet<u64> = recording.ends().iter().map(|choices| end_of(&program, choices)).collect();
            assert_eq!(seen, all, "seed {seed}, after {share} executions: {report:?}");
            sampled += u32::from(report.guarantee.is_some());
        }
    }
    assert!(sampled > 20, "only {sampled} were sampled");
}

#[test]
fn a_search_that_ends_within_its_share_is_not_sampled() {
    for (seed, program, _) in generated(64_000..64_060, 2_000) {
        let alone = search(&mut program.clone(), &mut Delay::new(RoundRobin::default()), &LIMITS);
        let hybrid = search(&mut program.clone(), &mut DelayHybrid::new(RoundRobin::default(), seed), &LIMITS);
        assert_eq!((hybrid.states, hybrid.executions), (alone.states, alone.executions), "seed {seed}");
        assert_eq!((hybrid.ended, hybrid.guarantee), (alone.ended, None), "seed {seed}");
    }
}

/// The probabilities in a guarantee, for no further delay, one, and so on.
fn promised(guarantee: Fact) -> Vec<f64> {
    let Fact::Drawn { chances, .. } = guarantee else { panic!("{guarantee:?}") };
    chances.into_iter().map(|(_, chance)| chance).collect()
}

#[test]
fn what_a_search_has_left_is_drawn_no_less_often_than_is_promised() {
    const SEEDS: u32 = 250;
    let explorer = RoundRobin::default();
    let mut checked = 0;
    for (seed, program, _) in generated(65_000..65_030, 60) {
        let tree = Tree::of(&program, &explorer);
        // There is one execution without delays. The frontier begins with the first delay of each other execution.
        let left: Vec<Vec<usize>> =
            tree.executions().into_iter().filter(|ranks| ranks.iter().sum::<usize>() > 0).collect();
        let mut drawn = vec![0_u32; left.len()];
        let mut least: Option<Vec<f64>> = None;
        for number in 0..u64::from(SEEDS) {
            let mut recording = Recording::new(&program);
            let limits = Limits { executions: Some(60), ..LIMITS };
            let mut strategy = DelayHybrid::new(explorer.clone(), number).with_share(1, u64::MAX);
            let report = search(&mut recording, &mut strategy, &limits);
            let promised = promised(report.guarantee.expect("some rounds are complete"));
            least = Some(least.map_or(promised.clone(), |least| {
                least.iter().zip(&promised).map(|(one, other)| one.min(*other)).collect()
            }));
            let ends: BTreeSet<Vec<u32>> = recording.ends().into_iter().collect();
            for (execution, drawn) in left.iter().zip(&mut drawn) {
                *drawn += u32::from(ends.contains(&tree.choices(execution)));
            }
        }
        let least = least.expect("there are seeds");
        for (execution, drawn) in left.iter().zip(&drawn) {
            let more = execution.iter().sum::<usize>() - 1;
            let Some(promised) = least.get(more) else { continue };
            let spread = (promised * (1.0 - promised) / f64::from(SEEDS)).sqrt();
            let often = f64::from(*drawn) / f64::from(SEEDS);
            assert!(often >= promised - 5.0 * spread, "seed {seed}: {execution:?}: {often}, promised {promised}");
            checked += u32::from(*promised > 0.05);
        }
    }
    assert!(checked > 30, "only {checked} were promised much");
}

#[test]
fn several_workers_search_and_sample_as_one_does() {
    let explorer = RoundRobin::default();
    for (seed, program, _) in generated(66_000..66_040, 60) {
        let all = ends(&program, &explorer);
        for (workers, lost) in [(1, 0), (2, 0), (4, 0), (3, 1_000)] {
            let make = || -> Box<dyn Strategy> {
                Box::new(DelayHybrid::new(RoundRobin::default(), seed).with_share(3, u64::MAX))
            };
            let limits = Limits { executions: Some(3_000), ..LIMITS };
            let mut recording = Recording::new(&program);
            let play = Play { seed, workers, lost };
            let (report, _) = play_within(&limits, &make, None, &mut recording, play);
            let seen: BTreeSet<u64> = recording.ends().iter().map(|choices| end_of(&program, choices)).collect();
            assert_eq!(seen, all, "seed {seed}, {workers} workers: {report:?}");
        }
    }
}

#[test]
fn resumed_samples_are_the_same() {
    for (seed, program, _) in generated(67_000..67_030, 2_000) {
        let make = || -> Box<dyn Strategy> { Box::new(DelaySample::new(RoundRobin::default(), seed)) };
        let samples = 1 + 20 + 40;
        let mut whole = Recording::new(&program);
        let report = run(&mut whole, &mut *make(), samples, true);
        let mut pieces = Recording::new(&program);
        let mut from = first(samples, &mut *make());
        let parts = loop {
            let limits = Limits { executions: Some(7), ..LIMITS };
            let (report, remains) =
                play_within(&limits, &make, Some(from), &mut pieces, Play { seed, workers: 2, lost: 0 });
            if remains.is_empty() {
                break report;
            }
            let text = serde_json::to_string(&remains).expect("what is left can be written down");
            from = serde_json::from_str(&text).expect("what was written can be read");
        };
        // A sample during which the search was interrupted is drawn again from its start.
        let once = |recording: &Recording| recording.ends().into_iter().collect::<BTreeSet<_>>();
        assert_eq!(once(&pieces), once(&whole), "seed {seed}");
        assert_eq!(parts.failing > 0, report.failing > 0, "seed {seed}");
    }
}

#[test]
fn a_resumed_hybrid_continues_with_its_samples() {
    let explorer = RoundRobin::default();
    for (seed, program, _) in generated(68_000..68_020, 200) {
        let all = ends(&program, &explorer);
        let make =
            || -> Box<dyn Strategy> { Box::new(DelayHybrid::new(RoundRobin::default(), seed).with_share(2, u64::MAX)) };
        let mut recording = Recording::new(&program);
        let mut from: Option<Remains> = None;
        for _ in 0..30 {
            let limits = Limits { executions: Some(50), ..LIMITS };
            let play = Play { seed, workers: 2, lost: 0 };
            let (_, remains) = play_within(&limits, &make, from, &mut recording, play);
            let text = serde_json::to_string(&remains).expect("what is left can be written down");
            let read: Remains = serde_json::from_str(&text).expect("what was written can be read");
            assert!(read.is_sound());
            from = Some(read);
        }
        let seen: BTreeSet<u64> = recording.ends().iter().map(|choices| end_of(&program, choices)).collect();
        assert_eq!(seen, all, "seed {seed}");
    }
}

/// Without a cache, a search by delays runs every execution once, each in the stratum of its delays.
#[test]
fn strata_part_the_executions() {
    let mut deep = 0;
    for (seed, program, orders) in generated(69_000..69_100, 300) {
        let explorer = RunToCompletion::default();
        let tree = Tree::of(&program, &explorer);
        let executions = tree.executions();
        let most = executions.iter().map(|ranks| ranks.iter().sum::<usize>()).max().unwrap_or(0);
        deep += u32::from(most > 2);
        for bound in 0..=most {
            let within = executions.iter().filter(|ranks| ranks.iter().sum::<usize>() <= bound);
            let mut within: Vec<Vec<u32>> = within.map(|ranks| tree.choices(ranks)).collect();
            let mut recording = Recording::new(&program);
            let delays = u32::try_from(bound).expect("there are few");
            search(&mut recording, &mut Delay::new(explorer.clone()).with_states(0).up_to(delays), &LIMITS);
            let mut seen = recording.ends();
            within.sort();
            seen.sort();
            assert_eq!(seen, within, "seed {seed}, up to {bound}");
        }
        assert_eq!(executions.len() as u128, orders, "seed {seed}");
    }
    assert!(deep > 10, "only {deep} were deep enough");
}
