//! Parking threads and waking them.

use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::Arc;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering};
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;

use crate::explore::{Seen, exhaustive, fails, passes};
use crate::shared_cell::Shared;

#[test]
fn an_unpark_before_the_park_is_kept() {
    passes(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        let main = thread::current();
        let waker = thread::spawn(move || main.unpark());
        thread::park();
        waker.join().unwrap();
    });
}

#[test]
fn only_one_token_is_kept() {
    let found = fails(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park();
        // One park may end for no reason, so a third is needed to be stuck for sure.
        thread::park();
    });
    assert_eq!(found.kind(), "deadlock");
}

#[test]
fn a_park_may_end_for_no_reason() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let told = Arc::new(AtomicUsize::new(0));
        let (main, t) = (thread::current(), told.clone());
        let waker = thread::spawn(move || {
            t.fetch_add(1, Ordering::SeqCst);
            main.unpark();
        });
        thread::park();
        out.note(told.load(Ordering::SeqCst) == 1);
        waker.join().unwrap();
    });
    seen.are([true, false]);
}

#[test]
fn an_unpark_happens_before_the_park_that_it_ends() {
    let read_after_park = || {
        let cell = Arc::new(Shared::new(0));
        let (main, other) = (thread::current(), cell.clone());
        let waker = thread::spawn(move || {
            // SAFETY: as for `Shared`.
            other.0.with_mut(|value| unsafe { *value = 1 });
            main.unpark();
        });
        thread::park();
        // SAFETY: as for `Shared`.
        assert_eq!(cell.0.with(|value| unsafe { *value }), 1);
        waker.join().unwrap();
    };
    let report = exhaustive(&Settings { spurious: 0, ..Settings::default() }, read_after_park);
    assert!(report.verified(), "{report:?}");
    // A park that ends spuriously is ordered with nothing.
    assert!(matches!(fails(read_after_park), Failure::DataRace { .. } | Failure::Panic { .. }));
}

#[test]
fn unparking_a_thread_that_has_ended_does_nothing() {
    passes(|| {
        let ended = thread::spawn(|| ());
        let handle = ended.thread().clone();
        ended.join().unwrap();
        handle.unpark();
    });
}

#[test]
fn a_park_without_an_unpark_is_a_deadlock() {
    let failure = fails(|| {
        thread::park();
        // The first one may end spuriously.
        thread::park();
    });
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!(waiting.iter().map(|w| w.op.verb).collect::<Vec<_>>(), ["park"]);
}

#[test]
fn real_threads_park_outside_of_executions() {
    let main = thread::current();
    let waker = thread::spawn(move || main.unpark());
    thread::park();
    waker.join().unwrap();
    thread::park_timeout(Duration::from_millis(1));
}
