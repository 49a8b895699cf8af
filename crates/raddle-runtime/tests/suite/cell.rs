//! Cells, and data races on them.

use raddle_engine::outcome::Failure;
use raddle_runtime::cell::{Cell, UnsafeCell};
use raddle_runtime::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle_runtime::sync::atomic::{AtomicBool, AtomicU32, fence};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::thread;

use crate::explore::{fails, passes};

/// What unsafe code does to share a cell.
struct Shared<T>(T);

// SAFETY: a lie; whether the accesses are ordered is what these tests find out, and executions run on one OS thread.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

struct Message {
    data: UnsafeCell<u32>,
    sent: AtomicBool,
}

fn send(message: &Message, order: Ordering) {
    // SAFETY: as for `Shared`.
    message.data.with_mut(|data| unsafe { *data = 7 });
    message.sent.store(true, order);
}

fn receive(message: &Message, order: Ordering) {
    if message.sent.load(order) {
        // SAFETY: as for `Shared`.
        assert_eq!(message.data.with(|data| unsafe { *data }), 7);
    }
}

/// One thread does `first` with a message, another `second`.
fn between(first: fn(&Message), second: fn(&Message)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let message = Message { data: UnsafeCell::new(0), sent: AtomicBool::new(false) };
        let message = Arc::new(Shared(message));
        let other = message.clone();
        let thread = thread::spawn(move || second(&{ &other }.0));
        first(&message.0);
        thread.join().unwrap();
    }
}

#[track_caller]
fn races(body: impl Fn() + Send + Sync + 'static) -> (bool, bool) {
    match fails(body) {
        Failure::DataRace { first, second, .. } => {
            assert_ne!(first.task, second.task);
            assert!(first.site.file().ends_with("cell.rs"));
            (first.wrote, second.wrote)
        }
        other => panic!("not a data race but {other:?}"),
    }
}

#[test]
fn releasing_and_acquiring_prevents_a_race() {
    passes(between(|m| send(m, Release), |m| receive(m, Acquire)));
    passes(between(|m| send(m, SeqCst), |m| receive(m, SeqCst)));
}

#[test]
fn relaxed_accesses_do_not() {
    assert_eq!(races(between(|m| send(m, Relaxed), |m| receive(m, Acquire))), (true, false));
    assert_eq!(races(between(|m| send(m, Release), |m| receive(m, Relaxed))), (true, false));
}

#[test]
fn fences_order_relaxed_accesses() {
    fn send_fenced(message: &Message) {
        // SAFETY: as for `Shared`.
        message.data.with_mut(|data| unsafe { *data = 7 });
        fence(Release);
        message.sent.store(true, Relaxed);
    }
    fn receive_fenced(message: &Message) {
        let sent = message.sent.load(Relaxed);
        fence(Acquire);
        if sent {
            // SAFETY: as for `Shared`.
            assert_eq!(message.data.with(|data| unsafe { *data }), 7);
        }
    }
    passes(between(send_fenced, receive_fenced));
    passes(between(send_fenced, |m| receive(m, Acquire)));
    passes(between(|m| send(m, Release), receive_fenced));
    races(between(|m| send(m, Relaxed), receive_fenced));
    races(between(send_fenced, |m| receive(m, Relaxed)));
}

#[test]
fn a_failed_exchange_orders_as_its_failure_ordering_says() {
    fn receive_by_exchange(message: &Message, failure: Ordering) {
        if message.sent.compare_exchange(false, false, AcqRel, failure).is_err() {
            // SAFETY: as for `Shared`.
            assert_eq!(message.data.with(|data| unsafe { *data }), 7);
        }
    }
    passes(between(|m| send(m, Release), |m| receive_by_exchange(m, Acquire)));
    races(between(|m| send(m, Release), |m| receive_by_exchange(m, Relaxed)));
}

#[test]
fn reads_do_not_race_and_writes_do() {
    // SAFETY: as for `Shared`.
    let read = |m: &Message| drop(m.data.with(|data| unsafe { *data }.to_string()));
    // SAFETY: as for `Shared`.
    let write = |m: &Message| m.data.with_mut(|data| unsafe { *data += 1 });
    assert_eq!(passes(between(read, read)), 1, "an access is no point of decision");
    assert_eq!(races(between(write, write)), (true, true));
    let (first, second) = races(between(read, write));
    assert!(first != second);
    assert_eq!(
        races(between(|m| drop(m.data.get().addr().to_string()), read)).0 as u8,
        1,
        "a pointer counts as a write"
    );
}

#[test]
fn locks_order_accesses() {
    let increment = |shared: &(Mutex<()>, Shared<Cell<u32>>)| {
        let _guard = shared.0.lock().unwrap();
        shared.1.0.set(shared.1.0.get() + 1);
    };
    passes(move || {
        let shared = Arc::new((Mutex::new(()), Shared(Cell::new(0))));
        let other = shared.clone();
        let thread = thread::spawn(move || increment(&other));
        increment(&shared);
        thread.join().unwrap();
        assert_eq!(shared.1.0.get(), 2);
    });
}

#[test]
fn a_cell_shared_without_a_lock_races() {
    races(|| {
        let shared = Arc::new(Shared(Cell::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || { &other }.0.set(1));
        shared.0.set(2);
        thread.join().unwrap();
    });
}

#[test]
fn joining_orders_accesses() {
    passes(|| {
        let shared = Arc::new(Shared(Cell::new(0)));
        shared.0.set(1);
        let other = shared.clone();
        let thread = thread::spawn(move || { &other }.0.update(|value| value + 1));
        thread.join().unwrap();
        assert_eq!(shared.0.get(), 2);
    });
}

#[test]
fn contents_of_a_static_that_leak_into_the_next_execution_are_reported() {
    static LEAKY: Shared<UnsafeCell<u32>> = Shared(UnsafeCell::new(0));
    let body = || {
        let counter = AtomicU32::new(0);
        let _ = counter.compare_exchange_weak(0, 1, SeqCst, SeqCst);
        // SAFETY: there is one thread only.
        LEAKY.0.with_mut(|value| unsafe { *value += 1 });
    };
    assert!(matches!(fails(body), Failure::Leak { .. }));
}

#[test]
fn cells_hold_values_as_those_of_std_do() {
    fn check() {
        let (mut a, b) = (Cell::new(1), Cell::from(2));
        a.swap(&b);
        assert_eq!((a.get(), b.get()), (2, 1));
        assert_eq!(a.replace(5), 2);
        a.update(|value| value + 1);
        *a.get_mut() += 1;
        assert!(a > b && a == a.clone());
        assert_eq!(format!("{a:?}"), format!("{:?}", std::cell::Cell::new(7)));
        assert_eq!((a.take(), a.into_inner()), (7, 0));
        let mut cell = UnsafeCell::new(vec![1]);
        cell.get_mut().push(2);
        assert_eq!(cell.into_inner(), [1, 2]);
    }
    check();
    passes(check);
}
