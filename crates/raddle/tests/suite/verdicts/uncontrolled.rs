//! Threads of `std` in a test: whatever of Raddle's they use, it is a failure of its own kind.

use std::time::Duration;

use raddle::cell::Cell;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst, fence};
use raddle::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use raddle::thread;

use super::table::{self, Row, fails};

const KIND: &str = "uncontrolled thread";

/// So long a thread of `std` is late.
const LATE: Duration = Duration::from_millis(5);

/// Runs both, the second in a thread that is not under control, and waits for it.
fn beside_std<T: Send + Sync + 'static>(shared: T, main: fn(&T), other: fn(&T)) {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let thread = std::thread::spawn(move || other(&theirs));
    main(&shared);
    let _ = thread.join();
}

fn only_std<T: Send + Sync + 'static>(shared: T, other: fn(&T)) {
    beside_std(shared, |_| (), other);
}

static LAZY: LazyLock<u32> = LazyLock::new(|| 1);

const OBJECTS: &[Row] = &[
    fails("a lost update", KIND, || {
        let add: fn(&Mutex<u32>) = |m| {
            let seen = *m.lock().unwrap();
            *m.lock().unwrap() = seen + 1;
        };
        beside_std(Mutex::new(0), add, add);
    }),
    fails("a mutex that is held", KIND, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let held = lock.lock().unwrap();
        let _ = std::thread::spawn(move || theirs.try_lock().is_ok()).join();
        drop(held);
    }),
    fails("a mutex that is waited for", KIND, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let held = lock.lock().unwrap();
        let thread = std::thread::spawn(move || drop(theirs.lock()));
        drop(held);
        let _ = thread.join();
    }),
    fails("a reader", KIND, || only_std(RwLock::new(0), |l| drop(l.read()))),
    fails("a writer", KIND, || only_std(RwLock::new(0), |l| drop(l.write()))),
    fails("an attempt to read", KIND, || only_std(RwLock::new(0), |l| drop(l.try_read()))),
    fails("an atomic load", KIND, || beside_std(AtomicUsize::new(0), |a| a.store(1, SeqCst), |a| _ = a.load(SeqCst))),
    fails("an atomic addition", KIND, || only_std(AtomicUsize::new(0), |a| _ = a.fetch_add(1, SeqCst))),
    fails("a compare-exchange", KIND, || {
        only_std(AtomicUsize::new(0), |a| _ = a.compare_exchange(0, 1, SeqCst, SeqCst))
    }),
    fails("a fence", KIND, || only_std((), |()| fence(SeqCst))),
    fails("notify_one", KIND, || only_std(Condvar::new(), Condvar::notify_one)),
    fails("notify_all", KIND, || only_std(Condvar::new(), Condvar::notify_all)),
    fails("a wait at a condvar", KIND, || {
        only_std((Mutex::new(()), Condvar::new()), |(lock, condvar)| drop(condvar.wait(lock.lock().unwrap())));
    }),
    fails("waiting until a thread of std notifies", KIND, || {
        beside_std(
            (Mutex::new(()), Condvar::new()),
            |(lock, condvar)| drop(condvar.wait(lock.lock().unwrap())),
            |(_, condvar)| {
                std::thread::sleep(LATE);
                condvar.notify_one();
            },
        );
    }),
    fails("a barrier", KIND, || only_std(Barrier::new(1), |b| _ = b.wait())),
    fails("call_once", KIND, || only_std(Once::new(), |once| once.call_once(|| ()))),
    fails("get_or_init", KIND, || only_std(OnceLock::new(), |cell| _ = cell.get_or_init(|| 1))),
    fails("set", KIND, || only_std(OnceLock::new(), |cell| _ = cell.set(1))),
    fails("get of what is set", KIND, || beside_std(OnceLock::from(1), |_| (), |cell| _ = cell.get())),
    fails("a lazy static", KIND, || only_std((), |()| _ = *LAZY)),
    fails("send", KIND, || {
        let (sender, _receiver) = mpsc::channel();
        let _ = std::thread::spawn(move || sender.send(1)).join();
    }),
    fails("a message from a thread of std", KIND, || {
        let (sender, receiver) = mpsc::channel();
        let _ = std::thread::spawn(move || _ = sender.send(1)).join();
        let _ = receiver.recv();
    }),
    fails("recv", KIND, || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let thread = std::thread::spawn(move || _ = receiver.recv());
        let _ = sender.send(1);
        let _ = thread.join();
    }),
    fails("try_recv", KIND, || {
        let (_sender, receiver) = mpsc::channel::<u32>();
        let _ = std::thread::spawn(move || _ = receiver.try_recv()).join();
    }),
    fails("send with room", KIND, || {
        let (sender, _receiver) = mpsc::sync_channel(1);
        let _ = std::thread::spawn(move || sender.send(1)).join();
    }),
    fails("the last sender is dropped", KIND, || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let _ = std::thread::spawn(move || drop(sender)).join();
        let _ = receiver.recv();
    }),
    fails("waiting for a sender that a thread of std drops", KIND, || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(LATE);
            drop(sender);
        });
        let _ = receiver.recv();
        let _ = thread.join();
    }),
    fails("one of two senders is dropped", KIND, || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let theirs = sender.clone();
        let _ = std::thread::spawn(move || drop(theirs)).join();
        drop(sender);
        assert!(receiver.recv().is_err());
    }),
    fails("a sender is cloned", KIND, || {
        let (sender, _receiver) = mpsc::sync_channel::<u32>(1);
        let _ = std::thread::spawn(move || {
            let sender = std::mem::ManuallyDrop::new(sender);
            let _copy = sender.clone();
        })
        .join();
    }),
    fails("the receiver is dropped, and no sender is left", KIND, || {
        let (sender, receiver) = mpsc::channel::<u32>();
        drop(sender);
        let _ = std::thread::spawn(move || drop(receiver)).join();
    }),
    fails("a system of actors", KIND, || only_std((), |()| drop(raddle::actor::System::new()))),
    fails("a choice", KIND, || only_std((), |()| _ = raddle::choose(2))),
    fails("a random number", KIND, || only_std((), |()| _ = raddle::rand::random::<u8>())),
    fails("a cell", KIND, || {
        let cell = Cell::new(0);
        let _ = std::thread::spawn(move || cell.set(1)).join();
    }),
];

