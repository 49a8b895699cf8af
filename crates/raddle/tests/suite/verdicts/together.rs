//! Programs that use several kinds of objects together, or one kind in an unusual way.

use std::time::Duration;

use raddle::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use raddle::thread;

use super::table::{self, Row, each, fails, holds, two};

/// An element of a stack, and the one below it.
struct Node(*mut Node);

/// Takes the elements off the stack, and says how many they were.
fn depth(top: &AtomicPtr<Node>) -> usize {
    let mut node = top.load(SeqCst);
    std::iter::from_fn(|| {
        // SAFETY: every element was made by `Box::into_raw`, is on the stack once, and nobody else uses it any more.
        let taken = (!node.is_null()).then(|| unsafe { Box::from_raw(node) })?;
        node = taken.0;
        Some(())
    })
    .count()
}

fn push(top: &AtomicPtr<Node>) {
    let mut below = top.load(SeqCst);
    let node = Box::into_raw(Box::new(Node(below)));
    while let Err(found) = top.compare_exchange(below, node, SeqCst, SeqCst) {
        below = found;
        // SAFETY: nobody else knows the element before it is on the stack.
        unsafe { (*node).0 = below };
    }
}

fn push_without_looking_again(top: &AtomicPtr<Node>) {
    let node = Box::into_raw(Box::new(Node(top.load(SeqCst))));
    top.store(node, SeqCst);
}

/// Enters if there is room, leaves, and tells another one.
fn pass(room: &(Mutex<u32>, Condvar)) {
    *room.1.wait_while(room.0.lock().unwrap(), |free| *free == 0).unwrap() -= 1;
    *room.0.lock().unwrap() += 1;
    room.1.notify_one();
}

const ROWS: &[Row] = &[
    holds("a stack of pointers", || assert_eq!(depth(&each(AtomicPtr::default(), [push, push])), 2)),
    fails("a stack of pointers that loses an element", "panic", || {
        assert_eq!(depth(&each(AtomicPtr::default(), [push_without_looking_again; 2])), 2);
    }),
    fails("readers of one lock that write the other", "deadlock", || {
        two(
            (RwLock::new(0), RwLock::new(0)),
            |(a, b)| {
                let _read = a.read().unwrap();
                *b.write().unwrap() += 1;
            },
            |(a, b)| {
                let _read = b.read().unwrap();
                *a.write().unwrap() += 1;
            },
        );
    }),
    fails("a value that is made from itself", "deadlock", || {
        let value = OnceLock::new();
        value.get_or_init(|| *value.get_or_init(|| 1) + 1);
    }),
    fails("a value that is made under a lock that its user holds", "deadlock", || {
        let lock = Arc::new(Mutex::new(1));
        let [used, held] = [lock.clone(), lock];
        let value = Arc::new(LazyLock::new(move || *used.lock().unwrap()));
        let theirs = value.clone();
        let thread = thread::spawn(move || {
            let _held = held.lock().unwrap();
            let _ = **theirs;
        });
        let _ = **value;
        thread.join().unwrap();
    }),
    fails("a value that is made too early", "panic", || {
        let (made, _) = &*each(
            (OnceLock::new(), AtomicU32::new(0)),
            [
                |(value, input)| _ = value.get_or_init(|| input.load(SeqCst)),
                |(value, input)| {
                    input.store(1, SeqCst);
                    value.get_or_init(|| 1);
                },
            ],
        );
        assert_eq!(made.get(), Some(&1));
    }),
    holds("room for one", || assert_eq!(*each((Mutex::new(1), Condvar::new()), [pass, pass]).0.lock().unwrap(), 1)),
    fails("out of time, though the flag is raised", "panic", || {
        two(
            (Mutex::new(false), Condvar::new()),
            |(flag, raised)| {
                let wait = Duration::from_secs(1);
                let (_flag, result) = raised.wait_timeout_while(flag.lock().unwrap(), wait, |flag| !*flag).unwrap();
                assert!(!result.timed_out());
            },
            |(flag, raised)| {
                *flag.lock().unwrap() = true;
                raised.notify_one();
            },
        );
    }),
    fails("parked twice, and two tokens that may be one", "deadlock", || {
        let parked = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        let [first, second] = [parked.thread().clone(), parked.thread().clone()];
        let other = thread::spawn(move || first.unpark());
        second.unpark();
        other.join().unwrap();
        parked.join().unwrap();
    }),
    fails("one thread has ended and the other has not", "panic", || {
        let threads = [thread::spawn(|| ()), thread::spawn(|| ())];
        let [first, second] = threads.each_ref().map(thread::JoinHandle::is_finished);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(first, second);
    }),
    holds("scopes within scopes", || {
        let sum = AtomicU8::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                thread::scope(|inner| {
                    inner.spawn(|| sum.fetch_add(1, SeqCst));
                    sum.fetch_add(1, SeqCst);
                });
                assert_eq!(sum.load(SeqCst), 2);
            });
        });
    }),
    fails("a sender that the receiver's thread has itself", "deadlock", || {
        let (sender, receiver) = mpsc::channel();
        let theirs = sender.clone();
        let thread = thread::spawn(move || theirs.send(1).unwrap());
        assert_eq!(receiver.iter().sum::<u32>(), 1);
        thread.join().unwrap();
    }),
];

#[test]
fn objects_of_several_kinds() {
    table::check(ROWS);
}
