//! Threads that take two locks, and wait for each other for ever: deadlock01, carter01 and phase01.

use std::mem;

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::together;

/// As they are in the suite, and each without its deadlock.
pub static PROGRAMS: [Program; 6] = [
    Program::bug("deadlock01", "deadlock", || {
        together(&Pair::default(), &[|p| p.count(&p.a, &p.b, 1), |p| p.count(&p.b, &p.a, -1)]);
    }),
    Program::correct("deadlock01_ok", || {
        together(&Pair::default(), &[|p| p.count(&p.a, &p.b, 1), |p| p.count(&p.a, &p.b, -1)]);
    }),
    Program::bug("carter01", "deadlock", || {
        together(&Gate::default(), &[|g| g.pass(&g.class_a), |g| g.pass(&g.class_b)]);
    }),
    Program::correct("carter01_ok", || {
        together(&Gate::default(), &[|g| g.pass_alone(&g.class_a), |g| g.pass_alone(&g.class_b)]);
    }),
    Program::bug("phase01", "deadlock", || together(&Phases::default(), &[Phases::keep_first, Phases::keep_first])),
    Program::correct("phase01_ok", || together(&Phases::default(), &[Phases::go_through, Phases::go_through])),
];

/// A counter behind two locks. Who takes them in opposite orders can meet in the middle.
#[derive(Default)]
struct Pair {
    a: Mutex<()>,
    b: Mutex<()>,
    counter: AtomicI32,
}

impl Pair {
    fn count(&self, first: &Mutex<()>, second: &Mutex<()>, amount: i32) {
        let _first = first.lock().unwrap();
        let _second = second.lock().unwrap();
        let counter = self.counter.load(SeqCst);
        self.counter.store(counter + amount, SeqCst);
    }
}

/// Two classes of operations that exclude each other: the first of a class takes the gate, the last gives it back. Numbers of
/// those inside are kept under one lock for both.
#[derive(Default)]
struct Gate {
    books: Mutex<()>,
    gate: Mutex<()>,
    class_a: AtomicI32,
    class_b: AtomicI32,
}

impl Gate {
    /// Waits for the gate with the books in hand, so that whoever is inside cannot sign out.
    fn pass(&self, inside: &AtomicI32) {
        let books = self.books.lock().unwrap();
        let first = inside.fetch_add(1, SeqCst) == 0;
        let gate = first.then(|| self.gate.lock().unwrap());
        drop(books);

        let _books = self.books.lock().unwrap();
        inside.fetch_sub(1, SeqCst);
        drop(gate);
    }

    /// Waits for the gate first. There is only one thread of each class.
    fn pass_alone(&self, inside: &AtomicI32) {
        let gate = self.gate.lock().unwrap();
        let books = self.books.lock().unwrap();
        inside.fetch_add(1, SeqCst);
        drop(books);

        let _books = self.books.lock().unwrap();
        inside.fetch_sub(1, SeqCst);
        drop(gate);
    }
}

/// Two locks that everybody takes twice, one after the other.
#[derive(Default)]
struct Phases {
    first: Mutex<()>,
    second: Mutex<()>,
}

impl Phases {
    fn go_through(&self) {
        drop(self.first.lock().unwrap());
        drop(self.first.lock().unwrap());
        drop(self.second.lock().unwrap());
        drop(self.second.lock().unwrap());
    }

    /// Never gives the first lock back: in every order, the other thread waits for ever.
    fn keep_first(&self) {
        drop(self.first.lock().unwrap());
        mem::forget(self.first.lock().unwrap());
        drop(self.second.lock().unwrap());
        drop(self.second.lock().unwrap());
    }
}
