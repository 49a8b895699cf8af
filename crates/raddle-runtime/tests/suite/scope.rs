//! Scoped threads.

use std::sync::atomic::{AtomicU64, Ordering as StdOrdering};

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering};
use raddle_runtime::sync::{Mutex, mpsc};
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;
use raddle_strategies::samplers::random::Random;

use crate::explore::{fails, passes, run_with, sample};

#[test]
fn scoped_threads_borrow() {
    let count = passes(|| {
        let mut numbers = vec![1, 2, 3];
        let mut sum = 0;
        let total = AtomicUsize::new(0);
        let result = thread::scope(|s| {
            s.spawn(|| {
                total.fetch_add(numbers.len(), Ordering::SeqCst);
                sum += numbers.iter().sum::<i32>();
            });
            let other = s.spawn(|| total.fetch_add(10, Ordering::SeqCst));
            other.join().unwrap();
            "done"
        });
        numbers.push(sum);
        assert_eq!((result, numbers, total.load(Ordering::SeqCst)), ("done", vec![1, 2, 3, 6], 13));
    });
    // Two steps in either order.
    assert_eq!(count, 2);
}

#[test]
fn scopes_nest_and_threads_start_threads() {
    passes(|| {
        let total = AtomicUsize::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                outer.spawn(|| total.fetch_add(1, Ordering::SeqCst));
                thread::scope(|inner| {
                    inner.spawn(|| total.fetch_add(10, Ordering::SeqCst));
                });
                assert!(total.load(Ordering::SeqCst) >= 10);
            });
        });
        assert_eq!(total.load(Ordering::SeqCst), 11);
    });
}

#[test]
fn names_ids_and_ends_of_scoped_threads() {
    passes(|| {
        thread::scope(|s| {
            let named =
                thread::Builder::new().name("scoped".into()).spawn_scoped(s, || thread::current().id()).unwrap();
            assert_eq!(named.thread().name(), Some("scoped"));
            let id = named.thread().id();
            while !named.is_finished() {}
            assert_eq!(named.join().unwrap(), id);
            assert_ne!(id, thread::current().id());
        });
    });
}

#[test]
fn a_panicking_scoped_thread_fails_the_test() {
    let found = fails(|| {
        let value = Mutex::new(1);
        thread::scope(|s| {
            s.spawn(|| {
                let _held = value.lock();
                panic!("on purpose");
            });
            s.spawn(|| drop(value.lock()));
        });
    });
    assert!(matches!(&found, Failure::Panic { message, .. } if message == "on purpose"), "{found:?}");
}

#[test]
fn isolated_panics_reach_the_joining_thread_or_the_scope() {
    let isolated = Settings { isolate_panics: true, ..Settings::default() };
    let report = run_with(&isolated, &mut Random::new(1), Limits { executions: Some(20), ..Limits::default() }, || {
        thread::scope(|s| {
            let payload = s.spawn(|| panic!("told")).join().unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"told"));
        });
    });
    assert!(report.found.is_none(), "{:?}", report.found.map(|f| f.failure));
    let report = run_with(&isolated, &mut Random::new(1), Limits { executions: Some(20), ..Limits::default() }, || {
        thread::scope(|s| {
            s.spawn(|| panic!("untold"));
        });
    });
    let found = report.found.expect("the scope panics").failure;
    assert!(matches!(&found, Failure::Panic { message, .. } if message == "a scoped thread panicked"), "{found:?}");
}

/// Borrows, and looks at what it borrowed when dropped.
struct Looks<'a>(&'a Mutex<Vec<u32>>, &'a u64);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        assert_eq!(*self.1, 0xfeed, "the frame of the parent is gone");
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(1);
    }
}

static DROPPED: AtomicU64 = AtomicU64::new(0);

struct CountsDrops(Box<u64>);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        assert_eq!(*self.0, 7);
        DROPPED.fetch_add(1, StdOrdering::Relaxed);
    }
}

#[test]
fn teardown_unwinds_children_before_the_frames_they_borrow() {
    const RUNS: u64 = 5_000;
    let report = sample(RUNS, || {
        let canary = 0xfeed_u64;
        let log = Mutex::new(vec![0]);
        let heap = CountsDrops(Box::new(7));
        thread::scope(|s| {
            for i in 0..3 {
                let (log, canary, heap) = (&log, &canary, &heap);
                s.spawn(move || {
                    let _looks = Looks(log, canary);
                    thread::scope(|inner| {
                        inner.spawn(move || {
                            let _looks = Looks(log, canary);
                            thread::yield_now();
                            assert_eq!(*heap.0, 7);
                            log.lock().unwrap().push(2);
                        });
                        thread::yield_now();
                        log.lock().unwrap().push(3);
                    });
                    thread::yield_now();
                    assert!(i != 1, "on purpose");
                });
            }
            thread::yield_now();
        });
        drop(heap);
    });
    assert_eq!((report.executions, report.failing), (RUNS, RUNS));
    // The first of them was run again, to be seen.
    assert_eq!(DROPPED.load(StdOrdering::Relaxed), RUNS + 1);
}

#[test]
fn a_deadlock_in_a_scope_is_torn_down() {
    for _ in 0..50 {
        let found = fails(|| {
            let (a, b) = (Mutex::new(vec![0; 4]), Mutex::new(vec![0; 4]));
            thread::scope(|s| {
                s.spawn(|| {
                    let mut a = a.lock().unwrap();
                    b.lock().unwrap().append(&mut a);
                });
                s.spawn(|| {
                    let mut b = b.lock().unwrap();
                    a.lock().unwrap().append(&mut b);
                });
            });
        });
        assert_eq!(found.kind(), "deadlock");
    }
}

#[test]
fn a_child_that_blocks_while_unwinding_keeps_its_parents_frames() {
    /// Waits for something that never comes, in a destructor.
    struct Blocks<'a>(&'a mpsc::Receiver<u8>);
    impl Drop for Blocks<'_> {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    let report = sample(20, || {
        let (tx, rx) = mpsc::channel();
        thread::scope(|s| {
            s.spawn(move || {
                let _blocks = Blocks(&rx);
                thread::yield_now();
                thread::yield_now();
            });
            s.spawn(|| panic!("on purpose"));
        });
        drop(tx);
    });
    assert_eq!((report.executions, report.failing), (20, 20));
}

#[test]
fn scopes_outside_are_those_of_std() {
    let mut values = vec![1, 2];
    let total = thread::scope(|s| {
        let a = s.spawn(|| values.iter().sum::<i32>());
        let named = thread::Builder::new().name("outside".into()).spawn_scoped(s, || thread::current().id()).unwrap();
        assert_eq!(named.thread().name(), Some("outside"));
        let id = named.thread().id();
        while !named.is_finished() {
            thread::yield_now();
        }
        assert_eq!(named.join().unwrap(), id);
        a.join().unwrap()
    });
    values.push(total);
    assert_eq!(values, [1, 2, 3]);
    let untold = std::panic::catch_unwind(|| {
        thread::scope(|s| {
            s.spawn(|| std::panic::resume_unwind(Box::new(1)));
        });
    });
    assert_eq!(untold.unwrap_err().downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
    thread::scope(|s| {
        assert!(s.spawn(|| std::panic::resume_unwind(Box::new(1))).join().is_err());
    });
}
