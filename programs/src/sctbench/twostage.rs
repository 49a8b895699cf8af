//! Two values are to be seen together but are written under two locks, one after the other.
//!
//! The large ones start their threads one by one, as the suite does, the readers last.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::Program;
use crate::program::{one_by_one, together};

/// With two and a hundred threads, one of which reads, and with twenty, half of which do, as in the suite; and with one lock over
/// both stages.
pub static PROGRAMS: [Program; 4] = [
    Program::bug("twostage", "panic", || small(2)).sized(2, 100, small),
    Program::bug("twostage_20", "panic", || one_by_one(&Stages::default(), &crowd(10, 10))),
    Program::bug("twostage_100", "panic", || one_by_one(&Stages::default(), &crowd(99, 1))),
    Program::correct("twostage_ok", || together(&Stages::default(), &[Stages::write_in_one, Stages::read_in_one])),
];

fn small(threads: u32) {
    together(&Stages::default(), &crowd(threads as usize - 1, 1));
}

fn crowd(writers: usize, readers: usize) -> Vec<fn(&Stages)> {
    let mut roles: Vec<fn(&Stages)> = vec![Stages::write; writers];
    roles.extend(vec![Stages::read as fn(&Stages); readers]);
    roles
}

#[derive(Default)]
struct Stages {
    both: Mutex<()>,
    first: (Mutex<()>, AtomicUsize),
    second: (Mutex<()>, AtomicUsize),
}

impl Stages {
    fn write(&self) {
        let held = self.first.0.lock().unwrap();
        self.first.1.store(1, SeqCst);
        drop(held);
        let _held = self.second.0.lock().unwrap();
        let value = self.first.1.load(SeqCst);
        self.second.1.store(value + 1, SeqCst);
    }

    fn read(&self) {
        let held = self.first.0.lock().unwrap();
        if self.first.1.load(SeqCst) == 0 {
            return;
        }
        let first = self.first.1.load(SeqCst);
        drop(held);
        let held = self.second.0.lock().unwrap();
        let second = self.second.1.load(SeqCst);
        drop(held);
        assert_eq!(second, first + 1, "the second value was read between the two stages");
    }

    fn write_in_one(&self) {
        let _held = self.both.lock().unwrap();
        self.write();
    }

    fn read_in_one(&self) {
        let _held = self.both.lock().unwrap();
        self.read();
    }
}
