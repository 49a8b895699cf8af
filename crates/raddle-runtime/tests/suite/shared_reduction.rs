//! Reduction of real threads by several workers: the same executions as by one alone, however their turns fall.
//!
//! The workers are played on one thread, one execution at a time, in random order, so that a fault can be had again by its seed.
//! What threads touch is met in another order in every execution, which litmus programs do not have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex};

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, Search, SnapshotStack, Status, search};
use raddle_engine::strategy::Strategy;
use raddle_engine::system::Program;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::optimal::Optimal;

use crate::reached::Body;

type Results = Arc<StdMutex<BTreeMap<Vec<usize>, u64>>>;

pub(crate) fn program(body: Body) -> (Threads, Results) {
    let results = Results::default();
    let into = results.clone();
    let program = move || {
        let result = body();
        *into.lock().unwrap().entry(result).or_default() += 1;
    };
    (Threads::new(Arc::new(program), &Settings::default()), results)
}

pub(crate) fn play<P: Program>(
    seed: u64,
    workers: usize,
    program: &mut P,
    make: impl Fn() -> Box<dyn Strategy>,
) -> Report {
    let mut rng = Rng::new(seed);
    let limits = Limits { keep_going: true, steps: 2_000, repeats: false, ..Limits::default() };
    let search = Search::new(&mut *make(), &limits, workers);
    let mut all_workers: Vec<_> =
        (0..workers).map(|_| Some((search.worker_with(make()), SnapshotStack::default()))).collect();
    let mut alone = rng.below(2) * rng.below(1_000);
    while all_workers.iter().any(Option::is_some) {
        let turn = if alone > 0 && all_workers[0].is_some() { 0 } else { rng.below(workers as u32) as usize };
        alone = alone.saturating_sub(1);
        let Some((worker, snapshots)) = &mut all_workers[turn] else { continue };
        if worker.work_a_little(program, snapshots) == Some(Status::Over) {
            all_workers[turn] = None;
        }
    }
    search.leave(Vec::new()).0
}

fn as_one_alone(body: fn() -> Vec<usize>, seeds: std::ops::Range<u64>) {
    let (mut alone, expected) = program(Arc::new(body));
    let report =
        search(&mut alone, &mut Optimal::new(), &Limits { keep_going: true, repeats: false, ..Limits::default() });
    for (seed, workers) in seeds.flat_map(|seed| [(seed, 2), (seed, 5)]) {
        let (mut shared, results) = program(Arc::new(body));
        let played = play(seed, workers, &mut shared, || Box::new(Optimal::new()));
        assert_eq!(played.executions, report.executions, "seed {seed}, {workers} workers");
        // Pruned executions run to their end, too, and leave a result that is not counted.
        let reached: Vec<_> = results.lock().unwrap().keys().cloned().collect();
        assert!(reached.iter().eq(expected.lock().unwrap().keys()), "seed {seed}, {workers} workers");
    }
}

fn last_zero() -> Vec<usize> {
    let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..8).map(|_| AtomicUsize::new(0)).collect());
    let reader = thread::spawn({
        let cells = cells.clone();
        move || {
            let mut at = 7;
            while cells[at].load(SeqCst) != 0 {
                at -= 1;
            }
            at
        }
    });
    let writer = |at: usize| {
        let cells = cells.clone();
        thread::spawn(move || cells[at].store(cells[at - 1].load(SeqCst) + 1, SeqCst))
    };
    let writers: Vec<_> = (1..8).map(writer).collect();
    let last = reader.join().unwrap();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let mut end: Vec<_> = cells.iter().map(|cell| cell.load(SeqCst)).collect();
    end.push(last);
    end
}

#[test]
fn cells_that_are_met_in_any_order() {
    as_one_alone(last_zero, 0..20);
}

/// Threads that are started by others, in any order, and meet at what they find there.
fn started_late() -> Vec<usize> {
    let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..4).map(|_| AtomicUsize::new(0)).collect());
    let start = |me: usize| {
        let cells = cells.clone();
        thread::spawn(move || {
            let seen = cells[me].fetch_add(1, SeqCst);
            let child = thread::spawn({
                let cells = cells.clone();
                move || cells[2].fetch_add(me + 1, SeqCst) + 10 * cells[3].swap(me + 1, SeqCst)
            });
            let other = cells[1 - me].fetch_add(1, SeqCst);
            seen + 10 * other + 100 * child.join().unwrap()
        })
    };
    let parents: Vec<_> = (0..2).map(start).collect();
    parents.into_iter().map(|parent| parent.join().unwrap()).collect()
}

#[test]
fn threads_that_are_started_late() {
    as_one_alone(started_late, 0..20);
}
