//! Asking whether a thread has finished.

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::thread;

use crate::explore::{fails, passes, results};
use crate::shared_cell::Shared;

#[test]
fn a_thread_may_have_finished_or_not() {
    let seen = results(|| {
        let thread = thread::spawn(thread::yield_now);
        let finished = thread.is_finished();
        thread.join().unwrap();
        finished
    });
    assert_eq!(seen, [false, true].into());
    let seen = results(|| {
        thread::scope(|scope| {
            let thread = scope.spawn(thread::yield_now);
            thread.is_finished()
        })
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn a_thread_that_waits_has_not_finished() {
    passes(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        let guard = lock.lock().unwrap();
        let thread = thread::spawn(move || drop(other.lock().unwrap()));
        assert!(!thread.is_finished());
        drop(guard);
        thread.join().unwrap();
    });
}

#[test]
fn polling_for_the_end_ends() {
    passes(|| {
        let m = Arc::new(Mutex::new(0));
        let n = m.clone();
        let t = thread::spawn(move || {
            *n.lock().unwrap() += 1;
            thread::yield_now();
        });
        while !t.is_finished() {
            thread::yield_now();
        }
        assert_eq!(*m.lock().unwrap(), 1);
        t.join().unwrap();
    });
}

/// As in `std`, only a join synchronises with the thread.
#[test]
fn it_orders_no_memory() {
    let read_when = |ended: fn(thread::JoinHandle<()>) -> bool| {
        move || {
            let cell = Arc::new(Shared::new(0));
            let other = cell.clone();
            // SAFETY: as for `Shared`.
            let thread = thread::spawn(move || other.0.with_mut(|value| unsafe { *value = 1 }));
            if ended(thread) {
                // SAFETY: as for `Shared`.
                cell.0.with(|value| unsafe { *value });
            }
        }
    };
    assert!(matches!(fails(read_when(|thread| thread.is_finished())), Failure::DataRace { .. }));
    passes(read_when(|thread| thread.join().is_ok()));
}

struct SetsOnDrop(Arc<AtomicBool>);

impl Drop for SetsOnDrop {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

raddle_runtime::thread_local! {
    static VALUE: std::cell::RefCell<Option<SetsOnDrop>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn a_thread_has_finished_before_its_thread_local_values_are_dropped() {
    let dropped_when_finished = results(|| {
        let dropped = Arc::new(AtomicBool::new(false));
        let value = SetsOnDrop(dropped.clone());
        let thread = thread::spawn(move || VALUE.set(Some(value)));
        let seen = thread.is_finished().then(|| dropped.load(SeqCst));
        thread.join().unwrap();
        assert!(dropped.load(SeqCst), "a join waits for them");
        seen
    });
    assert_eq!(dropped_when_finished, [None, Some(false), Some(true)].into());
}

#[test]
fn outside_of_executions_it_is_that_of_std() {
    let thread = thread::spawn(|| ());
    while !thread.is_finished() {
        std::thread::yield_now();
    }
    thread.join().unwrap();
}
