//! What a verdict says of a test in which nothing could be explored, and of one whose atomics are weaker than what is searched.

use raddle::model::Model;
use raddle::sync::atomic::{AtomicUsize, Ordering, fence};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, Verdict, thread};

use crate::programs;

const NOTHING: &str = "nothing to explore: this test never had two things that could happen next; is the code under test built with \
                       raddle's types?";

const STRATEGIES: [&str; 10] =
    ["portfolio", "random", "pct", "pos", "surw", "dpor", "exhaustive", "preemption", "states", "round-robin"];

/// A thread that uses `std`'s types only.
fn counts_with_std() {
    let counter = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let other = counter.clone();
    let thread = thread::spawn(move || other.fetch_add(1, Ordering::SeqCst));
    counter.fetch_add(1, Ordering::SeqCst);
    thread.join().unwrap();
}

fn one_thread_with_a_lock() {
    *Mutex::new(0).lock().unwrap() += 1;
}

#[test]
fn a_test_without_alternatives_is_not_verified() {
    for program in [counts_with_std, one_thread_with_a_lock, || ()] {
        for strategy in STRATEGIES {
            let report = Explorer::new().strategy(strategy).executions(5).run(program);
            assert_eq!(report.verdict(), Verdict::NothingToExplore, "{strategy}");
            assert_eq!(report.verdict_line(), NOTHING, "{strategy}");
            assert!(!report.verified() && !report.failed(), "{strategy}");
        }
    }
}

#[test]
fn a_test_that_must_explore_fails_without_alternatives() {
    let report = Explorer::new().must_explore(true).strategy("dpor").run(counts_with_std);
    assert!(report.failed() && !report.verified());
    assert_eq!(report.verdict_line(), format!("FAILED: {NOTHING}"));
    let checked = std::panic::catch_unwind(|| Explorer::new().must_explore(true).check(counts_with_std));
    let message = *checked.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("FAILED: nothing to explore"), "{message}");
    assert!(Explorer::new().must_explore(true).strategy("dpor").run(programs::counts_under_a_lock).verified());
}

/// A choice of a value is one of two things that could happen next, and a model has no types that could be the wrong ones.
#[test]
fn choices_and_models_are_explored() {
    let chooses = || {
        let _ = raddle::flip();
    };
    assert!(Explorer::new().strategy("exhaustive").run(chooses).verified());
    assert!(Explorer::new().run_model(|| Model::new(|_| ())).verified());
}

fn loads(order: Ordering) -> impl Fn() + Send + Sync + 'static {
    two_threads(move |atomic| {
        atomic.load(order);
    })
}

fn two_threads(act: impl Fn(&AtomicUsize) + Clone + Send + Sync + 'static) -> impl Fn() + Send + Sync + 'static {
    move || {
        let atomic = Arc::new(AtomicUsize::new(0));
        let (other, act_too) = (atomic.clone(), act.clone());
        let thread = thread::spawn(move || {
            act_too(&other);
            other.store(1, Ordering::SeqCst);
        });
        act(&atomic);
        atomic.store(2, Ordering::SeqCst);
        thread.join().unwrap();
    }
}

#[test]
fn the_verdict_mentions_weak_orderings() {
    let weak = |program: &dyn Fn() -> Box<dyn Fn() + Send + Sync>| {
        let lines = ["dpor", "random"].map(|strategy| {
            let program = program();
            Explorer::new().strategy(strategy).executions(20).run(program).verdict_line()
        });
        let told = lines.each_ref().map(|line| line.ends_with("; sequentially consistent orders only"));
        assert_eq!(told[0], told[1], "{lines:?}");
        told[0]
    };
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    assert!(!weak(&|| Box::new(loads(SeqCst))));
    assert!(weak(&|| Box::new(loads(Relaxed))));
    assert!(weak(&|| Box::new(loads(Acquire))));
    assert!(weak(&|| Box::new(two_threads(|a| a.store(2, Release)))));
    assert!(weak(&|| Box::new(two_threads(|a| _ = a.fetch_add(1, AcqRel)))));
    assert!(weak(&|| Box::new(two_threads(|a| _ = a.compare_exchange(0, 1, SeqCst, Relaxed)))));
    assert!(weak(&|| Box::new(two_threads(|a| _ = a.compare_exchange_weak(0, 1, Release, Relaxed)))));
    assert!(weak(&|| Box::new(two_threads(|_| fence(Acquire)))));
    assert!(!weak(&|| Box::new(two_threads(|_| fence(SeqCst)))));
    assert!(!weak(&|| Box::new(programs::counts_under_a_lock)));
}

#[test]
fn the_verdict_mentions_hash_maps_of_std() {
    fn locks<'a>(locks: impl Iterator<Item = &'a Mutex<()>>) {
        locks.for_each(|lock| drop(lock.lock().unwrap()));
    }
    let told = |program: fn()| {
        ["dpor", "exhaustive", "random", "portfolio"].map(|strategy| {
            let line = Explorer::new().strategy(strategy).executions(100).run(program).verdict_line();
            line.ends_with("; the order of std's hash maps is assumed not to matter")
        })
    };
    assert_eq!(
        told(|| {
            let map: std::collections::HashMap<_, _> = (0..3).map(|n| (n, Mutex::new(()))).collect();
            thread::scope(|scope| {
                scope.spawn(|| locks(map.values()));
                locks(map.values());
            });
        }),
        [true; 4]
    );
    assert_eq!(
        told(|| {
            let map: raddle::collections::HashMap<_, _> = (0..3).map(|n| (n, Mutex::new(()))).collect();
            thread::scope(|scope| {
                scope.spawn(|| locks(map.values()));
                locks(map.values());
            });
        }),
        [false; 4]
    );
    // A cell is watched for data races, for which Raddle has maps of its own.
    assert_eq!(
        told(|| {
            let cell = Arc::new(Mutex::new(raddle::cell::Cell::new(0)));
            let theirs = cell.clone();
            let thread = thread::spawn(move || theirs.lock().unwrap().set(1));
            cell.lock().unwrap().set(2);
            thread.join().unwrap();
        }),
        [false; 4]
    );
}
