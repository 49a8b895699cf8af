//! One thread changes a value under its lock; others change it too, under a lock of their own.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::together;

/// With seven others and with three, and with everybody under the right lock.
pub static PROGRAMS: [Program; 3] = [
    Program::bug("wronglock", "panic", || many(7)),
    Program::bug("wronglock_3", "panic", || many(3)).sized(1, 7, many),
    Program::correct("wronglock_3_ok", || among(3, |value| value.add_under(&value.lock))),
];

fn many(others: u32) {
    among(others, |value| value.add_under(&value.other_lock));
}

fn among(others: u32, other: fn(&Value)) {
    let mut roles: Vec<fn(&Value)> = vec![Value::add_and_check];
    roles.extend(vec![other; others as usize]);
    together(&Value::default(), &roles);
}

#[derive(Default)]
struct Value {
    lock: Mutex<()>,
    other_lock: Mutex<()>,
    value: AtomicI32,
}

impl Value {
    fn add(&self) {
        let value = self.value.load(SeqCst);
        self.value.store(value + 1, SeqCst);
    }

    fn add_under(&self, lock: &Mutex<()>) {
        let _held = lock.lock().unwrap();
        self.add();
    }

    fn add_and_check(&self) {
        let _held = self.lock.lock().unwrap();
        let before = self.value.load(SeqCst);
        self.add();
        assert_eq!(self.value.load(SeqCst), before + 1, "somebody else was here, under another lock");
    }
}
