//! Threads that still wait when the test's function has returned, and that nobody can wake.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use raddle::{Explorer, thread};

use super::table::{self, Row, fails, verified};

fn allowed(explorer: Explorer) -> Explorer {
    explorer.leaked_threads("allow")
}

fn two_waiters_of_which_one_is_notified() {
    let flag = Arc::new((Mutex::new(false), Condvar::new()));
    for _ in 0..2 {
        let flag = flag.clone();
        thread::spawn(move || {
            let mut up = flag.0.lock().unwrap();
            while !*up {
                up = flag.1.wait(up).unwrap();
            }
        });
    }
    *flag.0.lock().unwrap() = true;
    flag.1.notify_one();
}

fn parked_for_ever() {
    let sum = Arc::new(AtomicUsize::new(0));
    let theirs = sum.clone();
    thread::spawn(move || {
        theirs.fetch_add(1, SeqCst);
        loop {
            thread::park();
        }
    });
    sum.fetch_add(1, SeqCst);
}

/// Ends the process if it is dropped while `std` sees a panic.
struct NotDuringAPanic;

impl Drop for NotDuringAPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

const ROWS: &[Row] = &[
    fails("a lost wake-up of a detached thread", "deadlock", two_waiters_of_which_one_is_notified),
    fails("parked", "deadlock", parked_for_ever),
    verified("parked, which is allowed", 2, parked_for_ever).with(allowed),
    fails("with a guard that must not be dropped during a panic", "deadlock", || {
        thread::spawn(|| {
            let _guard = NotDuringAPanic;
            loop {
                thread::park();
            }
        });
    }),
    fails("receiving from a sender that is never dropped", "deadlock", || {
        let (sender, receiver) = mpsc::channel::<u32>();
        thread::spawn(move || receiver.recv());
        std::mem::forget(sender);
    }),
    fails("receiving from itself", "deadlock", || {
        let (sender, receiver) = mpsc::channel::<u32>();
        thread::spawn(move || {
            let _own = sender;
            let _ = receiver.recv();
        });
    }),
    fails("sending without room", "deadlock", || {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::spawn(move || sender.send(1));
        std::mem::forget(receiver);
    }),
    fails("at a barrier", "deadlock", || {
        let barrier = Arc::new(Barrier::new(2));
        thread::spawn(move || barrier.wait());
    }),
    fails("for a mutex", "deadlock", || {
        let lock = Arc::new(Mutex::new(()));
        std::mem::forget(lock.lock());
        thread::spawn(move || drop(lock.lock()));
    }),
    fails("for a reader", "deadlock", || {
        let lock = Arc::new(RwLock::new(()));
        std::mem::forget(lock.read());
        thread::spawn(move || drop(lock.write()));
    }),
    fails("for another detached thread", "deadlock", || {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        thread::spawn(move || theirs.call_once(|| thread::park()));
        thread::spawn(move || once.call_once(|| ()));
    }),
    fails("for one another, which is never allowed", "deadlock", || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = locks.clone();
        thread::spawn(move || {
            let _first = theirs.0.lock();
            let _second = theirs.1.lock();
        });
        thread::spawn(move || {
            let _first = locks.1.lock();
            let _second = locks.0.lock();
        });
    })
    .with(allowed),
    fails("joining one that waits", "deadlock", || {
        let parked = thread::spawn(thread::park);
        thread::spawn(move || parked.join());
    }),
    fails("spinning", "livelock", || {
        let flag = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || while flag.load(SeqCst) == 0 {});
    })
    .alone(),
    // Whoever is detached goes on to its end.
    fails("going on after main has returned", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = sum.clone();
        thread::spawn(move || assert_eq!(theirs.load(SeqCst), 0, "main was faster"));
        sum.store(1, SeqCst);
    }),
];

#[test]
fn waiting_after_main() {
    table::check(ROWS);
}
