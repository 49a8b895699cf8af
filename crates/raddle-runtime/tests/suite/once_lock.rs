//! Values that are set once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize as Count;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, Mutex, OnceLock};
use raddle_runtime::thread;

use crate::explore::{fails, passes, results};

#[test]
fn it_holds_a_value_as_that_of_std_does() {
    fn body() {
        let mut lock = OnceLock::new();
        assert_eq!(lock.get(), None);
        assert_eq!(lock.get_mut(), None);
        assert_eq!(format!("{lock:?}"), format!("{:?}", std::sync::OnceLock::<u32>::new()));
        assert_eq!(lock.set(1), Ok(()));
        assert_eq!(lock.set(2), Err(2));
        assert_eq!(lock.get_or_init(|| panic!("never called")), &1);
        assert_eq!((lock.get(), lock.wait()), (Some(&1), &1));
        *lock.get_mut().unwrap() = 3;
        assert_eq!(lock.get(), Some(&3));
        assert_eq!(format!("{lock:?}"), format!("{:?}", std::sync::OnceLock::from(3)));
        assert!(lock == lock.clone() && lock == OnceLock::from(3) && lock != OnceLock::default());
        assert_eq!(lock.take(), Some(3));
        assert_eq!(lock.get(), None);
        assert_eq!(lock.get_or_init(|| 4), &4);
        assert_eq!(lock.into_inner(), Some(4));
        assert_eq!(OnceLock::<u32>::new().into_inner(), None);
    }
    passes(body);
    body();
}

#[test]
fn values_may_borrow_and_are_dropped_with_it() {
    fn body() {
        struct Counts<'a>(&'a Count);
        impl Drop for Counts<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        let dropped = Count::new(0);
        {
            let lock = OnceLock::new();
            lock.get_or_init(|| Counts(&dropped));
            assert_eq!(dropped.load(SeqCst), 0);
        }
        assert_eq!(dropped.load(SeqCst), 1);
    }
    passes(body);
    body();
}

#[test]
fn one_makes_it_and_all_see_the_same() {
    let made = results(|| {
        let shared = Arc::new((OnceLock::new(), AtomicU32::new(0)));
        let make = |shared: &(OnceLock<u32>, AtomicU32), number| {
            *shared.0.get_or_init(|| {
                shared.1.fetch_add(1, SeqCst);
                number
            })
        };
        let other = shared.clone();
        let thread = thread::spawn(move || make(&other, 1));
        let mine = make(&shared, 2);
        assert_eq!(mine, thread.join().unwrap());
        assert_eq!(shared.1.load(SeqCst), 1, "made once");
        mine
    });
    assert_eq!(made, [1, 2].into());
}

#[test]
fn setting_waits_for_one_who_makes_it() {
    let outcomes = results(|| {
        let lock = Arc::new(OnceLock::new());
        let other = lock.clone();
        let thread = thread::spawn(move || {
            *other.get_or_init(|| {
                thread::yield_now();
                1
            })
        });
        let set = lock.set(2).is_ok();
        assert_eq!(thread.join().unwrap(), *lock.wait());
        (set, *lock.get().unwrap())
    });
    assert_eq!(outcomes, [(false, 1), (true, 2)].into());
}

#[test]
fn getting_and_waiting() {
    let seen = results(|| {
        let lock = Arc::new(OnceLock::new());
        let other = lock.clone();
        let thread = thread::spawn(move || other.set(1));
        let seen = lock.get().copied();
        assert_eq!(lock.wait(), &1);
        thread.join().unwrap().unwrap();
        seen
    });
    assert_eq!(seen, [None, Some(1)].into());
    passes(|| {
        let lock = Arc::new(OnceLock::new());
        let other = lock.clone();
        let thread = thread::spawn(move || other.set(1));
        while lock.get().is_none() {}
        thread.join().unwrap().unwrap();
    });
}

#[test]
fn looking_at_what_is_there_is_no_decision() {
    let executions = passes(|| {
        let lock = Arc::new(OnceLock::from(0));
        let look = |lock: &OnceLock<u32>| (0..500).for_each(|_| assert_eq!(lock.get(), Some(&0)));
        let other = lock.clone();
        let thread = thread::spawn(move || look(&other));
        look(&lock);
        thread.join().unwrap();
    });
    assert_eq!(executions, 1);
}

#[test]
fn a_panic_leaves_it_empty() {
    fn body() {
        let lock = OnceLock::new();
        assert!(catch_unwind(AssertUnwindSafe(|| *lock.get_or_init(|| panic!("no value")))).is_err());
        assert_eq!(lock.get(), None);
        assert_eq!(lock.get_or_init(|| 1), &1);
    }
    passes(body);
    body();
}

#[test]
fn making_it_from_itself_is_a_deadlock() {
    let failure = fails(|| {
        let lock = OnceLock::new();
        lock.get_or_init(|| *lock.get_or_init(|| 1));
    });
    assert!(matches!(failure, Failure::Deadlock { .. }));
}

#[test]
fn statics_start_every_execution_empty_and_drop_what_it_made() {
    struct Counts(u32);
    static MADE: Count = Count::new(0);
    static DROPPED: Count = Count::new(0);
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    static LOCK: OnceLock<Counts> = OnceLock::new();
    static OTHER: OnceLock<Mutex<Vec<u32>>> = OnceLock::new();
    let executions = passes(|| {
        let make = |number| {
            let made = LOCK.get_or_init(|| {
                MADE.fetch_add(1, SeqCst);
                Counts(number)
            });
            OTHER.get_or_init(Mutex::default).lock().unwrap().push(made.0);
            made.0
        };
        assert!(LOCK.get().is_none());
        let thread = thread::spawn(move || make(1));
        let mine = make(2);
        assert_eq!(mine, thread.join().unwrap());
        assert_eq!(*OTHER.get().unwrap().lock().unwrap(), [mine, mine]);
    });
    assert!(executions > 2);
    let made = MADE.load(SeqCst);
    assert!(made as u64 > executions, "once in each, random ones included");
    assert_eq!(DROPPED.load(SeqCst), made - 1, "but for the first, which lives in the static as it would in std");
    assert!(LOCK.get().is_none(), "outside of executions it is empty");
}

#[test]
fn what_was_set_outside_is_seen_by_all() {
    static LOCK: OnceLock<u32> = OnceLock::new();
    LOCK.set(5).unwrap();
    passes(|| {
        let thread = thread::spawn(|| LOCK.get_or_init(|| panic!("set outside")));
        assert_eq!(LOCK.set(6), Err(6));
        assert_eq!(thread.join().unwrap(), LOCK.wait());
    });
}

#[test]
fn one_that_outlives_executions_can_be_taken_apart() {
    let slot = std::sync::Mutex::new(OnceLock::new());
    passes(move || {
        thread::spawn(thread::yield_now);
        thread::yield_now();
        let mut lock = slot.lock().unwrap();
        assert_eq!(lock.get(), None, "starts every execution empty");
        assert_eq!(lock.set(String::from("a")), Ok(()));
        lock.get_mut().unwrap().push('b');
        assert_eq!(lock.get().unwrap(), "ab");
        assert_eq!(lock.take().unwrap(), "ab");
        assert_eq!(lock.get(), None);
        lock.get_or_init(|| String::from("left behind"));
    });
}

#[test]
fn destructors_of_statics_may_use_other_primitives() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    static LOCK: OnceLock<Locks> = OnceLock::new();
    passes(|| {
        thread::spawn(thread::yield_now);
        thread::yield_now();
        assert_eq!(*LOCK.get_or_init(|| Locks(Arc::default())).0.lock().unwrap(), 0);
    });
}
