//! Programs in which nothing concurrent happens under control, and programs that do not do the same thing twice.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::time::{SystemTime, UNIX_EPOCH};

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, RwLock, mpsc};
use raddle::thread;

use super::table::{self, Row, fails, nothing, two};

fn add_without_control(a: &StdAtomicUsize) {
    a.store(a.load(SeqCst) + 1, SeqCst);
}

const NOTHING: &[Row] = &[
    nothing("no operation at all", || ()),
    nothing("a lock in one thread", || *Mutex::new(0).lock().unwrap() += 1),
    nothing("a channel in one thread", || {
        let (sender, receiver) = mpsc::channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    }),
    nothing("threads without operations", || thread::spawn(|| 1).join().map(drop).unwrap()),
    nothing("one thread after the other", || {
        let lock = Arc::new(RwLock::new(0));
        for _ in 0..2 {
            let lock = lock.clone();
            thread::spawn(move || *lock.write().unwrap() += 1).join().unwrap();
        }
    }),
    nothing("a library that uses std's types", || {
        two(StdAtomicUsize::new(0), add_without_control, add_without_control)
    }),
    nothing("threads and types of std", || {
        let a = Arc::new(StdAtomicUsize::new(0));
        let theirs = a.clone();
        let thread = std::thread::spawn(move || add_without_control(&theirs));
        add_without_control(&a);
        thread.join().unwrap();
    }),
];

const NOT_THE_SAME_TWICE: &[Row] = &[
    fails("locks in hash order", "nondeterminism", || {
        two(
            (0..4).map(|n| (n, Mutex::new(n))).collect::<HashMap<u32, _>>(),
            |locks| locks.values().for_each(|lock| *lock.lock().unwrap() += 1),
            |locks| (0..4).for_each(|n| *locks[&n].lock().unwrap() += 1),
        );
    }),
    fails("the clock in a message", "nondeterminism", || {
        let (sender, receiver) = mpsc::channel();
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let thread = thread::spawn(move || _ = sender.send(clock.as_nanos() as u64));
        assert_ne!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    }),
    fails("a step by the clock", "nondeterminism", || {
        two(
            AtomicUsize::new(0),
            |a| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                if (now.subsec_nanos() / 100).is_multiple_of(2) {
                    a.fetch_add(1, SeqCst);
                }
            },
            |a| _ = a.fetch_add(1, SeqCst),
        );
    }),
    fails("a static mutex whose contents stay", "leak between executions", || {
        static SUM: Mutex<u32> = Mutex::new(0);
        let thread = thread::spawn(|| *SUM.lock().unwrap() += 1);
        *SUM.lock().unwrap() += 1;
        thread.join().unwrap();
    }),
    fails("locks in the order of two maps", "nondeterminism", || {
        let locks = [0, 1].map(|n| Arc::new(Mutex::new(n)));
        let threads = [0, 1].map(|_| {
            let map: HashMap<usize, _> = locks.iter().cloned().enumerate().collect();
            thread::spawn(move || {
                let _held: Vec<_> = map.values().map(|lock| lock.lock().unwrap()).collect();
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }),
];

#[test]
fn nothing_to_explore() {
    table::check(NOTHING);
}

#[test]
fn not_the_same_twice() {
    table::check(NOT_THE_SAME_TWICE);
}
