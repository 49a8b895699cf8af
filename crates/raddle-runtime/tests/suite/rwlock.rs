//! Locks for many readers or one writer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_runtime::sync::atomic::{AtomicI32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::explore::{exhaustive, fails, passes, results, run_with, waits_for_itself};
use crate::shared_cell::Shared;

/// Runs both at the same time, on a lock each can count its holders by: readers up, writers down.
fn together(
    first: fn(&RwLock<u32>, &AtomicI32) -> i32,
    second: fn(&RwLock<u32>, &AtomicI32) -> i32,
) -> impl Fn() -> i32 + Send + Sync + 'static {
    move || {
        let shared = Arc::new((RwLock::new(0), AtomicI32::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || second(&other.0, &other.1));
        let most = first(&shared.0, &shared.1);
        most.max(thread.join().unwrap())
    }
}

fn read(lock: &RwLock<u32>, holders: &AtomicI32) -> i32 {
    let _guard: RwLockReadGuard<'_, u32> = lock.read().unwrap();
    let now = holders.fetch_add(1, SeqCst) + 1;
    holders.fetch_sub(1, SeqCst);
    now
}

fn write(lock: &RwLock<u32>, holders: &AtomicI32) -> i32 {
    let mut guard: RwLockWriteGuard<'_, u32> = lock.write().unwrap();
    let now = holders.fetch_add(1, SeqCst) + 1;
    *guard += 1;
    holders.fetch_sub(1, SeqCst);
    now
}

#[test]
fn readers_hold_it_together_and_writers_alone() {
    assert_eq!(results(together(read, read)), [1, 2].into());
    assert_eq!(results(together(read, write)), [1].into());
    assert_eq!(results(together(write, write)), [1].into());
}

#[test]
fn try_locks_fail_only_while_the_lock_is_held() {
    let try_read = |lock: &RwLock<u32>, _: &AtomicI32| match lock.try_read() {
        Ok(_) => 0,
        Err(TryLockError::WouldBlock) => 5,
        Err(TryLockError::Poisoned(_)) => panic!("poisoned"),
    };
    let try_write = |lock: &RwLock<u32>, _: &AtomicI32| match lock.try_write() {
        Ok(_) => 0,
        Err(TryLockError::WouldBlock) => 5,
        Err(TryLockError::Poisoned(_)) => panic!("poisoned"),
    };
    assert_eq!(results(together(try_read, |l, h| read(l, h) - 10)), [0].into());
    assert_eq!(results(together(try_read, |l, h| write(l, h) - 10)), [0, 5].into());
    assert_eq!(results(together(try_write, |l, h| read(l, h) - 10)), [0, 5].into());
    assert_eq!(results(together(try_write, |l, h| write(l, h) - 10)), [0, 5].into());
}

#[test]
fn polling_ends() {
    passes(|| {
        let lock = Arc::new(RwLock::new(false));
        let other = lock.clone();
        let thread = thread::spawn(move || *other.write().unwrap() = true);
        while !*lock.read().unwrap() {}
        thread.join().unwrap();
    });
}

#[test]
fn writing_while_reading_is_a_deadlock_with_oneself() {
    waits_for_itself("lock for writing", || {
        let lock = RwLock::new(());
        let _reading = lock.read().unwrap();
        let _writing = lock.write();
    });
}

#[test]
fn two_upgrades_deadlock_and_the_report_names_both_readers() {
    let failure = fails(|| {
        let (a, b) = (Arc::new(RwLock::new(())), Arc::new(RwLock::new(())));
        let (a2, b2) = (a.clone(), b.clone());
        let thread = thread::spawn(move || {
            let _b = b2.read().unwrap();
            let _a = a2.write().unwrap();
        });
        let _a = a.read().unwrap();
        drop(b.write().unwrap());
        thread.join().unwrap();
    });
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert!(waiting.iter().take(2).all(|w| w.held_by.len() == 1 && w.held_by[0].0 != w.task), "{waiting:?}");
}

fn poisoning() {
    let lock = RwLock::new(1);
    let reading = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.read().unwrap();
        panic!("while reading");
    }));
    assert!(reading.is_err() && !lock.is_poisoned());
    let writing = catch_unwind(AssertUnwindSafe(|| {
        *lock.write().unwrap() = 2;
        let _guard = lock.write().unwrap();
        panic!("while writing");
    }));
    assert!(writing.is_err() && lock.is_poisoned());
    assert_eq!(*lock.read().unwrap_err().into_inner(), 2);
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    lock.clear_poison();
    assert_eq!(*lock.write().unwrap(), 2);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.write();
        panic!("again");
    }));
    let mut lock = lock;
    assert!(lock.get_mut().is_err());
    assert_eq!(lock.into_inner().unwrap_err().into_inner(), 2);
}

#[test]
fn only_writers_poison() {
    passes(poisoning);
    poisoning();
}

fn cell_under(first: fn(&(RwLock<()>, Shared)), second: fn(&(RwLock<()>, Shared))) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((RwLock::new(()), Shared::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || second(&other));
        first(&shared);
        thread.join().unwrap();
    }
}

