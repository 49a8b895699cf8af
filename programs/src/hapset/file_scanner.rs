//! A scanner that searches files at the same time, after pfscan.
//!
//! The main thread waits until no worker is active. It sets how many there are when it has started them, and not before: a worker that
//! has signed off by then counts as active for ever.

use std::collections::VecDeque;

use raddle::sync::{Condvar, Mutex};
use raddle::thread;

use crate::Program;

/// With two workers.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("pfscan", "deadlock", || run(2, Activate::Late)).sized(2, 4, |workers| run(workers, Activate::Late)),
    Program::correct("pfscan_ok", || run(2, Activate::First)).sized(2, 4, |workers| run(workers, Activate::First)),
];

const FILES: [&str; 3] = ["a raddle is a comb", "threads", "threads through a raddle"];
const NEEDLE: &str = "raddle";

/// When workers count as active.
#[derive(Clone, Copy, PartialEq)]
enum Activate {
    /// Before they are started.
    First,
    /// When all are started.
    Late,
}

fn run(workers: u32, activate: Activate) {
    let scanner = Scanner::of(&FILES);
    let matches = thread::scope(|scope| {
        if activate == Activate::First {
            scanner.set_active(workers);
        }
        for _ in 0..workers {
            scope.spawn(|| scanner.work());
        }
        if activate == Activate::Late {
            scanner.set_active(workers);
        }
        scanner.await_all()
    });
    assert_eq!(matches, 2, "a file was missed");
}

struct Scanner {
    files: Mutex<VecDeque<&'static str>>,
    progress: Mutex<Progress>,
    /// Somebody has signed off. Goes with `progress`.
    signed_off: Condvar,
}

#[derive(Default)]
struct Progress {
    active: i64,
    matches: u32,
}

impl Scanner {
    fn of(files: &[&'static str]) -> Self {
        let files = Mutex::new(files.iter().copied().collect());
        Self { files, progress: Mutex::default(), signed_off: Condvar::new() }
    }

    fn set_active(&self, workers: u32) {
        self.progress.lock().unwrap().active = workers.into();
    }

    fn next_file(&self) -> Option<&'static str> {
        self.files.lock().unwrap().pop_front()
    }

    fn work(&self) {
        while let Some(file) = self.next_file() {
            if file.contains(NEEDLE) {
                self.progress.lock().unwrap().matches += 1;
            }
        }
        self.progress.lock().unwrap().active -= 1;
        self.signed_off.notify_one();
    }

    /// How many files match, once all workers are done.
    fn await_all(&self) -> u32 {
        let progress = self.progress.lock().unwrap();
        self.signed_off.wait_while(progress, |progress| progress.active != 0).unwrap().matches
    }
}
