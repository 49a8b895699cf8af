//! Pruned executions are run on to their end: a failure there is found, and nothing else of the search changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use raddle_engine::outcome::Failure;
use raddle_engine::replay::{Script, replay};
use raddle_engine::search::{Limits, Report};
use raddle_engine::strategy::{After, Claim, Decision, Needs, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_runtime::cell::UnsafeCell;
use raddle_runtime::rand::random;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};

use crate::explore;

/// For the random numbers of the program.
const SEED: u64 = 7;

/// Runs so many executions and prunes each after so many decisions. Remembers how many steps it was shown at the end.
struct Prunes {
    executions: u32,
    decisions: u32,
    left: u32,
    shown: Vec<(usize, bool)>,
}

impl Prunes {
    fn new(executions: u32, decisions: u32) -> Self {
        Self { executions, decisions, left: 0, shown: Vec::new() }
    }
}

impl Strategy for Prunes {
    fn needs(&self) -> Needs {
        Needs { revisits: true, ..Needs::sampler("prunes") }
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        self.left = self.decisions;
        if self.shown.len() as u32 == self.executions { Next::Done(Claim::Selective) } else { Next::run(SEED) }
    }

    fn choose(&mut self, _: &Point<'_>, _: &Trace) -> Decision {
        if self.left == 0 {
            return Decision::Prune;
        }
        self.left -= 1;
        Decision::Take(Choice(0))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.shown.push((run.trace.len(), run.outcome.is_none()));
        After::Next
    }
}

fn pruned(strategy: &mut Prunes, limits: Limits, body: impl Fn() + Send + Sync + 'static) -> Report {
    explore::run_with(&Settings::default(), strategy, limits, body)
}

/// Two threads that add to a counter, one after the other or not; then `last` is done.
fn two_threads(last: impl Fn(u32)) {
    let counter = Arc::new(AtomicU32::new(0));
    let add = || {
        let counter = counter.clone();
        thread::spawn(move || drop((0..3).map(|_| counter.fetch_add(1, Ordering::SeqCst)).collect::<Vec<_>>()))
    };
    [add(), add()].into_iter().for_each(|thread| thread.join().unwrap());
    last(counter.load(Ordering::SeqCst));
}

/// Demands that a failure is found in the rest of an execution that is pruned at once, and that its replay fails in the same way.
#[track_caller]
fn found_when_run_on(body: fn()) -> Failure {
    let report = pruned(&mut Prunes::new(3, 1), Limits::default(), body);
    assert_eq!((report.executions, report.pruned, report.failing), (0, 1, 1), "{report:?}");
    let found = report.found.expect("the rest of the execution fails");
    assert_eq!(found.after, 1);
    let mut program = Threads::new(Arc::new(body), &Settings::default());
    let again = replay(&mut program, &found.script, &Limits::default());
    assert!(again.divergence.is_none(), "{again:?}");
    assert_eq!(again.outcome.failure(), Some(&found.failure));
    found.failure
}

#[test]
fn a_panic_is_found() {
    let failure = found_when_run_on(|| two_threads(|counter| assert!(counter < 6, "all have been added")));
    assert!(explore::panic_message(&failure).contains("all have been added"));
}

/// Its schedule has the decisions that were made after it was pruned.
#[test]
fn the_schedule_goes_to_the_end() {
    let report = pruned(&mut Prunes::new(1, 1), Limits::default(), || two_threads(|_| panic!("at the end")));
    let Script::Choices { choices, .. } = report.found.expect("it panics").script else { panic!("no choices") };
    assert!(choices.len() > 1, "{choices:?}");
}

#[test]
fn random_numbers_are_the_same_in_the_replay() {
    found_when_run_on(|| two_threads(|_| panic!("{}", random::<u64>())));
}

#[test]
fn a_deadlock_is_found() {
    let failure = found_when_run_on(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        let _guard = lock.lock().unwrap();
        thread.join().unwrap();
        let _again = lock.lock().unwrap();
    });
    assert_eq!(failure.kind(), "deadlock", "{failure:?}");
}

/// Memory that any thread may write to.
struct Shared(UnsafeCell<u32>);

// SAFETY: whether accesses exclude one another is what the test is about; under control only one thread runs at a time.
unsafe impl Sync for Shared {}

