//! Destructors that run while a panic unwinds take steps as any others do.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, TryLockError, mpsc};
use raddle::{Explorer, thread};

use super::table::{self, Row, caught, fails, two, verified};

/// Does something when it is dropped.
struct AtLast<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtLast<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn isolated(explorer: Explorer) -> Explorer {
    explorer.isolate_panics(true)
}

fn stores_when_dropped(a: &AtomicUsize, panics: bool) {
    caught(|| {
        let _stores = AtLast(|| {
            a.store(1, SeqCst);
            a.store(2, SeqCst);
        });
        assert!(!panics);
    });
}

fn holds_a_lock(lock: &Mutex<u32>, panics: bool) {
    caught(|| {
        let _held = lock.lock();
        assert!(!panics);
    });
}

fn is_not_held(lock: &Mutex<u32>) {
    assert!(!matches!(lock.try_lock(), Err(TryLockError::WouldBlock)), "held");
}

const ROWS: &[Row] = &[
    fails("between two stores of a destructor", "panic", || {
        two(AtomicUsize::new(0), |a| assert_ne!(a.load(SeqCst), 1), |a| stores_when_dropped(a, false));
    }),
    fails("between two stores of a destructor during a panic", "panic", || {
        two(AtomicUsize::new(0), |a| assert_ne!(a.load(SeqCst), 1), |a| stores_when_dropped(a, true));
    }),
    // The load comes before, between or after the stores.
    verified("a load and two stores of a destructor during a panic", 3, || {
        two(AtomicUsize::new(0), |a| _ = a.load(SeqCst), |a| stores_when_dropped(a, true));
    }),
    fails("a lock that is held", "panic", || two(Mutex::new(0), is_not_held, |m| holds_a_lock(m, false))),
    fails("a lock that is held during a panic", "panic", || two(Mutex::new(0), is_not_held, |m| holds_a_lock(m, true))),
    fails("a destructor sends during a panic", "panic", || {
        let (sender, receiver) = mpsc::channel();
        let theirs = sender.clone();
        let thread = thread::spawn(move || {
            caught(|| {
                let _sends = AtLast(|| theirs.send(1).unwrap());
                panic!("unwinds");
            });
        });
        assert!(receiver.try_recv().is_err(), "it was sent already");
        thread.join().unwrap();
        drop(sender);
    }),
    fails("the last sender goes during a panic", "panic", || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let thread = thread::spawn(move || {
            caught(move || {
                let _sender = sender;
                panic!("unwinds");
            });
        });
        assert_ne!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        thread.join().unwrap();
    }),
    fails("a destructor notifies during a panic, and too early", "deadlock", || {
        two(
            (Mutex::new(false), Condvar::new()),
            |(flag, raised)| {
                let up = flag.lock().unwrap();
                drop(raised.wait(up));
            },
            |(_, raised)| {
                caught(|| {
                    let _notifies = AtLast(|| raised.notify_one());
                    panic!("unwinds");
                });
            },
        );
    }),
    // Which of the two is told is not for sure: nobody knows whether a panic will be caught before it is.
    fails("destructors lock in opposite orders during panics", "deadlock or panic", || {
        let take = |a: &Mutex<u32>, b: &Mutex<u32>| {
            caught(|| {
                let _locks = AtLast(|| {
                    let _first = a.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let _second = b.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                });
                panic!("unwinds");
            });
        };
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = locks.clone();
        let thread = thread::spawn(move || take(&theirs.1, &theirs.0));
        take(&locks.0, &locks.1);
        thread.join().unwrap();
    }),
    fails("a destructor of an isolated thread stores", "panic", || {
        let a = Arc::new(AtomicUsize::new(0));
        let theirs = a.clone();
        let thread = thread::spawn(move || {
            let _stores = AtLast(|| {
                theirs.store(1, SeqCst);
                theirs.store(2, SeqCst);
            });
            panic!("unwinds");
        });
        assert_ne!(a.load(SeqCst), 1, "between the stores");
        let _: Result<(), _> = thread.join();
    })
    .with(isolated),
    fails("a destructor panics during a panic", "abort", || {
        two(
            AtomicUsize::new(0),
            |a| a.store(1, SeqCst),
            |a| {
                let _panics = AtLast(|| assert!(!thread::panicking(), "again"));
                assert_eq!(a.load(SeqCst), 0, "once");
            },
        );
    }),
    fails("the receiver goes during a panic", "panic", || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            caught(move || {
                let _receiver = receiver;
                panic!("unwinds");
            });
        });
        assert!(sender.send(1).is_ok(), "nobody can receive it");
        thread.join().unwrap();
    }),
];

#[test]
fn unwinding() {
    table::check(ROWS);
}
