//! Mutual exclusion locks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_runtime::sync::atomic::AtomicI32;
use raddle_runtime::sync::atomic::Ordering::{Relaxed, SeqCst};
use raddle_runtime::sync::{Arc, Mutex, MutexGuard, TryLockError};
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::explore::{exhaustive, fails, passes, results, run_with, waits_for_itself};
use crate::shared_cell::Shared;

#[test]
fn one_thread_holds_it_at_a_time() {
    let most = results(|| {
        let shared = Arc::new((Mutex::new(0), AtomicI32::new(0)));
        let work = |(lock, holders): &(Mutex<i32>, AtomicI32)| {
            let mut guard: MutexGuard<'_, i32> = lock.lock().unwrap();
            let now = holders.fetch_add(1, SeqCst) + 1;
            *guard += 1;
            holders.fetch_sub(1, SeqCst);
            now
        };
        let other = shared.clone();
        let thread = thread::spawn(move || work(&other));
        let most = work(&shared).max(thread.join().unwrap());
        assert_eq!(*shared.0.lock().unwrap(), 2);
        most
    });
    assert_eq!(most, [1].into());
}

/// A thread that releases the lock may take it again before a thread that has waited all the time.
#[test]
fn it_is_not_fair() {
    let orders = results(|| {
        let log = Arc::new(Mutex::new(String::new()));
        let other = log.clone();
        let thread = thread::spawn(move || other.lock().unwrap().push('b'));
        (0..2).for_each(|_| log.lock().unwrap().push('a'));
        thread.join().unwrap();
        log.lock().unwrap().clone()
    });
    assert_eq!(orders, ["aab", "aba", "baa"].map(str::to_owned).into());
}

#[test]
fn trying_fails_only_while_it_is_held() {
    let outcomes = results(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        let thread = thread::spawn(move || drop(other.lock().unwrap()));
        let failed = match lock.try_lock() {
            Ok(_guard) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Poisoned(_)) => panic!("poisoned"),
        };
        thread.join().unwrap();
        assert!(lock.try_lock().is_ok());
        failed
    });
    assert_eq!(outcomes, [false, true].into());
    passes(|| {
        let lock = Mutex::new(());
        let guard = lock.lock().unwrap();
        assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        assert!(lock.try_lock().is_ok());
    });
}

#[test]
fn locking_twice_is_a_deadlock_with_oneself() {
    waits_for_itself("lock", || {
        let lock = Mutex::new(());
        let _first = lock.lock().unwrap();
        let _second = lock.lock();
    });
}

#[test]
fn two_locks_in_two_orders_deadlock_and_the_report_names_both_holders() {
    let failure = fails(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = locks.clone();
        let thread = thread::spawn(move || {
            let _second = other.1.lock().unwrap();
            let _first = other.0.lock().unwrap();
        });
        let first = locks.0.lock().unwrap();
        drop(locks.1.lock().unwrap());
        drop(first);
        thread.join().unwrap();
    });
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!(waiting.len(), 2);
    assert_eq!((waiting[0].held_by[0].0, waiting[1].held_by[0].0), (waiting[1].task, waiting[0].task));
}

#[test]
fn polling_ends() {
    passes(|| {
        let lock = Arc::new(Mutex::new(false));
        let other = lock.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() = true);
        while !*lock.lock().unwrap() {}
        thread.join().unwrap();
    });
    passes(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        let thread = thread::spawn(move || drop(other.lock().unwrap()));
        while lock.try_lock().is_err() {}
        thread.join().unwrap();
    });
}

fn panic_holding<T>(lock: &Mutex<T>) {
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.lock();
        panic!("while holding the lock");
    }));
    assert!(panicked.is_err());
}

