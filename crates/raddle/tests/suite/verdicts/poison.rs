//! Locks that are poisoned by a panic: whoever comes later can tell.

use raddle::Explorer;
use raddle::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock};
use raddle::thread;

use super::table::{self, Row, caught, fails, nothing, two, verified};

fn isolated(explorer: Explorer) -> Explorer {
    explorer.isolate_panics(true)
}

const ROWS: &[Row] = &[
    fails("a caught panic under a mutex", "panic", || {
        two(
            Mutex::new(0),
            |m| assert!(m.lock().is_ok(), "poisoned"),
            |m| {
                caught(|| {
                    let _held = m.lock();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("the panic of an isolated thread under a mutex", "panic", || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let thread = thread::spawn(move || {
            let _held = theirs.lock();
            panic!("poisons it");
        });
        assert!(lock.lock().is_ok(), "poisoned");
        let _: Result<(), _> = thread.join();
    })
    .with(isolated),
    nothing("an isolated thread that is joined first", || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let thread = thread::spawn(move || {
            let _held = theirs.lock();
            panic!("poisons it");
        });
        assert!(thread.join().is_err());
        assert!(lock.lock().is_err());
    })
    .with(isolated),
    // Before or after the section that poisons it.
    verified("a lock that is taken all the same", 2, || {
        two(
            Mutex::new(0),
            |m| *m.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1,
            |m| {
                caught(|| {
                    let _held = m.lock();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("is_poisoned", "panic", || {
        two(
            Mutex::new(0),
            |m| assert!(!m.is_poisoned()),
            |m| {
                caught(|| {
                    let _held = m.lock();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("clear_poison comes too early", "panic", || {
        two(
            Mutex::new(0),
            |m| {
                m.clear_poison();
                drop(m.lock().unwrap());
            },
            |m| {
                caught(|| {
                    let _held = m.lock();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("try_lock tells of the poison", "panic", || {
        two(
            Mutex::new(0),
            |m| assert!(!matches!(m.try_lock(), Err(raddle::sync::TryLockError::Poisoned(_)))),
            |m| {
                caught(|| {
                    let _held = m.lock();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("a writer's panic", "panic", || {
        two(
            RwLock::new(0),
            |l| assert!(l.read().is_ok(), "poisoned"),
            |l| {
                caught(|| {
                    let _held = l.write();
                    panic!("poisons it");
                });
            },
        );
    }),
    // Only writers poison, and readers come in no order.
    verified("a reader's panic", 1, || {
        two(
            RwLock::new(0),
            |l| assert!(l.read().is_ok(), "poisoned"),
            |l| {
                caught(|| {
                    let _held = l.read();
                    panic!("does not poison it");
                });
            },
        );
    }),
    fails("poisoned while somebody waits", "panic", || {
        two(
            (Mutex::new(false), Condvar::new()),
            |(flag, raised)| {
                let up = flag.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                assert!(raised.wait_while(up, |up| !*up).is_ok(), "poisoned");
            },
            |(flag, raised)| {
                caught(|| {
                    let mut up = flag.lock().unwrap();
                    *up = true;
                    raised.notify_one();
                    panic!("poisons it");
                });
            },
        );
    }),
    fails("the inner lock is let go before the outer one", "panic", || {
        two(
            (Mutex::new(0), Mutex::new(0)),
            |(outer, inner)| {
                if inner.is_poisoned() {
                    assert!(!matches!(outer.try_lock(), Err(raddle::sync::TryLockError::WouldBlock)), "still held");
                }
            },
            |(outer, inner)| {
                caught(|| {
                    let _outer = outer.lock();
                    let _inner = inner.lock();
                    panic!("poisons both");
                });
            },
        );
    }),
    fails("a lazy value whose making panics", "panic", || {
        two(LazyLock::<u32, fn() -> u32>::new(|| panic!("not made")), |lazy| caught(|| _ = **lazy), |lazy| _ = **lazy);
    }),
    // Whoever comes first fails to make it, and whoever comes second makes it; or it is made at once.
    verified("get_or_init after a panic", 2, || {
        two(
            OnceLock::new(),
            |cell| _ = cell.get_or_init(|| 1),
            |cell| caught(|| _ = cell.get_or_init(|| panic!("not made"))),
        );
    }),
    fails("a barrier that an isolated thread never comes to", "deadlock", || {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        let sum = Arc::new(Mutex::new(0));
        let added = sum.clone();
        thread::spawn(move || {
            assert_eq!(*added.lock().unwrap(), 0, "main was first");
            theirs.wait();
        });
        *sum.lock().unwrap() += 1;
        barrier.wait();
    })
    .with(isolated),
    fails("is_poisoned of a reader-writer lock", "panic", || {
        two(
            RwLock::new(0),
            |l| assert!(!l.is_poisoned()),
            |l| {
                caught(|| {
                    let _held = l.try_write();
                    panic!("poisons it");
                });
            },
        );
    }),
];

#[test]
fn poison() {
    table::check(ROWS);
}
