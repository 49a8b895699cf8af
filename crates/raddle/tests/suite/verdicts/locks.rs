//! Mutexes, reader-writer locks and barriers.

use raddle::sync::{Barrier, Mutex, RwLock, TryLockError};

use super::table::{self, Row, each, fails, two, verified};

type Locks = (Mutex<u32>, Mutex<u32>);

const MUTEX: &[Row] = &[
    verified("two sections", 2, || two(Mutex::new(0), |m| *m.lock().unwrap() += 1, |m| *m.lock().unwrap() += 1)),
    verified("three sections", 6, || {
        let add: fn(&Mutex<u32>) = |m| *m.lock().unwrap() += 1;
        assert_eq!(*each(Mutex::new(0), [add, add, add]).lock().unwrap(), 3);
    }),
    // All interleavings of two and two sections.
    verified("two and two sections", 6, || {
        let add: fn(&Mutex<u32>) = |m| {
            *m.lock().unwrap() += 1;
            *m.lock().unwrap() += 1;
        };
        assert_eq!(*each(Mutex::new(0), [add, add]).lock().unwrap(), 4);
    }),
    // Who has the outer lock first has the inner one first.
    verified("nested in one order", 2, || {
        let both: fn(&Locks) = |(a, b)| *a.lock().unwrap() += *b.lock().unwrap();
        _ = each(Locks::default(), [both, both]);
    }),
    fails("nested in opposite orders", "deadlock", || {
        two(
            Locks::default(),
            |(a, b)| *a.lock().unwrap() += *b.lock().unwrap(),
            |(a, b)| *b.lock().unwrap() += *a.lock().unwrap(),
        );
    }),
    // The two orders of each lock, less the one that is a cycle.
    verified("one after the other in opposite orders", 3, || {
        two(
            Locks::default(),
            |(a, b)| {
                *a.lock().unwrap() += 1;
                *b.lock().unwrap() += 1;
            },
            |(a, b)| {
                *b.lock().unwrap() += 1;
                *a.lock().unwrap() += 1;
            },
        );
    }),
    fails("the same lock twice", "deadlock", || {
        let lock = Mutex::new(());
        let _held = lock.lock().unwrap();
        let _again = lock.lock().unwrap();
    }),
    fails("a guard that is forgotten", "deadlock", || {
        two(Mutex::new(()), |m| drop(m.lock()), |m| std::mem::forget(m.lock()));
    }),
    fails("a lost update in two sections", "panic", || {
        let add: fn(&Mutex<u32>) = |m| {
            let seen = *m.lock().unwrap();
            *m.lock().unwrap() = seen + 1;
        };
        assert_eq!(*each(Mutex::new(0), [add, add]).lock().unwrap(), 2);
    }),
    // The attempt comes before, within or after the section.
    verified("an attempt and a section", 3, || two(Mutex::new(0), |m| drop(m.try_lock()), |m| *m.lock().unwrap() += 1)),
    // One after the other, in either order, or one within the other, either of them.
    verified("two attempts", 4, || two(Mutex::new(0), |m| drop(m.try_lock()), |m| drop(m.try_lock()))),
    fails("an attempt within a section", "panic", || {
        two(
            Mutex::new(0),
            |m| assert!(!matches!(m.try_lock(), Err(TryLockError::WouldBlock))),
            |m| *m.lock().unwrap() += 1,
        );
    }),
];

type RwLocks = (RwLock<u32>, RwLock<u32>);

const RWLOCK: &[Row] = &[
    verified("two readers", 1, || two(RwLock::new(0), |l| drop(l.read()), |l| drop(l.read()))),
    verified("a reader and a writer", 2, || two(RwLock::new(0), |l| drop(l.read()), |l| drop(l.write()))),
    verified("two writers", 2, || two(RwLock::new(0), |l| drop(l.write()), |l| drop(l.write()))),
    // Each reader comes before or after the writer.
    verified("two readers and a writer", 4, || {
        _ = each(RwLock::new(0), [|l| drop(l.read()), |l| drop(l.read()), |l| drop(l.write())]);
    }),
    verified("an attempt to write and a reader", 3, || {
        two(RwLock::new(0), |l| drop(l.try_write()), |l| drop(l.read()))
    }),
    verified("an attempt to read and a writer", 3, || two(RwLock::new(0), |l| drop(l.try_read()), |l| drop(l.write()))),
    verified("an attempt to read and a reader", 1, || {
        two(RwLock::new(0), |l| assert!(l.try_read().is_ok()), |l| drop(l.read()))
    }),
    fails("an attempt to read within a writer's section", "panic", || {
        two(RwLock::new(0), |l| assert!(l.try_read().is_ok()), |l| *l.write().unwrap() += 1);
    }),
    fails("a lost update by readers", "panic", || {
        let add: fn(&RwLock<u32>) = |l| {
            let seen = *l.read().unwrap();
            *l.write().unwrap() = seen + 1;
        };
        assert_eq!(*each(RwLock::new(0), [add, add]).read().unwrap(), 2);
    }),
    fails("a reader that wants to write", "deadlock", || {
        let lock = RwLock::new(0);
        let _read = lock.read().unwrap();
        drop(lock.write());
    }),
    fails("two readers that each write the other's", "deadlock", || {
        two(
            RwLocks::default(),
            |(a, b)| {
                let _read = a.read().unwrap();
                *b.write().unwrap() += 1;
            },
            |(a, b)| {
                let _read = b.read().unwrap();
                *a.write().unwrap() += 1;
            },
        );
    }),
    verified("two who read both, in opposite orders", 1, || {
        two(
            RwLocks::default(),
            |(a, b)| _ = *a.read().unwrap() + *b.read().unwrap(),
            |(a, b)| _ = *b.read().unwrap() + *a.read().unwrap(),
        );
    }),
];

const BARRIER: &[Row] = &[
    // Who comes last leads.
    verified("two at a barrier", 2, || {
        two(Barrier::new(2), |b| _ = b.wait().is_leader(), |b| _ = b.wait().is_leader());
    }),
    verified("two rounds", 4, || {
        let twice: fn(&Barrier) = |b| {
            b.wait();
            b.wait();
        };
        _ = each(Barrier::new(2), [twice, twice]);
    }),
    fails("one too few", "deadlock", || two(Barrier::new(3), |b| _ = b.wait(), |b| _ = b.wait())),
    fails("the main thread leads", "panic", || {
        two(Barrier::new(2), |b| assert!(b.wait().is_leader()), |b| _ = b.wait())
    }),
    fails("three at a barrier of two", "deadlock", || {
        let wait: fn(&Barrier) = |b| _ = b.wait();
        _ = each(Barrier::new(2), [wait, wait, wait]);
    }),
];

#[test]
fn mutex() {
    table::check(MUTEX);
}

#[test]
fn rwlock() {
    table::check(RWLOCK);
}

#[test]
fn barrier() {
    table::check(BARRIER);
}
