//! Functions that run once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, Once};
use raddle_runtime::thread;

use crate::explore::{fails, passes, results};

#[test]
fn it_is_done_once_and_the_others_wait() {
    fn body() {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let call = |shared: &(Once, AtomicU32)| {
            shared.0.call_once(|| {
                let before = shared.1.load(SeqCst);
                shared.1.store(before + 1, SeqCst);
            });
            assert!(shared.0.is_completed());
            assert_eq!(shared.1.load(SeqCst), 1);
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || call(&shared))
            })
            .collect();
        call(&shared);
        others.into_iter().for_each(|other| other.join().unwrap());
    }
    passes(body);
    body();
}

#[test]
fn a_panic_poisons_until_forced() {
    fn body() {
        let once = Once::new();
        let panics = |f: &dyn Fn()| catch_unwind(AssertUnwindSafe(f)).is_err();
        assert!(panics(&|| once.call_once(|| panic!("the first"))));
        assert!(!once.is_completed());
        assert!(panics(&|| once.call_once(|| ())));
        assert!(panics(&|| once.wait()));
        let mut called = false;
        once.call_once_force(|state| {
            called = true;
            assert!(state.is_poisoned());
        });
        assert!(called && once.is_completed());
        once.call_once(|| panic!("never called"));
        once.call_once_force(|_| panic!("never called"));
        once.wait();
        once.wait_force();
    }
    passes(body);
    body();
    passes(|| Once::new().call_once_force(|state| assert!(!state.is_poisoned())));
}

#[test]
fn one_who_waits_takes_over_from_one_who_panics() {
    let done_by = results(|| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                other.0.call_once_force(|_| {
                    thread::yield_now();
                    panic!("cannot do it");
                })
            }));
        });
        shared.0.call_once_force(|state| shared.1.store(1 + u32::from(state.is_poisoned()), SeqCst));
        thread.join().unwrap();
        shared.1.load(SeqCst)
    });
    assert_eq!(done_by, [1, 2].into());
}

#[test]
fn calling_it_from_itself_is_a_deadlock() {
    let failure = fails(|| {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    });
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!(waiting[0].held_by[0].0, waiting[0].task, "it waits for itself");
}

#[test]
fn waiting_ends_when_it_is_done() {
    passes(|| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || other.0.call_once(|| other.1.store(7, SeqCst)));
        shared.0.wait();
        assert_eq!(shared.1.load(SeqCst), 7);
        thread.join().unwrap();
        shared.0.wait_force();
    });
    assert!(matches!(fails(|| Once::new().wait()), Failure::Deadlock { .. }));
}

#[test]
fn polling_ends() {
    passes(|| {
        let once = Arc::new(Once::new());
        let other = once.clone();
        let thread = thread::spawn(move || other.call_once(|| ()));
        while !once.is_completed() {}
        thread.join().unwrap();
    });
}

#[test]
fn statics_start_every_execution_afresh() {
    static ONCE: Once = Once::new();
    static DONE_OUTSIDE: Once = Once::new();
    DONE_OUTSIDE.call_once(|| ());
    let executions = passes(|| {
        assert!(!ONCE.is_completed());
        let thread = thread::spawn(|| ONCE.call_once(thread::yield_now));
        ONCE.call_once(|| ());
        thread.join().unwrap();
        assert!(ONCE.is_completed() && DONE_OUTSIDE.is_completed());
        DONE_OUTSIDE.call_once(|| panic!("done outside of any execution"));
    });
    assert!(executions > 1);
    assert!(!ONCE.is_completed());
}
