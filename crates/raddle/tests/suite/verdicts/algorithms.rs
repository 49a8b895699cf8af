//! Algorithms that are made of atomics, right and wrong.

use raddle::cell::UnsafeCell;
use raddle::hint::spin_loop;
use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering, Ordering::SeqCst};

use super::table::{self, Row, each, fails, two, verified};

/// Every access is exclusive, or there is a data race.
#[derive(Default)]
struct Protected(UnsafeCell<u32>);

#[expect(unsafe_code, reason = "these are the tests of data races")]
// SAFETY: tasks of an execution take turns on one OS thread.
unsafe impl Sync for Protected {}

#[expect(unsafe_code, reason = "these are the tests of data races")]
impl Protected {
    fn add(&self) {
        // SAFETY: the pointer is valid within the closure, and no other task runs meanwhile.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

/// A version and two values that are written together.
type Sequence = (AtomicUsize, AtomicUsize, AtomicUsize);

fn write(s: &Sequence) {
    s.0.store(1, SeqCst);
    s.1.store(5, SeqCst);
    s.2.store(5, SeqCst);
    s.0.store(2, SeqCst);
}

fn read(s: &Sequence, looks_again: bool) {
    loop {
        let version = s.0.load(SeqCst);
        if version % 2 == 1 {
            spin_loop();
            continue;
        }
        let seen = (s.1.load(SeqCst), s.2.load(SeqCst));
        if !looks_again || s.0.load(SeqCst) == version {
            assert_eq!(seen.0, seen.1);
            return;
        }
    }
}

fn make_once(s: &(AtomicBool, Mutex<()>, Protected), load: Ordering, store: Ordering) {
    if !s.0.load(load) {
        let _held = s.1.lock().unwrap();
        if !s.0.load(Ordering::Relaxed) {
            s.2.add();
            s.0.store(true, store);
        }
    }
    assert_eq!(s.2.get(), 1);
}

/// Looks 20 times whether the other has raised its flag, and then raises its own.
fn looks_for_the_other(mine: &AtomicBool, other: &AtomicBool) -> bool {
    let found = (0..20).any(|_| other.load(SeqCst));
    mine.store(true, SeqCst);
    found
}

const ROWS: &[Row] = &[
    verified("a sequence lock", 15, || two(Sequence::default(), |s| read(s, true), write)),
    fails("a sequence lock that does not look again", "panic", || two(Sequence::default(), |s| read(s, false), write)),
    verified("made once behind a flag that is released", 4, || {
        let make: fn(&_) = |s| make_once(s, Ordering::Acquire, Ordering::Release);
        two((AtomicBool::new(false), Mutex::new(()), Protected::default()), make, make);
    }),
    fails("made once behind a relaxed flag", "data race", || {
        let make: fn(&_) = |s| make_once(s, Ordering::Relaxed, Ordering::Relaxed);
        two((AtomicBool::new(false), Mutex::new(()), Protected::default()), make, make);
    }),
    fails("both look for the other, and both give up", "panic", || {
        let found = AtomicUsize::new(0);
        let shared = each(
            (AtomicBool::new(false), AtomicBool::new(false), found),
            [
                |s| _ = s.2.fetch_add(usize::from(looks_for_the_other(&s.0, &s.1)), SeqCst),
                |s| _ = s.2.fetch_add(usize::from(looks_for_the_other(&s.1, &s.0)), SeqCst),
            ],
        );
        assert_ne!(shared.2.load(SeqCst), 0);
    }),
];

#[test]
fn algorithms() {
    table::check(ROWS);
}
