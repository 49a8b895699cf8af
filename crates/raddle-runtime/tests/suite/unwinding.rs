//! Tasks that wait in the middle of unwinding. For the standard library the whole OS thread is panicking then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::Mutex;
use raddle_runtime::thread;

use crate::explore;

/// Waits for a thread when it is dropped.
struct Joins(Option<thread::JoinHandle<()>>);

impl Drop for Joins {
    fn drop(&mut self) {
        self.0.take().map(thread::JoinHandle::join);
    }
}

fn unwinds_into_a_join(body: impl FnOnce() + Send + 'static) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _joins = Joins(Some(thread::spawn(body)));
        panic!("and then the thread is waited for");
    }));
    assert!(caught.is_err());
}

#[test]
fn whoever_runs_meanwhile_is_not_panicking() {
    let orders = explore::passes(|| {
        let data = Arc::new(Mutex::new(0));
        let shared = data.clone();
        let rival = {
            let data = data.clone();
            thread::spawn(move || *data.lock().unwrap() += 1)
        };
        unwinds_into_a_join(move || {
            assert!(!thread::panicking());
            *shared.lock().unwrap() += 1;
        });
        rival.join().unwrap();
        assert_eq!(*data.lock().unwrap(), 2, "and no lock is poisoned");
    });
    // Either thread takes the lock first: had one of them been taken to unwind, it would not have waited to be chosen.
    assert_eq!(orders, 2);
}

#[test]
fn a_failure_meanwhile_tears_everybody_down() {
    let failure = explore::fails(|| {
        let data = Arc::new(Mutex::new(0));
        let other = data.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                *other.lock().unwrap() += 1;
            }
        });
        unwinds_into_a_join(move || assert!(*data.lock().unwrap() < 0, "this fails"));
    });
    assert!(matches!(failure, Failure::Panic { message, .. } if message == "this fails"));
}
