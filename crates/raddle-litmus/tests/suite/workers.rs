//! Several workers run the same traces as one, each once, in any interleaving of the workers; also if workers are lost, and if the
//! search is interrupted, saved and resumed. Optimal reduction even runs the same executions, and prunes nothing.
//!
//! The workers are simulated on one thread, one execution at a time, in random order, so that a failure can be reproduced from its seed.

use raddle_engine::board::Remains;
use raddle_engine::rng::Rng;
use raddle_engine::search::{Ended, Limits, Report, Search, SnapshotStack, Status};
use raddle_engine::strategy::{Claim, Sharing, Strategy};
use raddle_engine::system;
use raddle_litmus::conformance::run;
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::{self, Counted, Seen, Watched};
use raddle_litmus::{Litmus, Program};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::MAX_ORACLE_STATES;

const SIZE: Size = Size { threads: 4, steps: 10 };

type Make = fn() -> Box<dyn Strategy>;

pub(crate) type Maker<'a> = &'a dyn Fn() -> Box<dyn Strategy>;

/// What happens to the workers.
#[derive(Clone, Copy)]
pub(crate) struct Play {
    pub(crate) seed: u64,
    pub(crate) workers: usize,
    /// In one of so many turns, a worker is lost with everything it has not committed.
    pub(crate) lost: u32,
}

/// How many turns the first worker has at most before the others join: then it shares its work late.
const ALONE: u32 = 300;

/// The same strategy for one more worker.
fn copy(first: &mut dyn Strategy) -> Box<dyn Strategy> {
    match first.sharing() {
        Sharing::Alone => panic!("{} is not shared", first.needs().name),
        Sharing::ByNumber(by_number) => by_number.copy(),
        Sharing::ByPiece(by_piece) => by_piece.copy(),
    }
}

/// Whether several workers can share the search.
fn splits(strategy: &mut dyn Strategy) -> bool {
    match strategy.sharing() {
        Sharing::ByPiece(by_piece) => by_piece.splits(),
        Sharing::Alone | Sharing::ByNumber(_) => true,
    }
}

/// Simulates the search to its end, or for so many executions.
pub(crate) fn play(
    make: Maker<'_>,
    from: Option<Remains>,
    executions: Option<u64>,
    program: &mut Watched,
    play: Play,
) -> (Report, Remains) {
    let limits = Limits { executions, keep_going: true, ..Limits::default() };
    play_within(&limits, make, from, program, play)
}

pub(crate) fn play_within<P: system::Program>(
    limits: &Limits,
    make: Maker<'_>,
    from: Option<Remains>,
    program: &mut P,
    play: Play,
) -> (Report, Remains) {
    let mut rng = Rng::new(play.seed);
    let mut first = make();
    let search = match from {
        None => Search::new(&mut *first, limits, play.workers),
        Some(remains) => Search::resume(&mut *first, limits, play.workers, remains),
    };
    // Where one worker does everything, it commits seldom, and would begin anew again and again.
    let mut losses = if splits(&mut *first) { u32::MAX } else { 3 };
    let mut fresh = || Some((search.worker_with(copy(&mut *first)), SnapshotStack::default()));
    let mut all_workers: Vec<_> = (0..play.workers).map(|_| fresh()).collect();
    let mut alone = rng.below(2) * rng.below(ALONE);
    while all_workers.iter().any(Option::is_some) {
        let turn = if alone > 0 && all_workers[0].is_some() { 0 } else { rng.below(play.workers as u32) as usize };
        alone = alone.saturating_sub(1);
        let Some((worker, snapshots)) = &mut all_workers[turn] else { continue };
        if worker.work_a_little(program, snapshots) == Some(Status::Over) {
            all_workers[turn] = None;
        } else if play.lost > 0 && losses > 0 && rng.below(play.lost) == 0 {
            losses -= 1;
            all_workers[turn] = fresh();
        }
    }
    drop(all_workers);
    let first = search.worker(&mut *first);
    search.leave(vec![first])
}

fn generated(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Program, Counted)> {
    seeds.filter_map(|seed| {
        let litmus = generate(seed, SIZE);
        let program = Program::new(&litmus, "generated").expect("what is generated can be run");
        let counted = oracle::traces(&program, MAX_ORACLE_STATES).ok()?;
        (3..=300).contains(&counted.count.all).then_some((seed, program, counted))
    })
}

const ALGORITHMS: [(&str, Make); 6] = [
    ("optimal", || Box::new(Optimal::new())),
    ("source", || Box::new(Dpor::source())),
    ("classic", || Box::new(Dpor::classic())),
    ("depth-first", || Box::new(Exhaustive::depth_first())),
    ("breadth-first", || Box::new(Exhaustive::breadth_first())),
    ("random", || Box::new(Exhaustive::random(1))),
];

fn reduces(name: &str) -> bool {
    matches!(name, "optimal" | "source" | "classic")
}

/// Without reduction there may be thousands of times as many executions.
fn few_orders(program: &Program) -> bool {
    oracle::executions(program, MAX_ORACLE_STATES).is_ok_and(|counted| counted.count.all <= 500)
}