#[test]
fn it_orders_writers_with_everybody_and_readers_with_nobody() {
    let read_and_change = |shared: &(RwLock<()>, Shared)| {
        let _guard = shared.0.read().unwrap();
        // SAFETY: as for `Shared`.
        shared.1.0.with_mut(|value| unsafe { *value += 1 });
    };
    let write_and_change = |shared: &(RwLock<()>, Shared)| {
        let _guard = shared.0.write().unwrap();
        // SAFETY: as for `Shared`.
        shared.1.0.with_mut(|value| unsafe { *value += 1 });
    };
    let try_read_and_change = |shared: &(RwLock<()>, Shared)| {
        if let Ok(_guard) = shared.0.try_read() {
            // SAFETY: as for `Shared`.
            shared.1.0.with_mut(|value| unsafe { *value += 1 });
        }
    };
    let try_write_and_change = |shared: &(RwLock<()>, Shared)| {
        if let Ok(_guard) = shared.0.try_write() {
            // SAFETY: as for `Shared`.
            shared.1.0.with_mut(|value| unsafe { *value += 1 });
        }
    };
    passes(cell_under(try_read_and_change, write_and_change));
    passes(cell_under(try_write_and_change, write_and_change));
    passes(cell_under(try_write_and_change, read_and_change));
    passes(cell_under(write_and_change, write_and_change));
    passes(cell_under(read_and_change, write_and_change));
    // Found in the very first order, in which one reader comes after the other.
    let report = exhaustive(&Settings::default(), cell_under(read_and_change, read_and_change));
    let found = report.found.expect("a race");
    assert!(matches!(found.failure, Failure::DataRace { .. }) && found.after == 1, "{found:?}");
}

#[test]
fn poison_from_outside_is_seen_in_every_execution() {
    static POISONED: RwLock<u32> = RwLock::new(0);
    let panicked = catch_unwind(|| {
        let _guard = POISONED.write();
        panic!("while writing");
    });
    assert!(panicked.is_err());
    let executions = passes(|| {
        let thread = thread::spawn(thread::yield_now);
        thread::yield_now();
        assert!(POISONED.is_poisoned() && POISONED.read().is_err());
        thread.join().unwrap();
    });
    assert!(executions > 1);
}

#[test]
fn contents_of_a_static_that_leak_into_the_next_execution_are_reported() {
    static LEAKY: RwLock<u32> = RwLock::new(0);
    static READ_ONLY: RwLock<u32> = RwLock::new(7);
    let two_orders = |body: fn()| {
        move || {
            let thread = thread::spawn(thread::yield_now);
            thread::yield_now();
            body();
            thread.join().unwrap();
        }
    };
    passes(two_orders(|| assert_eq!(*READ_ONLY.read().unwrap(), 7)));
    assert!(matches!(fails(two_orders(|| *LEAKY.write().unwrap() += 1)), Failure::Leak { .. }));
}

#[test]
fn a_lock_that_is_held_outside_the_execution_is_reported() {
    let lock = Arc::new(RwLock::new(()));
    let found = |body: fn(&RwLock<()>)| {
        let inside = lock.clone();
        let report =
            run_with(&Settings::default(), &mut Exhaustive::depth_first(), Limits::default(), move || body(&inside));
        report.found.map(|found| found.failure)
    };
    let held = lock.read().unwrap();
    assert_eq!(found(|lock| drop(lock.read())), None);
    assert!(matches!(found(|lock| drop(lock.write())), Some(Failure::HeldElsewhere { .. })));
    drop(held);
    let _held = lock.write().unwrap();
    assert!(matches!(found(|lock| drop(lock.read())), Some(Failure::HeldElsewhere { .. })));
}

fn values() {
    assert_eq!(*RwLock::<u32>::default().read().unwrap(), 0);
    assert_eq!(*RwLock::from(3).write().unwrap(), 3);
    let mut lock = RwLock::new(vec![1]);
    lock.write().unwrap().push(2);
    lock.get_mut().unwrap().push(3);
    assert_eq!(format!("{:?}", lock.read().unwrap()), "[1, 2, 3]");
    assert_eq!(format!("{}{}", RwLock::new(7).read().unwrap(), RwLock::new(8).write().unwrap()), "78");
    assert_eq!(lock.into_inner().unwrap(), [1, 2, 3]);
    let slice: &RwLock<[u32]> = &RwLock::new([1, 2, 3]);
    slice.write().unwrap()[0] = 4;
    assert_eq!(*slice.read().unwrap(), [4, 2, 3]);
}

#[test]
fn it_holds_values_as_that_of_std_does() {
    passes(values);
    values();
}

#[test]
fn real_threads_share_it_outside_of_executions() {
    let lock = Arc::new(RwLock::new(0));
    let add = |lock: Arc<RwLock<u32>>| std::thread::spawn(move || (0..100).for_each(|_| *lock.write().unwrap() += 1));
    let threads = [add(lock.clone()), add(lock.clone())];
    let (a, b) = (lock.read().unwrap(), lock.read().unwrap());
    assert_eq!(*a, *b);
    assert!(lock.try_write().is_err());
    drop((a, b));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*lock.try_read().unwrap(), 200);
    assert_eq!(format!("{lock:?}"), format!("{:?}", std::sync::RwLock::new(200)));
}
