//! The programs, each written once.
//!
//! `programs!` expands the same text for each library, with only the crate name and the function
//! that explores a body changed, so that the libraries really run the same program. Bodies are passed
//! on by type, never behind a pointer: an empty execution takes tens of nanoseconds, where an
//! indirect call would show.
//!
//! Ordering is always `SeqCst`, the one ordering that all three model alike.

use std::fmt;

/// A program to run, with its size where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Two threads, each three times: lock, increment, unlock.
    Locked,
    /// Three threads, each with two `fetch_add` on one atomic.
    Atomic,
    /// Two producers send three messages each; the main thread receives all six.
    Mpsc,
    /// Three philosophers who take their forks in ascending order, so that nobody starves.
    Philosophers,
    /// The main thread spawns this many threads that do nothing, then joins them all.
    SpawnJoin(usize),
    /// Two threads that repeat one operation this many times each, in one long execution.
    Long(Operation, usize),
}

/// What a long execution repeats. One repetition is one step, whatever a library makes of it inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    YieldNow,
    /// A lock and its unlock.
    LockUnlock,
    FetchAdd,
}

impl Operation {
    pub const ALL: [Operation; 3] = [Operation::YieldNow, Operation::LockUnlock, Operation::FetchAdd];
}

impl Program {
    /// How many threads the program has at once, the main thread included.
    pub fn threads(self) -> usize {
        1 + match self {
            Program::Locked | Program::Mpsc | Program::Long(..) => 2,
            Program::Atomic | Program::Philosophers => 3,
            Program::SpawnJoin(threads) => threads,
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program::Locked => f.write_str("locked"),
            Program::Atomic => f.write_str("atomic"),
            Program::Mpsc => f.write_str("mpsc"),
            Program::Philosophers => f.write_str("philosophers"),
            Program::SpawnJoin(threads) => write!(f, "spawn-join-{threads}"),
            Program::Long(operation, repetitions) => write!(f, "{operation}-{repetitions}"),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::YieldNow => "long-yield",
            Operation::LockUnlock => "long-lock",
            Operation::FetchAdd => "long-fetch-add",
        })
    }
}

macro_rules! programs {
    ($library:ident, $explore:path) => {
        pub mod $library {
            use super::{Operation, Program};
            use ::$library::sync::atomic::{AtomicUsize, Ordering};
            use ::$library::sync::{Arc, Mutex, mpsc};
            use ::$library::thread;

            /// Runs the program `executions` times, or more; returns how many times it ran.
            pub fn run(program: Program, executions: u64) -> u64 {
                match program {
                    Program::Locked => $explore(program, executions, locked),
                    Program::Atomic => $explore(program, executions, atomic),
                    Program::Mpsc => $explore(program, executions, messages),
                    Program::Philosophers => $explore(program, executions, philosophers),
                    Program::SpawnJoin(threads) => $explore(program, executions, move || spawn_join(threads)),
                    Program::Long(Operation::YieldNow, repetitions) => {
                        $explore(program, executions, move || long_yield(repetitions))
                    }
                    Program::Long(Operation::LockUnlock, repetitions) => {
                        $explore(program, executions, move || long_lock(repetitions))
                    }
                    Program::Long(Operation::FetchAdd, repetitions) => {
                        $explore(program, executions, move || long_fetch_add(repetitions))
                    }
                }
            }

            fn join_all(threads: Vec<thread::JoinHandle<()>>) {
                for thread in threads {
                    thread.join().expect("no thread of these programs panics");
                }
            }

            fn locked() {
                let total = Arc::new(Mutex::new(0));
                let increment_three_times = |_| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || {
                        for _ in 0..3 {
                            *total.lock().expect("nobody panics with the lock") += 1;
                        }
                    })
                };
                join_all((0..2).map(increment_three_times).collect());
            }

            fn atomic() {
                let total = Arc::new(AtomicUsize::new(0));
                let add_twice = |_| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || {
                        for _ in 0..2 {
                            total.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                };
                join_all((0..3).map(add_twice).collect());
            }

            fn messages() {
                let (sender, receiver) = mpsc::channel();
                let send_three = |_| {
                    let sender = sender.clone();
                    thread::spawn(move || {
                        for message in 1..=3 {
                            sender.send(message).expect("the receiver outlives the producers");
                        }
                    })
                };
                let producers = (0..2).map(send_three).collect();
                let sum: i32 = (0..6).map(|_| receiver.recv().expect("six are sent")).sum();
                assert_eq!(sum, 12, "each producer sends 1, 2 and 3");
                join_all(producers);
            }

            fn philosophers() {
                const SEATS: usize = 3;
                let meals_by_fork: Arc<Vec<Mutex<u32>>> = Arc::new((0..SEATS).map(|_| Mutex::new(0)).collect());
                let dine = |seat: usize| {
                    let forks = Arc::clone(&meals_by_fork);
                    thread::spawn(move || {
                        let (left, right) = (seat, (seat + 1) % SEATS);
                        let mut first = forks[left.min(right)].lock().expect("nobody panics");
                        let mut second = forks[left.max(right)].lock().expect("nobody panics");
                        *first += 1;
                        *second += 1;
                    })
                };
                join_all((0..SEATS).map(dine).collect());
            }

            fn spawn_join(threads: usize) {
                join_all((0..threads).map(|_| thread::spawn(|| {})).collect());
            }

            fn long_yield(repetitions: usize) {
                let yield_often = |_| {
                    thread::spawn(move || {
                        for _ in 0..repetitions {
                            thread::yield_now();
                        }
                    })
                };
                join_all((0..2).map(yield_often).collect());
            }

            fn long_lock(repetitions: usize) {
                let total = Arc::new(Mutex::new(0));
                let increment_often = |_| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || {
                        for _ in 0..repetitions {
                            *total.lock().expect("nobody panics with the lock") += 1;
                        }
                    })
                };
                join_all((0..2).map(increment_often).collect());
            }

            fn long_fetch_add(repetitions: usize) {
                let total = Arc::new(AtomicUsize::new(0));
                let add_often = |_| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || {
                        for _ in 0..repetitions {
                            total.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                };
                join_all((0..2).map(add_often).collect());
            }
        }
    };
}

#[cfg(feature = "raddle")]
programs!(raddle, crate::library::explore_with_raddle);
programs!(shuttle, crate::library::explore_with_shuttle);
programs!(loom, crate::library::explore_with_loom);