fn poisoning() {
    let mut lock = Mutex::new(1);
    let released = catch_unwind(AssertUnwindSafe(|| {
        *lock.lock().unwrap() = 2;
        panic!("after releasing the lock");
    }));
    assert!(released.is_err() && !lock.is_poisoned());
    panic_holding(&lock);
    assert!(lock.is_poisoned());
    assert_eq!(*lock.lock().unwrap_err().into_inner(), 2);
    let Err(TryLockError::Poisoned(poisoned)) = lock.try_lock() else { panic!("not poisoned") };
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)), "a poisoned lock is held as well");
    drop(poisoned);
    assert_eq!(*lock.get_mut().unwrap_err().into_inner(), 2);
    assert!(lock.is_poisoned(), "looking at the data clears nothing");
    lock.clear_poison();
    assert!(!lock.is_poisoned());
    *lock.lock().unwrap() += 1;
    *lock.get_mut().unwrap() += 1;
    panic_holding(&lock);
    assert_eq!(lock.into_inner().unwrap_err().into_inner(), 4);
    assert_eq!(Mutex::new(5).into_inner().unwrap(), 5);
}

#[test]
fn a_panic_of_the_holder_poisons_it() {
    passes(poisoning);
    poisoning();
}

/// A destructor that runs because of a panic takes the lock and releases it.
fn locking_while_panicking() {
    struct Locks<'a>(&'a Mutex<u32>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let lock = Mutex::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _locks = Locks(&lock);
        panic!("before taking the lock");
    }));
    assert!(panicked.is_err());
    assert_eq!(lock.into_inner().unwrap(), 1);
}

#[test]
fn a_lock_taken_while_panicking_is_not_poisoned() {
    passes(locking_while_panicking);
    locking_while_panicking();
}

#[test]
fn a_thread_that_panics_poisons_it_for_the_others() {
    let settings = Settings { isolate_panics: true, ..Settings::default() };
    let report = exhaustive(&settings, || {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("while holding the lock");
        });
        // Before the panic the lock is in order, after it poisoned.
        drop(lock.lock());
        assert!(thread.join().is_err());
        assert!(lock.is_poisoned() && lock.lock().is_err());
    });
    assert!(report.verified() && report.executions > 1, "{report:?}");
}

/// Calls `body` in more than one execution.
fn in_two_orders(body: fn()) -> impl Fn() + Send + Sync + 'static {
    move || {
        let thread = thread::spawn(thread::yield_now);
        thread::yield_now();
        body();
        thread.join().unwrap();
    }
}

#[test]
fn poison_does_not_reach_the_next_execution() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let executions = passes(in_two_orders(|| {
        assert!(!LOCK.is_poisoned());
        panic_holding(&LOCK);
        assert!(LOCK.is_poisoned());
    }));
    assert!(executions > 1);
    assert!(!LOCK.is_poisoned(), "outside of any execution nobody has panicked");
}

#[test]
fn poison_from_outside_is_seen_in_every_execution() {
    static POISONED: Mutex<u32> = Mutex::new(0);
    panic_holding(&POISONED);
    let executions = passes(in_two_orders(|| assert!(POISONED.is_poisoned() && POISONED.lock().is_err())));
    assert!(executions > 1);
}

#[test]
fn contents_of_a_static_that_leak_into_the_next_execution_are_reported() {
    static LEAKY: Mutex<u32> = Mutex::new(0);
    static READ_ONLY: Mutex<u32> = Mutex::new(7);
    passes(in_two_orders(|| assert_eq!(*READ_ONLY.lock().unwrap(), 7)));
    assert!(matches!(fails(in_two_orders(|| *LEAKY.lock().unwrap() += 1)), Failure::Leak { .. }));
}

#[test]
fn a_lock_that_is_held_outside_the_execution_is_reported() {
    let lock = Arc::new(Mutex::new(()));
    let inside = lock.clone();
    let _held = lock.lock().unwrap();
    let report = run_with(&Settings::default(), &mut Exhaustive::depth_first(), Limits::default(), move || {
        drop(inside.lock());
    });
    let failure = report.found.expect("nobody in the execution can release the lock").failure;
    assert!(matches!(failure, Failure::HeldElsewhere { .. }), "{failure:?}");
}

