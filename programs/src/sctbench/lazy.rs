//! Two threads add to a counter that a third expects to be small, though nothing makes it go first.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::together;

/// As it is in the suite, and with an expectation that holds.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("lazy01", "panic", || run(Counter::expect_small)),
    Program::correct("lazy01_ok", || run(Counter::expect_at_most_all)),
];

#[derive(Default)]
struct Counter {
    lock: Mutex<()>,
    data: AtomicI32,
}

impl Counter {
    fn add(&self, amount: i32) {
        let _held = self.lock.lock().unwrap();
        let value = self.data.load(SeqCst);
        self.data.store(value + amount, SeqCst);
    }

    fn expect_small(&self) {
        let _held = self.lock.lock().unwrap();
        assert!(self.data.load(SeqCst) < 3, "both additions came first");
    }

    fn expect_at_most_all(&self) {
        let _held = self.lock.lock().unwrap();
        assert!(self.data.load(SeqCst) <= 3, "nobody adds more");
    }
}

fn run(check: fn(&Counter)) {
    together(&Counter::default(), &[check, |counter| counter.add(2), |counter| counter.add(1)]);
}
