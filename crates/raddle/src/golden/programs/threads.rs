//! Threads that share locks, channels, atomics, time and random numbers.

use std::time::Duration;

use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use crate::{choose, rand, thread};

pub(super) const ALL: [(&str, fn()); 10] = [
    ("threads-lost-update", lost_update),
    ("threads-lock-order", lock_order),
    ("threads-condvar", condvar),
    ("threads-timed-wait", timed_wait),
    ("threads-channel", channel),
    ("threads-rwlock", rwlock),
    ("threads-is-finished", is_finished),
    ("threads-random", random),
    ("threads-started-late", started_late),
    ("threads-poison", poison),
];

/// Each reads and writes under the lock, but not in one go.
fn lost_update() {
    let sum = Arc::new(Mutex::new(0));
    let add = |_| {
        let sum = sum.clone();
        thread::spawn(move || {
            let seen = *sum.lock().unwrap();
            *sum.lock().unwrap() = seen + 1;
        })
    };
    let threads = [1, 2].map(add);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*sum.lock().unwrap(), 2);
}

/// Two locks that are taken in opposite orders: a deadlock.
fn lock_order() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = locks.clone();
    let thread = thread::spawn(move || {
        let mut second = other.1.lock().unwrap();
        *second += *other.0.lock().unwrap();
    });
    let mut first = locks.0.lock().unwrap();
    *first += *locks.1.lock().unwrap();
    drop(first);
    thread.join().unwrap();
}

/// Waits for what another thread says, and looks again after each wakeup.
fn condvar() {
    let said = Arc::new((Mutex::new(0), Condvar::new()));
    let other = said.clone();
    let thread = thread::spawn(move || {
        for _ in 0..2 {
            *other.0.lock().unwrap() += 1;
            other.1.notify_one();
        }
    });
    let mut value = said.0.lock().unwrap();
    while *value < 2 {
        value = said.1.wait(value).unwrap();
    }
    drop(value);
    thread.join().unwrap();
}

/// A wait that ends by time, or because it is over; it fails if it ends by time though all was said.
fn timed_wait() {
    let said = Arc::new((Mutex::new(false), Condvar::new()));
    let other = said.clone();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let value = said.0.lock().unwrap();
    let (value, result) = said.1.wait_timeout(value, Duration::from_millis(10)).unwrap();
    assert!(!(*value && result.timed_out()), "too late");
    drop(value);
    thread.join().unwrap();
}

/// Two senders, and a bound that lets them wait for room.
fn channel() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let send = |who: u32| {
        let sender = sender.clone();
        thread::spawn(move || (0..2).for_each(|number| sender.send(10 * who + number).unwrap()))
    };
    let threads = [1, 2].map(send);
    drop(sender);
    let received: Vec<_> = receiver.iter().collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_ne!(received, [10, 20, 21, 11]);
}

fn rwlock() {
    let value = Arc::new(RwLock::new(0));
    let reader = thread::spawn({
        let value = value.clone();
        move || *value.read().unwrap() + *value.read().unwrap()
    });
    let writer = thread::spawn({
        let value = value.clone();
        move || *value.write().unwrap() += 1
    });
    let tried = value.try_read().map(|value| *value).unwrap_or(7);
    writer.join().unwrap();
    assert!(reader.join().unwrap() <= 2 && (tried <= 1 || tried == 7));
}

/// Asks whether a thread has ended, which is a point of decision only in programs that have been seen to ask.
fn is_finished() {
    let hits = Arc::new(AtomicUsize::new(0));
    let thread = thread::spawn({
        let hits = hits.clone();
        move || hits.fetch_add(1, SeqCst)
    });
    let before = hits.load(SeqCst);
    let ended = thread.is_finished();
    assert!(before == 1 || !ended || hits.load(SeqCst) == 1);
    thread.join().unwrap();
}

/// Random numbers and choices, which decide what is done.
fn random() {
    let drawn = Arc::new(Mutex::new(Vec::new()));
    let thread = thread::spawn({
        let drawn = drawn.clone();
        move || drawn.lock().unwrap().push(rand::random_range(0..10_u32))
    });
    let chosen = choose(3);
    (0..chosen).for_each(|_| drawn.lock().unwrap().push(rand::random_range(10..12)));
    thread.join().unwrap();
    assert_ne!(*drawn.lock().unwrap().first().unwrap(), 11);
}

/// Threads that are started by others, in any order, and meet at what they find there.
fn started_late() {
    let cells: Arc<[AtomicUsize; 3]> = Arc::default();
    let start = |me: usize| {
        let cells = cells.clone();
        thread::spawn(move || {
            cells[me].fetch_add(1, SeqCst);
            let child = thread::spawn({
                let cells = cells.clone();
                move || cells[2].swap(me + 1, SeqCst)
            });
            cells[1 - me].load(SeqCst) + child.join().unwrap()
        })
    };
    let parents = [0, 1].map(start);
    let seen: usize = parents.into_iter().map(|parent| parent.join().unwrap()).sum();
    assert!(seen <= 5);
}

/// A thread that panics while it holds a lock.
fn poison() {
    let lock = Arc::new(Mutex::new(0));
    let thread = thread::spawn({
        let lock = lock.clone();
        move || {
            let mut value = lock.lock().unwrap();
            *value += 1;
            assert!(*value < 2, "it was changed before");
        }
    });
    if let Ok(mut value) = lock.lock() {
        *value += 1;
    }
    let _ = thread.join();
}
