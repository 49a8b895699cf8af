//! The ways in which a thread can end, and who can tell.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, thread, thread_local};

use super::table::{self, Row, caught, fails, nothing, two, verified};

fn isolated(explorer: Explorer) -> Explorer {
    explorer.isolate_panics(true)
}

/// Starts a thread that adds to what is returned with its handle.
fn adds() -> (Arc<AtomicUsize>, thread::JoinHandle<usize>) {
    let sum = Arc::new(AtomicUsize::new(0));
    let theirs = sum.clone();
    (sum, thread::spawn(move || theirs.fetch_add(1, SeqCst)))
}

/// Adds to a sum when its thread ends.
struct AddsAtTheEnd(Arc<AtomicUsize>);

impl Drop for AddsAtTheEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<Option<AddsAtTheEnd>> = const { std::cell::RefCell::new(None) };
    static OWN: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

const ROWS: &[Row] = &[
    verified("joined", 2, || {
        let (sum, thread) = adds();
        let found = [sum.fetch_add(1, SeqCst), thread.join().unwrap()];
        assert!(found == [0, 1] || found == [1, 0]);
    }),
    verified("joined late", 2, || {
        let (sum, thread) = adds();
        let (other, second) = adds();
        sum.store(5, SeqCst);
        second.join().unwrap();
        assert_eq!(other.load(SeqCst), 1);
        thread.join().unwrap();
        assert_ne!(sum.load(SeqCst), 0);
    }),
    // Loaded before the addition or after it.
    verified("detached", 2, || {
        let (sum, _) = adds();
        sum.load(SeqCst);
    }),
    fails("panics", "panic", || {
        let _: Result<(), _> = thread::spawn(|| panic!("nobody catches it")).join();
    }),
    fails("panics detached", "panic", || two_threads_of_which_one_panics(false)),
    verified("panics isolated and detached", 2, || two_threads_of_which_one_panics(false)).with(isolated),
    verified("panics isolated and joined", 2, || two_threads_of_which_one_panics(true)).with(isolated),
    fails("panics isolated, and the join is unwrapped", "panic", || {
        let ended: Result<(), _> = thread::spawn(|| panic!("for whoever joins")).join();
        ended.unwrap();
    })
    .with(isolated),
    fails("a scoped thread panics", "panic", || {
        thread::scope(|scope| {
            scope.spawn(|| panic!("for the scope"));
        });
    })
    .with(isolated),
    verified("scoped", 2, || {
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| sum.fetch_add(1, SeqCst));
            scope.spawn(|| sum.fetch_add(1, SeqCst));
        });
        assert_eq!(sum.load(SeqCst), 2);
    }),
    fails("a lost update in a scope", "panic", || {
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| sum.store(sum.load(SeqCst) + 1, SeqCst));
            sum.store(sum.load(SeqCst) + 1, SeqCst);
        });
        assert_eq!(sum.load(SeqCst), 2);
    }),
    fails("started by a thread that has ended", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = sum.clone();
        thread::spawn(move || _ = thread::spawn(move || theirs.store(1, SeqCst))).join().unwrap();
        assert_eq!(sum.load(SeqCst), 1, "nobody has joined it");
    }),
    nothing("values of its own", || {
        OWN.set(1);
        thread::spawn(|| assert_eq!(OWN.get(), 0)).join().unwrap();
        assert_eq!(OWN.get(), 1);
    }),
    verified("values of its own, between operations", 2, || {
        two(
            Mutex::new(0),
            |lock| {
                OWN.set(1);
                drop(lock.lock());
                assert_eq!(OWN.get(), 1);
            },
            |lock| {
                OWN.set(2);
                drop(lock.lock());
                assert_eq!(OWN.get(), 2);
            },
        );
    }),
    nothing("a thread-local's destructor, joined", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = AddsAtTheEnd(sum.clone());
        thread::spawn(move || AT_THE_END.set(Some(theirs))).join().unwrap();
        assert_eq!(sum.load(SeqCst), 1);
    }),
    fails("a thread-local's destructor after the scope", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = AddsAtTheEnd(sum.clone());
        thread::scope(|scope| _ = scope.spawn(move || AT_THE_END.set(Some(theirs))));
        assert_eq!(sum.load(SeqCst), 1, "a scope does not wait for it");
    }),
    fails("what a detached thread leaves is dropped by it", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let left = (AddsAtTheEnd(sum.clone()), AddsAtTheEnd(sum.clone()));
        drop(thread::spawn(move || left));
        assert_ne!(sum.load(SeqCst), 1, "between the destructors");
    }),
    fails("between a thread-local's destructor and the end", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = AddsAtTheEnd(sum.clone());
        let thread = thread::spawn(move || AT_THE_END.set(Some(theirs)));
        assert_eq!(sum.load(SeqCst), 0, "the destructor was faster");
        thread.join().unwrap();
    }),
    fails("a thread that is started by a destructor during a panic", "panic", || {
        struct Starts(Arc<AtomicUsize>);
        impl Drop for Starts {
            fn drop(&mut self) {
                let sum = self.0.clone();
                thread::spawn(move || sum.store(1, SeqCst));
            }
        }
        let sum = Arc::new(AtomicUsize::new(0));
        let starts = Starts(sum.clone());
        caught(move || {
            let _starts = starts;
            panic!("unwinds");
        });
        assert_eq!(sum.load(SeqCst), 0, "it was faster");
    }),
    fails("a scope whose own closure panics waits for its threads", "panic", || {
        let sum = AtomicUsize::new(0);
        caught(|| {
            thread::scope(|scope| {
                scope.spawn(|| sum.store(sum.load(SeqCst) + 1, SeqCst));
                sum.store(sum.load(SeqCst) + 1, SeqCst);
                panic!("unwinds");
            });
        });
        assert_eq!(sum.load(SeqCst), 2, "a lost update");
    }),
    verified("a scope whose own closure panics", 2, || {
        let sum = AtomicUsize::new(0);
        caught(|| {
            thread::scope(|scope| {
                scope.spawn(|| sum.fetch_add(1, SeqCst));
                sum.fetch_add(1, SeqCst);
                panic!("unwinds");
            });
        });
        assert_eq!(sum.load(SeqCst), 2);
    }),
    // A static atomic starts afresh in every execution.
    verified("statics", 2, || {
        static SUM: AtomicUsize = AtomicUsize::new(0);
        let thread = thread::spawn(|| SUM.fetch_add(1, SeqCst));
        SUM.fetch_add(1, SeqCst);
        thread.join().unwrap();
        assert_eq!(SUM.load(SeqCst), 2);
    }),
    verified("a choice", 3, || _ = raddle::choose(3)),
    fails("a choice of a thread", "panic", || thread::spawn(|| assert!(raddle::flip())).join().unwrap()),
    // Each thread has two ways, whatever the other does.
    verified("choices of two threads", 4, || two((), |()| _ = raddle::flip(), |()| _ = raddle::flip())),
    fails("a thread's thread that was faster than both", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = sum.clone();
        let thread = thread::spawn(move || {
            let inner = theirs.clone();
            let started = thread::spawn(move || inner.fetch_add(1, SeqCst));
            theirs.fetch_add(10, SeqCst);
            started.join().unwrap();
        });
        assert_ne!(sum.load(SeqCst), 1, "only the inner thread has added");
        thread.join().unwrap();
    }),
    fails("an isolated panic of a thread's thread", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = sum.clone();
        let thread = thread::spawn(move || {
            let panics = move || {
                theirs.store(1, SeqCst);
                panic!("for whoever joins");
            };
            let ended: Result<(), _> = thread::spawn(panics).join();
            ended.is_err()
        });
        let seen = sum.load(SeqCst);
        assert!(thread.join().unwrap());
        assert_eq!(seen, 0, "it was faster");
    })
    .with(isolated),
];