/// What one worker runs that does everything.
fn alone(make: Make, program: &Program) -> Seen {
    run(program, &mut *make(), u64::MAX).1
}

/// Returns what is wrong with the result. Only reductions with sleep sets guarantee to run nothing twice.
fn fault(name: &str, counted: &Counted, report: &Report, seen: &Seen, whole: bool) -> Option<String> {
    let told = || format!("{name}: {} executions, {} blocked", report.executions, report.pruned);
    let traces = u64::try_from(counted.count.all).expect("there are few");
    if seen.traces() != counted.count.all || seen.ends != counted.ends {
        return Some(format!("{}, {} traces of {traces}", told(), seen.traces()));
    }
    let once = matches!(name, "optimal" | "source");
    if once && (report.executions != traces || u128::from(report.failing) != counted.count.failing) {
        return Some(format!("{}, but {traces} traces", told()));
    }
    if once && whole && seen.most_often() != 1 {
        return Some(format!("{}, one {} times", told(), seen.most_often()));
    }
    if name == "optimal" && report.pruned > 0 {
        return Some(format!("{}, but nothing is to be pruned", told()));
    }
    (report.ended != Ended::Done(Claim::Exhausted)).then(|| format!("{}, ended {:?}", told(), report.ended))
}

/// Returns the number of executions of the optimal reduction.
fn all_algorithms(seeds: std::ops::Range<u64>, lost: u32) -> u64 {
    let mut executions = 0;
    for (seed, program, counted) in generated(seeds) {
        for (name, make) in ALGORITHMS {
            if !reduces(name) && !few_orders(&program) {
                continue;
            }
            let alone = (name == "optimal").then(|| alone(make, &program));
            let crowds: &[usize] = if alone.is_some() { &[2, 5, 16] } else { &[2, 5] };
            for &workers in crowds {
                let mut watched = Watched::new(program.clone());
                let (report, remains) = play(&make, None, None, &mut watched, Play { seed, workers, lost });
                let seen = watched.seen();
                let fault = fault(name, &counted, &report, &seen, lost == 0);
                assert!(fault.is_none() && remains.is_empty(), "seed {seed}, {workers} workers, {fault:?}");
                if let Some(alone) = &alone {
                    assert!(seen.same_executions(alone), "seed {seed}, {workers} workers: other executions");
                    executions += report.executions;
                }
            }
        }
    }
    executions
}

#[test]
fn several_workers_run_every_trace_once() {
    let executions = all_algorithms(20_000..20_400, 0);
    assert!(executions > 10_000, "only {executions} executions");
}

#[test]
fn nothing_is_lost_or_counted_twice_when_workers_are_lost() {
    let executions = all_algorithms(21_000..21_200, 100);
    assert!(executions > 5_000, "only {executions} executions");
}

#[test]
fn a_resumed_search_has_the_same_totals() {
    for (seed, program, counted) in generated(22_000..22_150) {
        for (name, make) in ALGORITHMS {
            if !reduces(name) && !few_orders(&program) {
                continue;
            }
            let mut watched = Watched::new(program.clone());
            let mut from = None;
            let mut sittings = 0;
            let (report, _) = loop {
                let (report, remains) = play(&make, from, Some(7), &mut watched, Play { seed, workers: 3, lost: 0 });
                if remains.is_empty() {
                    break (report, remains);
                }
                sittings += 1;
                let text = serde_json::to_string(&remains).expect("what is left can be written down");
                let read: Remains = serde_json::from_str(&text).expect("what was written can be read");
                assert!(read.is_sound());
                from = Some(read);
            };
            let seen = watched.seen();
            let fault = fault(name, &counted, &report, &seen, true);
            assert!(fault.is_none(), "seed {seed}, {sittings} sittings, {fault:?}");
            let same = name != "optimal" || seen.same_executions(&alone(make, &program));
            assert!(same, "seed {seed}, {sittings} sittings: other executions");
        }
    }
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn many_programs_by_several_workers() {
    let executions = all_algorithms(crate::seeds::seeds(200_000, 20_000), 0);
    assert!(executions > 0, "nothing was small enough");
}

/// Where workers that share a tree often run executions in vain.
#[test]
fn a_cell_for_each_writer_and_one_reader() {
    let text = "shared a[7] = 0;
        thread reader { i = 6; while load(a[i]) != 0 { i = i - 1; } }
        thread writer(j in 1..=6) { t = load(a[j-1]); store(a[j], t + 1); }";
    let program = Program::new(&Litmus::parse(text).expect("it is written well"), "lastzero").expect("it can be run");
    for (seed, workers) in (0..20).flat_map(|seed| [(seed, 2), (seed, 5), (seed, 16)]) {
        let mut watched = Watched::new(program.clone());
        let play = Play { seed, workers, lost: 0 };
        let (report, _) = self::play(&|| Box::new(Optimal::new()), None, None, &mut watched, play);
        let counts = (report.executions, report.pruned, watched.seen().most_often());
        assert_eq!(counts, (144, 0, 1), "seed {seed}, {workers} workers");
    }
}
