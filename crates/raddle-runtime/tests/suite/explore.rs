//! Searches of small programs.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use raddle_engine::outcome::Failure;
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::exhaustive::Exhaustive;
use raddle_engine::strategy::random::Random;
use raddle_runtime::threads::{Settings, Threads};

/// More executions than any of these programs has.
const MOST_EXECUTIONS: u64 = 200_000;

/// All orders of `body`, with a step bound that none of these programs comes near.
pub fn exhaustive(settings: &Settings, body: impl Fn() + Send + Sync + 'static) -> Report {
    let limits = Limits { executions: Some(MOST_EXECUTIONS), steps: 20_000, ..Limits::default() };
    search(&mut Threads::new(Arc::new(body), settings), &mut Exhaustive::depth_first(), &limits)
}

/// Demands that no order of `body` fails, and a few hundred random ones either; returns how many orders there are.
#[track_caller]
pub fn passes(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let body = Arc::new(body);
    let again = body.clone();
    let limits = Limits { executions: Some(300), steps: 20_000, ..Limits::default() };
    let random = search(&mut Threads::new(again, &Settings::default()), &mut Random::new(7), &limits);
    assert_eq!(random.found.map(|found| found.failure), None, "in a random order");
    let report = exhaustive(&Settings::default(), move || body());
    assert_eq!(report.found.as_ref().map(|found| &found.failure), None);
    // Not `verified`: where a loop is taken to spin without proof, the search does not claim to have seen every order.
    assert!(matches!(report.ended, Ended::Done(_)), "{report:?}");
    report.executions
}

/// Demands that some order of `body` fails; returns how.
#[track_caller]
pub fn fails(body: impl Fn() + Send + Sync + 'static) -> Failure {
    let report = exhaustive(&Settings::default(), body);
    report.found.expect("an order that fails").failure
}

/// Demands that no order of `body` fails; returns everything that `body` returned in any of them.
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

/// What the task that panicked said.
#[track_caller]
pub fn panic_message(failure: &Failure) -> &str {
    match failure {
        Failure::Panic { message, .. } => message,
        other => panic!("not a panic but {other:?}"),
    }
}