#[test]
fn it_orders_memory_whichever_way_it_is_taken() {
    let under = |take: fn(&Mutex<()>) -> Option<MutexGuard<'_, ()>>| {
        move || {
            let shared = Arc::new((Mutex::new(()), Shared::new(0)));
            let add = move |(lock, cell): &(Mutex<()>, Shared)| {
                if let Some(_guard) = take(lock) {
                    // SAFETY: as for `Shared`.
                    cell.0.with_mut(|value| unsafe { *value += 1 });
                }
            };
            let other = shared.clone();
            let thread = thread::spawn(move || add(&other));
            add(&shared);
            thread.join().unwrap();
        }
    };
    passes(under(|lock| lock.lock().ok()));
    passes(under(|lock| lock.try_lock().ok()));
    // The lock is released too early.
    let failure = fails(|| {
        let shared = Arc::new((Mutex::new(()), Shared::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            drop(other.0.lock().unwrap());
            // SAFETY: as for `Shared`.
            other.1.0.with_mut(|value| unsafe { *value += 1 });
        });
        let guard = shared.0.lock().unwrap();
        // SAFETY: as for `Shared`.
        shared.1.0.with_mut(|value| unsafe { *value += 1 });
        drop(guard);
        thread.join().unwrap();
    });
    assert!(matches!(failure, Failure::DataRace { .. }), "{failure:?}");
}

/// As in `std`, a thread that does not get the lock learns nothing about what its holder did before.
#[test]
fn a_failed_try_orders_no_memory() {
    let failure = fails(|| {
        let shared = Arc::new((Mutex::new(()), Shared::new(0), AtomicI32::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let (lock, cell, stage) = &*other;
            // SAFETY: as for `Shared`.
            cell.0.with_mut(|value| unsafe { *value = 1 });
            drop(lock.lock().unwrap());
            stage.store(1, Relaxed);
            drop(lock.lock().unwrap());
        });
        let (lock, cell, stage) = &*shared;
        if stage.load(Relaxed) == 1 && lock.try_lock().is_err() {
            // SAFETY: as for `Shared`.
            cell.0.with(|value| assert_eq!(unsafe { *value }, 1));
        }
        thread.join().unwrap();
    });
    assert!(matches!(failure, Failure::DataRace { .. }), "{failure:?}");
}

fn values() {
    assert_eq!(*Mutex::<u32>::default().lock().unwrap(), 0);
    assert_eq!(*Mutex::from(3).lock().unwrap(), 3);
    let lock = Mutex::new(vec![1]);
    lock.lock().unwrap().push(2);
    assert_eq!(format!("{:?}", lock.lock().unwrap()), "[1, 2]");
    assert_eq!(format!("{}", Mutex::new(7).lock().unwrap()), "7");
    assert_eq!(format!("{lock:?}"), format!("{:?}", std::sync::Mutex::new([1, 2])));
    let slice: &Mutex<[u32]> = &Mutex::new([1, 2, 3]);
    slice.lock().unwrap()[0] = 4;
    assert_eq!(*slice.lock().unwrap(), [4, 2, 3]);
    let object: Arc<Mutex<dyn FnMut() -> u32 + Send>> = Arc::new(Mutex::new(|| 5));
    assert_eq!((object.lock().unwrap())(), 5);
}

#[test]
fn it_holds_values_as_that_of_std_does() {
    passes(values);
    values();
}

#[test]
fn real_threads_share_it_outside_of_executions() {
    let lock = Arc::new(Mutex::new(0));
    let add = |lock: Arc<Mutex<u32>>| std::thread::spawn(move || (0..100).for_each(|_| *lock.lock().unwrap() += 1));
    let threads = [add(lock.clone()), add(lock.clone())];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let guard = lock.try_lock().unwrap();
    assert_eq!(*guard, 200);
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
}
