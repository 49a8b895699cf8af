//! Searches of small programs.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use raddle_engine::outcome::Failure;
use raddle_engine::search::{Ended, Limits, Report, Search, Status};
use raddle_engine::strategy::Strategy;
use raddle_runtime::threads::{Facts, Settings, Threads};
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;

/// More executions than any of these programs has.
const MOST_EXECUTIONS: u64 = 2_000_000;

/// Runs all orders of `body`. The limit on steps is larger than any of these programs needs.
pub fn exhaustive(settings: &Settings, body: impl Fn() + Send + Sync + 'static) -> Report {
    let limits = Limits { executions: Some(MOST_EXECUTIONS), steps: 20_000, repeats: false, ..Limits::default() };
    learning(settings, || Box::new(Exhaustive::depth_first()), &limits, Arc::new(body))
}

/// Searches again, with a new strategy of the same kind, as long as a search learns new facts about the program.
pub fn learning(
    settings: &Settings,
    make: impl Fn() -> Box<dyn Strategy>,
    limits: &Limits,
    body: Arc<dyn Fn() + Send + Sync>,
) -> Report {
    let mut settings = settings.clone();
    loop {
        let (report, facts) = run_once(&settings, &mut *make(), limits, &body);
        if !report.outdated {
            return report;
        }
        assert!(settings.facts.add(&facts), "nothing new was learned: {facts:?}");
    }
}

/// Asserts that no order of `body` fails, in an exhaustive search and in a few hundred random executions. Returns how many orders there are.
#[track_caller]
pub fn passes(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let body = Arc::new(body);
    let again = body.clone();
    let limits = Limits { executions: Some(300), steps: 20_000, repeats: false, ..Limits::default() };
    let random = learning(&Settings::default(), || Box::new(Random::new(7)), &limits, Arc::new(move || again()));
    assert_eq!(random.found.map(|found| found.failure), None, "in a random order");
    let report = exhaustive(&Settings::default(), move || body());
    assert_eq!(report.found.as_ref().map(|found| &found.failure), None);
    // Not `verified`: if the search only assumes that a loop spins, it does not claim to have covered every order.
    assert!(matches!(report.ended, Ended::Done(_)), "{report:?}");
    report.executions
}

/// Asserts that an order of `body` fails. Returns the failure.
#[track_caller]
pub fn fails(body: impl Fn() + Send + Sync + 'static) -> Failure {
    let report = exhaustive(&Settings::default(), body);
    report.found.expect("an order that fails").failure
}

/// Asserts that in an order of `body` one task waits for itself, in an operation that reports call `verb`.
#[track_caller]
pub fn waits_for_itself(verb: &str, body: impl Fn() + Send + Sync + 'static) {
    let failure = fails(body);
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    let [waiting] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!(waiting.op.verb, verb);
    assert_eq!(waiting.held_by.iter().map(|(task, _)| *task).collect::<Vec<_>>(), [waiting.task]);
}

/// Asserts that no order of `body` fails. Returns all values that `body` returned in any of them.
#[track_caller]
pub fn results<T: Ord + Debug + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let into = seen.clone();
    passes(move || {
        let result = body();
        into.lock().unwrap().insert(result);
    });
    Arc::into_inner(seen).expect("the program is gone").into_inner().unwrap()
}

/// The message of a failure that is a panic.
#[track_caller]
pub fn panic_message(failure: &Failure) -> &str {
    match failure {
        Failure::Panic { message, .. } => message,
        other => panic!("not a panic but {other:?}"),
    }
}

/// Asserts that an order of `body` panics. Returns the message.
#[track_caller]
pub fn panics_with(body: impl Fn() + Send + Sync + 'static) -> String {
    panic_message(&fails(body)).to_owned()
}

/// Runs so many random executions, also after a failure.
pub fn sample(executions: u64, body: impl Fn() + Send + Sync + 'static) -> Report {
    let limits = Limits { executions: Some(executions), keep_going: true, repeats: false, ..Limits::default() };
    learning(&Settings::default(), || Box::new(Random::new(1)), &limits, Arc::new(body))
}

/// Searches with these settings, this strategy and these limits.
pub fn run_with(
    settings: &Settings,
    strategy: &mut dyn Strategy,
    limits: Limits,
    body: impl Fn() + Send + Sync + 'static,
) -> Report {
    let (report, _) = run_once(settings, strategy, &limits, &(Arc::new(body) as Arc<dyn Fn() + Send + Sync>));
    assert!(!report.outdated, "the search has learned new facts and must begin again: use `learning`");
    report
}

/// Runs one search. Returns its report and the facts that it has learned.
fn run_once(
    settings: &Settings,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    body: &Arc<dyn Fn() + Send + Sync>,
) -> (Report, Facts) {
    let search = Search::new(strategy, limits, 1);
    let mut worker = search.worker(strategy);
    loop {
        // A worker that cannot be used any more is replaced, as the explorer does.
        let run = || {
            let mut program = Threads::new(body.clone(), settings);
            (worker.work(&mut program), program.facts())
        };
        let (status, facts) = std::thread::scope(|scope| scope.spawn(run).join().expect("a worker"));
        if status == Status::Over {
            return (search.close(vec![worker]), facts);
        }
    }
}

/// Calls `run` on its own OS thread. For bodies that leave an OS thread unusable.
pub fn on_its_own_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(run).join().expect("the test itself does not panic")
}

/// Values that executions have seen, written with `{:?}`. Executions and the test share it.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Seen {
    /// Adds a value that an execution has seen.
    pub fn note(&self, what: impl Debug) {
        self.0.lock().unwrap().insert(format!("{what:?}"));
    }

    /// Asserts that executions have seen exactly these values.
    #[track_caller]
    pub fn are<T: Debug, const N: usize>(&self, expected: [T; N]) {
        let expected = BTreeSet::from(expected.map(|e| format!("{e:?}")));
        assert_eq!(*self.0.lock().unwrap(), expected);
    }

    /// How many different ones.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
