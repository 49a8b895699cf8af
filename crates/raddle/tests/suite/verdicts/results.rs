//! What a thread leaves behind: its result, the payload of its panic, its captured and its thread-local values. Whoever drops them runs
//! their destructors.

use std::cell::RefCell;

use raddle::Explorer;
use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, mpsc};
use raddle::thread::{self, ThreadId};

use super::table::{self, Row, fails, nothing, verified};

fn isolated(explorer: Explorer) -> Explorer {
    explorer.isolate_panics(true)
}

/// Calls the function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Calls the functions when the thread that has it ends.
struct AtEnd(RefCell<Vec<Box<dyn FnOnce()>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.borrow_mut().drain(..).for_each(|function| function());
    }
}

raddle::thread_local! {
    static AT_END: AtEnd = const { AtEnd(RefCell::new(Vec::new())) };
    static SENDER: RefCell<Option<mpsc::Sender<u32>>> = const { RefCell::new(None) };
}

fn at_end(function: impl FnOnce() + 'static) {
    AT_END.with(|end| end.0.borrow_mut().push(Box::new(function)));
}

/// A value whose destructor stores 1 if it runs in the given thread, and 2 if it runs in another.
fn tells_who(place: &Arc<AtomicUsize>, main: ThreadId) -> OnDrop<impl FnMut() + use<>> {
    let place = place.clone();
    OnDrop(move || place.store(if thread::current().id() == main { 1 } else { 2 }, SeqCst))
}

/// Starts a thread that leaves such a value, drops its handle and returns who has dropped the value so far; 0 for nobody.
fn dropped_by() -> usize {
    let place = Arc::new(AtomicUsize::new(0));
    let value = tells_who(&place, thread::current().id());
    drop(thread::spawn(move || value));
    place.load(SeqCst)
}

const RESULTS: &[Row] = &[
    fails("whoever drops the handle drops the result", "panic", || assert_ne!(dropped_by(), 1)),
    fails("the thread drops its result", "panic", || assert_ne!(dropped_by(), 2)),
    fails("nobody has dropped it yet", "panic", || assert_ne!(dropped_by(), 0)),
    fails("the handle of a scoped thread", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let value = tells_who(&place, thread::current().id());
        thread::scope(|scope| drop(scope.spawn(move || value)));
        assert_ne!(place.load(SeqCst), 1);
    }),
    // The scope waits for the destructor: it belongs to the function of the thread.
    fails("the result of a scoped thread", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let value = tells_who(&place, thread::current().id());
        thread::scope(|scope| drop(scope.spawn(move || value)));
        assert_ne!(place.load(SeqCst), 2);
    }),
    fails("a result that takes two steps", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let theirs = place.clone();
        drop(thread::spawn(move || {
            OnDrop(move || {
                theirs.store(1, SeqCst);
                theirs.store(2, SeqCst);
            })
        }));
        assert_ne!(place.load(SeqCst), 1);
    }),
    fails("the payload of a panic, dropped with the handle", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let payload = tells_who(&place, thread::current().id());
        drop(thread::spawn(move || std::panic::panic_any(payload)));
        assert_ne!(place.load(SeqCst), 1);
    })
    .with(isolated),
    nothing("joined: whoever joins drops it", || {
        let place = Arc::new(AtomicUsize::new(0));
        let value = tells_who(&place, thread::current().id());
        drop(thread::spawn(move || value).join());
        assert_eq!(place.load(SeqCst), 1);
    }),
    // The loop is left when the thread is finished. That is after its captured values are gone.
    verified("captured values go before the end", 2, || {
        let place = Arc::new(AtomicUsize::new(0));
        let value = tells_who(&place, thread::current().id());
        let thread = thread::spawn(move || drop(value));
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(place.load(SeqCst), 2);
        thread.join().unwrap();
    }),
];

const THREAD_LOCALS: &[Row] = &[
    fails("finished before its thread-local values are gone", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let theirs = place.clone();
        let thread = thread::spawn(move || at_end(move || theirs.store(1, SeqCst)));
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(place.load(SeqCst), 1);
        thread.join().unwrap();
    }),
    // Either section first.
    verified("a destructor locks", 2, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let thread = thread::spawn(move || at_end(move || *theirs.lock().unwrap() += 1));
        *lock.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*lock.lock().unwrap(), 2);
    }),
    fails("a destructor locks what whoever joins holds", "deadlock", || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let thread = thread::spawn(move || at_end(move || *theirs.lock().unwrap() += 1));
        let _held = lock.lock().unwrap();
        thread.join().unwrap();
    }),
    fails("a destructor starts a thread", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let theirs = place.clone();
        let spawns = move || _ = thread::spawn(move || theirs.store(1, SeqCst));
        thread::spawn(move || at_end(spawns)).join().unwrap();
        assert_eq!(place.load(SeqCst), 0);
    }),
    fails("a destructor of the main thread", "panic", || {
        let place = Arc::new(AtomicUsize::new(0));
        let theirs = place.clone();
        at_end(move || theirs.store(1, SeqCst));
        thread::spawn(move || assert_eq!(place.load(SeqCst), 0));
    }),
    fails("a destructor panics", "panic", || {
        let _ = thread::spawn(|| at_end(|| panic!("at the end"))).join();
    }),
    nothing("the last sender is a thread-local value", || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || SENDER.set(Some(sender)));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    }),
    fails("the last sender is a thread-local value, and still there", "panic", || {
        let (sender, receiver) = mpsc::channel();
        let done = Arc::new(AtomicBool::new(false));
        let theirs = done.clone();
        let thread = thread::spawn(move || {
            SENDER.set(Some(sender));
            theirs.store(true, SeqCst);
        });
        if done.load(SeqCst) {
            assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        }
        thread.join().unwrap();
    }),
];

#[test]
fn results() {
    table::check(RESULTS);
}

#[test]
fn thread_locals() {
    table::check(THREAD_LOCALS);
}
