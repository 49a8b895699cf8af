//! Thread-local values.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use raddle_runtime::sync::Mutex;
use raddle_runtime::{thread, thread_local};

use raddle_runtime::threads::Settings;

use crate::explore::{exhaustive, fails, passes, sample};

thread_local! {
    /// With a doc comment and a visibility.
    pub(crate) static COUNT: Cell<u32> = const { Cell::new(5) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    static PLAIN: String = "plain".to_owned()
}

thread_local!(static NEVER_MADE: Cell<u32> = panic!("the declared value was made"));
thread_local!(static NEVER_MADE_LIST: RefCell<Vec<u32>> = panic!("the declared value was made"));
thread_local! {}

#[test]
fn values_are_per_task_and_per_execution() {
    let count = passes(|| {
        assert_eq!(COUNT.get(), 5);
        COUNT.set(6);
        let t = thread::spawn(|| {
            assert_eq!(COUNT.replace(7), 5);
            thread::yield_now();
            LIST.with_borrow_mut(|list| list.push(2));
            thread::yield_now();
            assert_eq!(COUNT.take(), 7);
            LIST.with_borrow(|list| assert_eq!(*list, [1, 2]));
        });
        thread::yield_now();
        LIST.with_borrow_mut(|list| list.push(3));
        thread::yield_now();
        assert_eq!(COUNT.get(), 6);
        assert_eq!(LIST.replace(vec![9]), [1, 3]);
        assert_eq!(LIST.take(), [9]);
        LIST.set(vec![8]);
        assert_eq!(PLAIN.with(String::len), 5);
        NEVER_MADE.set(1);
        NEVER_MADE_LIST.set(vec![2]);
        assert_eq!((NEVER_MADE.get(), NEVER_MADE_LIST.take()), (1, vec![2]));
        t.join().unwrap();
    });
    // Two yields each: 4! / (2! 2!).
    assert_eq!(count, 6);
}

#[test]
fn outside_they_are_those_of_std() {
    assert_eq!(COUNT.get(), 5);
    COUNT.set(8);
    std::thread::spawn(|| assert_eq!(COUNT.get(), 5)).join().unwrap();
    assert_eq!(COUNT.replace(9), 8);
    assert_eq!(COUNT.take(), 9);
    LIST.with_borrow_mut(|list| list.push(4));
    assert_eq!(LIST.take(), [1, 4]);
    LIST.set(vec![5]);
    assert_eq!(LIST.replace(vec![]), [5]);
    NEVER_MADE.set(1);
    assert_eq!(PLAIN.with(String::len), 5);
}

/// Writes its name down when dropped, in a log under control.
struct Named(&'static str, Arc<Mutex<Vec<String>>>);

impl Drop for Named {
    fn drop(&mut self) {
        let mine = match self.0 {
            "first" => FIRST.try_with(|_| ()).is_err(),
            _ => SECOND.try_with(|_| ()).is_err(),
        };
        let others = FIRST.try_with(|first| first.borrow().is_some());
        let text = format!("{} own gone: {mine}, first: {others:?}", self.0);
        self.1.lock().unwrap().push(text);
    }
}

thread_local! {
    static FIRST: RefCell<Option<Named>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Named>> = const { RefCell::new(None) };
}

#[test]
fn destructors_run_at_the_end_of_the_task_latest_first() {
    passes(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let theirs = log.clone();
        let t = thread::spawn(move || {
            FIRST.set(Some(Named("first", theirs.clone())));
            SECOND.set(Some(Named("second", theirs)));
        });
        let noise = log.clone();
        let other = thread::spawn(move || drop(noise.lock()));
        t.join().unwrap();
        other.join().unwrap();
        let log = log.lock().unwrap();
        assert_eq!(*log, ["second own gone: true, first: Ok(true)", "first own gone: true, first: Err(AccessError)"]);
    });
}

#[test]
fn std_drops_in_the_same_order() {
    struct Notes(&'static str, std::sync::mpsc::Sender<&'static str>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.1.send(self.0).unwrap();
        }
    }
    std::thread_local! {
        static A: RefCell<Option<Notes>> = const { RefCell::new(None) };
        static B: RefCell<Option<Notes>> = const { RefCell::new(None) };
    }
    let (tx, rx) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        A.set(Some(Notes("a", tx.clone())));
        B.set(Some(Notes("b", tx)));
    });
    assert_eq!(rx.iter().collect::<Vec<_>>(), ["b", "a"]);
}

struct Revives;

impl Drop for Revives {
    fn drop(&mut self) {
        // A key that was not used so far is made now and dropped after this.
        LIST.with_borrow_mut(|list| list.push(7));
        REVIVED.with(|_| ());
    }
}

thread_local! {
    static REVIVES: Revives = const { Revives };
    static REVIVED: Tells = const { Tells };
}

static TOLD: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

struct Tells;

impl Drop for Tells {
    fn drop(&mut self) {
        TOLD.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn destructors_may_make_others() {
    let report = exhaustive(&Settings::default(), || {
        thread::spawn(|| REVIVES.with(|_| ())).join().unwrap();
    });
    assert!(report.verified());
    assert_eq!(TOLD.load(std::sync::atomic::Ordering::Relaxed), report.executions);
}

#[test]
fn use_after_destruction_is_a_panic() {
    struct UsesItself;
    impl Drop for UsesItself {
        fn drop(&mut self) {
            ITSELF.with(|_| ());
        }
    }
    thread_local!(static ITSELF: UsesItself = const { UsesItself });
    let found = fails(|| {
        thread::spawn(|| ITSELF.with(|_| ())).join().unwrap();
    });
    assert_eq!(found.kind(), "panic", "{found:?}");
}

#[test]
fn failing_executions_drop_their_values_too() {
    let report = sample(2_000, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let log = log.clone();
                thread::spawn(move || {
                    FIRST.set(Some(Named("first", log.clone())));
                    SECOND.set(Some(Named("second", log.clone())));
                    log.lock().unwrap().push("alive".to_owned());
                    thread::yield_now();
                    assert!(i != 1, "on purpose");
                })
            })
            .collect();
        FIRST.set(Some(Named("first", log)));
        for t in threads {
            t.join().unwrap();
        }
    });
    assert_eq!((report.executions, report.failing), (2_000, 2_000));
}
