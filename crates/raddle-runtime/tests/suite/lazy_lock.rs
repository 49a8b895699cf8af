//! Values that are made when they are first used.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize as Count;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, LazyLock, Mutex};
use raddle_runtime::thread;

use crate::explore::{fails, passes};

#[test]
fn it_is_made_when_first_used() {
    fn body() {
        let calls = AtomicU32::new(0);
        let mut lazy = LazyLock::new(|| calls.fetch_add(1, SeqCst) + 10);
        assert_eq!((calls.load(SeqCst), LazyLock::get(&lazy)), (0, None));
        assert_eq!(format!("{lazy:?}"), format!("{:?}", std::sync::LazyLock::<u32>::new(|| 0)));
        assert_eq!((*lazy, *LazyLock::force(&lazy), calls.load(SeqCst)), (10, 10, 1));
        *lazy += 1;
        assert_eq!((*lazy, LazyLock::get_mut(&mut lazy)), (11, Some(&mut 11)));
        assert_eq!(format!("{lazy:?}"), "LazyLock(11)");
        assert_eq!(*LazyLock::<u32>::default(), 0);
        assert_eq!(*LazyLock::force_mut(&mut LazyLock::new(|| 5)), 5);
    }
    passes(body);
    body();
}

#[test]
fn one_makes_it_and_the_others_wait() {
    passes(|| {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = calls.clone();
        let lazy = Arc::new(LazyLock::new(move || {
            thread::yield_now();
            counted.fetch_add(1, SeqCst)
        }));
        let other = lazy.clone();
        let thread = thread::spawn(move || **other);
        assert_eq!(**lazy, thread.join().unwrap());
        assert_eq!(calls.load(SeqCst), 1);
    });
}

#[test]
fn statics_are_initialised_in_every_execution() {
    static MADE: Count = Count::new(0);
    static LIST: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        Mutex::new(Vec::new())
    });
    let executions = passes(|| {
        let thread = thread::spawn(|| LIST.lock().unwrap().push(1));
        LIST.lock().unwrap().push(2);
        thread.join().unwrap();
        assert_eq!(LIST.lock().unwrap().len(), 2);
    });
    assert!(executions > 2 && MADE.load(SeqCst) as u64 > executions);
    assert!(LIST.lock().unwrap().is_empty(), "and outside of any");
}

#[test]
fn what_was_made_outside_is_seen_by_all() {
    static MADE: Count = Count::new(0);
    static LAZY: LazyLock<usize> = LazyLock::new(|| MADE.fetch_add(1, SeqCst));
    assert_eq!(*LAZY, 0);
    passes(|| assert_eq!(*LAZY, 0));
    assert_eq!(MADE.load(SeqCst), 1);
}

#[test]
fn a_closure_that_outlives_an_execution_leaks() {
    let offset = String::from("moved into the closure");
    let lazy = LazyLock::new(move || offset.len());
    let failure = fails(move || {
        thread::spawn(thread::yield_now);
        thread::yield_now();
        assert!(*lazy > 0);
    });
    assert!(matches!(failure, Failure::Leak { .. }), "{failure:?}");
}

#[test]
fn a_panic_poisons_it() {
    fn body() {
        let lazy = LazyLock::<u32>::new(|| panic!("no value"));
        for _ in 0..2 {
            assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        }
        assert_eq!(LazyLock::get(&lazy), None);
    }
    passes(body);
    body();
}

#[test]
fn making_it_from_itself_is_a_deadlock() {
    static LAZY: LazyLock<u32> = LazyLock::new(|| *LAZY + 1);
    let failure = fails(|| assert!(*LAZY > 0));
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!((waiting.len(), waiting[0].op.verb), (1, "force"));
    assert!(waiting[0].site.file().ends_with("lazy_lock.rs"));
}