#[test]
fn a_data_race_is_found() {
    let failure = found_when_run_on(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let counter = Arc::new(AtomicU32::new(0));
        let write = || {
            let (shared, counter) = (shared.clone(), counter.clone());
            thread::spawn(move || {
                counter.load(Relaxed);
                counter.load(Relaxed);
                // SAFETY: see `Shared`.
                shared.0.with_mut(|value| unsafe { *value += 1 });
            })
        };
        [write(), write()].into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(failure.kind(), "data race", "{failure:?}");
}

#[test]
fn the_rest_of_a_pruned_execution_is_not_counted_or_shown() {
    static ENDED: AtomicU64 = AtomicU64::new(0);
    let body = || {
        two_threads(|_| {
            ENDED.fetch_add(1, Relaxed);
        })
    };
    let mut strategy = Prunes::new(4, 2);
    let limits = Limits { repeats: false, ..Limits::default() };
    let report = pruned(&mut strategy, limits, body);
    assert_eq!((report.executions, report.pruned, report.failing), (0, 4, 0));
    assert!(report.found.is_none());
    assert_eq!(ENDED.load(Relaxed), 4, "each was run on to its end, once");
    let first = strategy.shown[0];
    assert!(first.1 && strategy.shown.iter().all(|shown| *shown == first), "{:?}", strategy.shown);
    assert_eq!((report.longest, report.steps), (first.0 as u64, 4 * first.0 as u64));
}

/// What is compared when an execution is run again is the part before it was pruned.
#[test]
fn an_execution_that_was_run_on_is_the_same_twice() {
    let report = pruned(&mut Prunes::new(70, 2), Limits::default(), || two_threads(|_| ()));
    assert_eq!((report.pruned, report.found.map(|found| found.failure)), (70, None));
}

#[test]
fn a_search_that_goes_on_counts_no_failure_twice() {
    let limits = Limits { keep_going: true, ..Limits::default() };
    let report = pruned(&mut Prunes::new(5, 2), limits, || two_threads(|_| panic!("always")));
    assert_eq!((report.executions, report.pruned, report.failing), (0, 5, 1));
    assert!(report.found.is_some());
}

/// Two threads that never end and call `each` before each step.
fn endless(each: fn()) {
    let counter = Arc::new(AtomicU32::new(0));
    let count = move |counter: Arc<AtomicU32>| {
        loop {
            each();
            counter.fetch_add(1, Ordering::SeqCst);
        }
    };
    let other = counter.clone();
    thread::spawn(move || count(other));
    count(counter);
}

/// What does not end within the bounds is no failure: the strategy did not ask for it.
#[test]
fn a_rest_that_does_not_end_is_left() {
    static STEPS: AtomicU64 = AtomicU64::new(0);
    for (steps, most) in [(20, 3 * 25), (100_000, 3 * 1_100)] {
        let limits = Limits { steps, repeats: false, ..Limits::default() };
        STEPS.store(0, Relaxed);
        let count = || _ = STEPS.fetch_add(1, Relaxed);
        let report = pruned(&mut Prunes::new(3, 2), limits, move || endless(count));
        assert_eq!((report.pruned, report.found.map(|found| found.failure)), (3, None));
        assert!(STEPS.load(Relaxed) <= most, "{} steps", STEPS.load(Relaxed));
    }
}

#[test]
fn a_rest_ends_with_the_time() {
    let limits = Limits { time: Some(Duration::from_millis(50)), repeats: false, ..Limits::default() };
    let begun = Instant::now();
    pruned(&mut Prunes::new(1, 2), limits, || endless(|| std::thread::sleep(Duration::from_millis(10))));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// A loop that ends when another thread has gone on comes to its end.
#[test]
fn no_thread_goes_on_for_ever() {
    let failure = found_when_run_on(|| {
        let (counter, stop) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let counts = {
            let (counter, stop) = (counter.clone(), stop.clone());
            thread::spawn(move || {
                while stop.load(Ordering::SeqCst) == 0 {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let stops = thread::spawn(move || stop.store(1, Ordering::SeqCst));
        [counts, stops].into_iter().for_each(|thread| thread.join().unwrap());
        panic!("the end");
    });
    assert_eq!(explore::panic_message(&failure), "the end");
}
