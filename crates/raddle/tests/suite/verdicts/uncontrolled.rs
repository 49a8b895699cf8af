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
    fails("sleep", KIND, || only_std((), |()| thread::sleep(Duration::from_millis(1)))),
    fails("yield_now", KIND, || only_std((), |()| thread::yield_now())),
    fails("spin_loop", KIND, || only_std((), |()| raddle::hint::spin_loop())),
    fails("the virtual clock", KIND, || only_std((), |()| _ = raddle::time::Instant::now())),
    fails("the time of day", KIND, || only_std((), |()| _ = raddle::time::SystemTime::now())),
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
fn the_place_of_a_use_is_that_of_the_test() {
    let uses: [fn(); 6] = [
        || only_std(mpsc::channel::<u32>().0, |sender| _ = sender.send(1)),
        || only_std(mpsc::sync_channel(1).0, |sender: &mpsc::SyncSender<u32>| _ = sender.send(1)),
        || only_std(mpsc::sync_channel(0).0, |sender: &mpsc::SyncSender<u32>| _ = sender.try_send(1)),
        || {
            let (_sender, receiver) = mpsc::channel::<u32>();
            let _ = std::thread::spawn(move || _ = receiver.recv()).join();
        },
        || {
            let (_sender, receiver) = mpsc::sync_channel::<u32>(0);
            let _ = std::thread::spawn(move || _ = receiver.recv_timeout(LATE)).join();
        },
        || {
            let (_sender, receiver) = mpsc::channel::<u32>();
            let _ = std::thread::spawn(move || _ = receiver.try_recv()).join();
        },
    ];
    for program in uses {
        let report = raddle::Explorer::new().run(program);
        assert_eq!(report.failure().map(raddle::Failure::kind), Some(KIND), "{report}");
        assert!(!report.to_string().contains("mpsc/"), "{report}");
    }
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

type Job = Box<dyn FnOnce() + Send>;

/// A thread of `std` that outlives every search, as those of a pool do.
#[derive(Clone)]
struct Pool(std::sync::mpsc::Sender<Job>);

impl Pool {
    fn start() -> Self {
        let (sender, jobs) = std::sync::mpsc::channel::<Job>();
        std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Self(sender)
    }

    /// Lets the thread of the pool do the job, and waits until it has.
    fn run(&self, job: impl FnOnce() + Send + 'static) {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let job = Box::new(move || {
            let _done = done;
            table::caught(job);
        });
        self.0.send(job).expect("the thread of the pool catches panics");
        let _ = wait.recv();
    }
}

fn is_noticed(program: impl Fn() + Send + Sync + Clone + 'static) {
    let report = raddle::Explorer::new().strategy("dpor").run(program);
    assert_eq!(report.failure().map(raddle::Failure::kind), Some(KIND), "{report}");
    assert!(report.to_string().contains("uncontrolled.rs"), "{report}");
}

#[test]
fn a_pool_that_an_earlier_test_has_started() {
    static POOL: std::sync::OnceLock<Pool> = std::sync::OnceLock::new();
    for _ in 0..3 {
        is_noticed(|| {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            POOL.get_or_init(Pool::start).run(move || *theirs.lock().unwrap() += 1);
            *lock.lock().unwrap() += 1;
        });
    }
}

#[test]
fn a_pool_that_was_started_before_any_test() {
    let pool = Pool::start();
    let later = pool.clone();
    // The test uses the object first, or the pool does.
    is_noticed(move || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = sum.clone();
        sum.store(1, SeqCst);
        pool.run(move || _ = theirs.fetch_add(1, SeqCst));
        sum.load(SeqCst);
    });
    is_noticed(move || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        later.run(move || *theirs.write().unwrap() += 1);
        drop(lock.read());
    });
}

/// A static starts afresh in every execution, so what other tests do with it at the same time is no matter. What was used before the search is
/// no matter either.
#[test]
fn what_others_do_with_a_static_and_what_was_done_before() {
    static SUM: AtomicUsize = AtomicUsize::new(0);
    let pool = Pool::start();
    let captured = Arc::new(AtomicUsize::new(0));
    captured.store(1, SeqCst);
    let report = raddle::Explorer::new().strategy("exhaustive").workers(2).run(move || {
        pool.run(|| _ = SUM.load(SeqCst));
        let (own, theirs) = (Arc::new(AtomicUsize::new(0)), captured.clone());
        let other = own.clone();
        let thread = thread::spawn(move || other.fetch_add(SUM.load(SeqCst) + theirs.load(SeqCst), SeqCst));
        own.fetch_add(1, SeqCst);
        thread.join().unwrap();
        assert_eq!(own.load(SeqCst), 2);
        pool.run(|| _ = SUM.load(SeqCst));
    });
    assert!(report.verified(), "{report}");
}
