//! Setters write a pair; checkers expect to see both values or none.
//!
//! The large ones start their threads one by one, as the suite does: a random walk then hardly ever sees a checker begin before a
//! setter has ended.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::{one_by_one, together};

/// With three, four, five, ten and twenty threads, as in the suite; the last one has ten checkers, the others one.
pub static PROGRAMS: [Program; 6] = [
    Program::bug("reorder_3", "panic", || small(3)).sized(3, 20, small),
    Program::bug("reorder_4", "panic", || small(4)),
    Program::bug("reorder_5", "panic", || small(5)),
    Program::bug("reorder_10", "panic", || one_by_one(&Pair::default(), &crowd(9, 1))),
    Program::bug("reorder_20", "panic", || one_by_one(&Pair::default(), &crowd(10, 10))),
    Program::correct("reorder_3_ok", || {
        together(&Pair::default(), &[Pair::set_in_one, Pair::set_in_one, Pair::check_in_one]);
    }),
];

fn small(threads: u32) {
    together(&Pair::default(), &crowd(threads as usize - 1, 1));
}

fn crowd(setters: usize, checkers: usize) -> Vec<fn(&Pair)> {
    let mut roles: Vec<fn(&Pair)> = vec![Pair::set; setters];
    roles.extend(vec![Pair::check as fn(&Pair); checkers]);
    roles
}

#[derive(Default)]
struct Pair {
    lock: Mutex<()>,
    a: AtomicI32,
    b: AtomicI32,
}

impl Pair {
    fn set(&self) {
        self.a.store(1, SeqCst);
        self.b.store(-1, SeqCst);
    }

    fn check(&self) {
        let none = self.a.load(SeqCst) == 0 && self.b.load(SeqCst) == 0;
        assert!(none || self.a.load(SeqCst) == 1 && self.b.load(SeqCst) == -1, "half of the pair was seen");
    }

    fn set_in_one(&self) {
        let _held = self.lock.lock().unwrap();
        self.set();
    }

    fn check_in_one(&self) {
        let _held = self.lock.lock().unwrap();
        self.check();
    }
}