const THREADS: &[Row] = &[
    fails("unpark", KIND, || {
        let main = thread::current();
        let _ = std::thread::spawn(move || main.unpark()).join();
    }),
    fails("parked after a thread of std has unparked", KIND, || {
        let main = thread::current();
        let _ = std::thread::spawn(move || main.unpark()).join();
        thread::park();
    }),
    fails("park", KIND, || only_std((), |()| thread::park())),
    fails("park_timeout", KIND, || only_std((), |()| thread::park_timeout(Duration::from_millis(1)))),
    fails("spawn", KIND, || only_std((), |()| _ = thread::spawn(|| ()))),
    fails("scope", KIND, || only_std((), |()| thread::scope(|scope| _ = scope.spawn(|| ())))),
    fails("join", KIND, || {
        let thread = thread::spawn(|| ());
        let _ = std::thread::spawn(move || _ = thread.join()).join();
    }),
    fails("is_finished", KIND, || {
        let thread = thread::spawn(|| ());
        let _ = std::thread::spawn(move || _ = thread.is_finished()).join();
    }),
    fails("started by a thread of std", KIND, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = || {
            let lock = lock.clone();
            move || drop(lock.lock())
        };
        let inner = theirs();
        let _ = std::thread::spawn(move || _ = std::thread::spawn(inner).join()).join();
    }),
    fails("a scoped thread of std", KIND, || {
        let lock = Mutex::new(0);
        std::thread::scope(|scope| _ = scope.spawn(|| drop(lock.lock())).join());
    }),
    fails("started by a thread under control", KIND, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let thread = thread::spawn(move || _ = std::thread::spawn(move || drop(theirs.lock())).join());
        drop(lock.lock());
        thread.join().unwrap();
    }),
];

#[test]
fn objects() {
    table::check(OBJECTS);
}

#[test]
fn threads() {
    table::check(THREADS);
}

#[test]
fn the_place_of_a_drop_is_that_of_the_test() {
    let report = raddle::Explorer::new().run(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let _ = std::thread::spawn(move || drop(sender)).join();
        drop(receiver);
    });
    let told = report.to_string();
    assert!(told.contains("an end of a channel that was dropped") && !told.contains("mpsc/"), "{told}");
}

#[test]
fn a_deadlock_beside_a_thread_of_std_is_a_deadlock() {
    let report = raddle::Explorer::new().run(|| {
        let thread = std::thread::spawn(|| std::thread::sleep(LATE));
        let lock = Mutex::new(0);
        let _held = lock.lock();
        let _again = lock.lock();
        let _ = thread.join();
    });
    assert_eq!(report.failure().map(raddle::Failure::kind), Some("deadlock"));
}
