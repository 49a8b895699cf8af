//! Runs bodies under the engine, the way every test of this suite needs it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use raddle_engine::outcome::Failure;
use raddle_engine::search::{Ended, Limits, Report, Search, Status};
use raddle_engine::strategy::Strategy;
use raddle_engine::strategy::exhaustive::Exhaustive;
use raddle_engine::strategy::random::Random;
use raddle_runtime::threads::{Settings, Threads};

/// Every order, up to the first failure.
pub fn all(body: impl Fn() + Send + Sync + 'static) -> Report {
    run(
        &mut Exhaustive::depth_first(),
        Limits { executions: Some(2_000_000), steps: 20_000, ..Limits::default() },
        body,
    )
}

/// So many random orders, going on after a failure.
pub fn sample(executions: u64, body: impl Fn() + Send + Sync + 'static) -> Report {
    let limits = Limits { executions: Some(executions), keep_going: true, ..Limits::default() };
    run(&mut Random::new(1), limits, body)
}

/// As [`all`], demanding that no order fails; returns how many there are.
#[track_caller]
pub fn verify(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let report = all(body);
    let failure = report.found.map(|found| found.failure);
    // Where a loop is taken to spin without proof, the search does not claim to have seen every order.
    assert!(failure.is_none() && matches!(report.ended, Ended::Done(_)), "{failure:?} {:?}", report.ended);
    report.executions
}

/// As [`all`], demanding that some order fails; returns how.
#[track_caller]
pub fn failure(body: impl Fn() + Send + Sync + 'static) -> Failure {
    let report = all(body);
    report.found.expect("no order fails").failure
}

/// The message of a panic that some order must end in.
#[track_caller]
pub fn panic_message(body: impl Fn() + Send + Sync + 'static) -> String {
    match failure(body) {
        Failure::Panic { message, .. } => message,
        other => panic!("not a panic: {other:?}"),
    }
}

fn run(strategy: &mut dyn Strategy, limits: Limits, body: impl Fn() + Send + Sync + 'static) -> Report {
    run_with(&Settings::default(), strategy, limits, body)
}

/// Whatever is not said by the other functions.
pub fn run_with(
    settings: &Settings,
    strategy: &mut dyn Strategy,
    limits: Limits,
    body: impl Fn() + Send + Sync + 'static,
) -> Report {
    let body = Arc::new(body);
    let mut search = Search::new(strategy, &limits);
    loop {
        // A worker that had to leave a task behind is replaced, as the explorer does.
        let run = || search.run(&mut Threads::new(body.clone(), settings));
        let status = std::thread::scope(|scope| scope.spawn(run).join().expect("a worker"));
        if status == Status::Over {
            return search.report();
        }
    }
}

/// For bodies that leave an OS thread unable to go on.
pub fn on_its_own_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(run).join().expect("the test itself does not panic")
}

/// What executions saw, written with `{:?}`; shared between them and the test.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Seen {
    /// An execution saw this.
    pub fn note(&self, what: impl std::fmt::Debug) {
        self.0.lock().unwrap().insert(format!("{what:?}"));
    }

    /// Demands that exactly these were seen, by whatever executions.
    #[track_caller]
    pub fn are<T: std::fmt::Debug, const N: usize>(&self, expected: [T; N]) {
        let expected = BTreeSet::from(expected.map(|e| format!("{e:?}")));
        assert_eq!(*self.0.lock().unwrap(), expected);
    }

    /// How many different ones.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