/// A thread that panics after an addition, while the main thread adds too.
fn two_threads_of_which_one_panics(joined: bool) {
    let sum = Arc::new(AtomicUsize::new(0));
    let theirs = sum.clone();
    let thread = thread::spawn(move || {
        theirs.fetch_add(1, SeqCst);
        panic!("it ends like this");
    });
    sum.fetch_add(1, SeqCst);
    if joined {
        let ended: Result<(), _> = thread.join();
        assert!(ended.is_err());
    }
}

const IS_FINISHED: &[Row] = &[
    fails("a thread without operations may not have ended", "panic", || {
        let thread = thread::spawn(|| ());
        assert!(thread.is_finished());
        thread.join().unwrap();
    }),
    fails("a thread without operations may have ended", "panic", || {
        let thread = thread::spawn(|| ());
        assert!(!thread.is_finished());
        thread.join().unwrap();
    }),
    fails("not ended after its last operation", "panic", || {
        let (sum, thread) = adds();
        if sum.load(SeqCst) == 1 {
            assert!(thread.is_finished());
        }
        thread.join().unwrap();
    }),
    fails("looked at in one branch only", "panic", || {
        let (sum, thread) = adds();
        let (other, second) = adds();
        if sum.load(SeqCst) == 1 && other.load(SeqCst) == 1 {
            assert!(second.is_finished());
        }
        second.join().unwrap();
        thread.join().unwrap();
    }),
    verified("ended, so its operations are done", 2, || {
        let (sum, thread) = adds();
        if thread.is_finished() {
            assert_eq!(sum.load(SeqCst), 1);
        }
        thread.join().unwrap();
    }),
    // Seen ended at once, or not ended at first.
    verified("waits for the end in a loop", 2, || {
        let (sum, thread) = adds();
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(sum.load(SeqCst), 1);
    })
    .alone(),
    fails("a scoped thread", "panic", || {
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            let thread = scope.spawn(|| sum.fetch_add(1, SeqCst));
            if sum.load(SeqCst) == 1 {
                assert!(thread.is_finished());
            }
        });
    }),
    fails("a scoped thread that may have ended", "panic", || {
        thread::scope(|scope| {
            let thread = scope.spawn(|| ());
            assert!(!thread.is_finished());
        });
    }),
    fails("asked by a third thread", "panic", || {
        let (sum, thread) = adds();
        let asks = thread::spawn(move || {
            if sum.load(SeqCst) == 1 {
                assert!(thread.is_finished());
            }
        });
        asks.join().unwrap();
    }),
    fails("gives up before the end", "panic", || {
        let (sum, thread) = adds();
        sum.load(SeqCst);
        assert!((0..100).any(|_| thread.is_finished()), "gave up");
    }),
    fails("a thread that waits for another's end", "panic", || {
        let (sum, thread) = adds();
        let waits = thread::spawn(move || thread.join().unwrap());
        if sum.load(SeqCst) == 1 {
            assert!(waits.is_finished());
        }
        waits.join().unwrap();
    }),
    fails("a panic of an isolated thread", "panic", || {
        let sum = Arc::new(AtomicUsize::new(0));
        let theirs = AddsAtTheEnd(sum.clone());
        let thread = thread::spawn(move || {
            let _adds = theirs;
            panic!("unwinds");
        });
        if sum.load(SeqCst) == 1 {
            assert!(thread.is_finished());
        }
        let _: Result<(), _> = thread.join();
    })
    .with(isolated),
];

#[test]
fn ends() {
    table::check(ROWS);
}

#[test]
fn is_finished() {
    table::check(IS_FINISHED);
}
