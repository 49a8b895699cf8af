//! The programs, each written once.
//!
//! `programs!` expands the same text for each library, with only the crate name and the function
//! that explores a body changed, so that the libraries really run the same program. Bodies are passed
//! on by type, never behind a pointer: an empty execution takes tens of nanoseconds, where an
//! indirect call would show.
//!
//! Ordering is always `SeqCst`, the one ordering that all of them model alike.
//!
//! Traceforge's locks and channels have other signatures than std's, so it has a text of its own.

pub mod traceforge;

use crate::real::Code;
use std::fmt;
use std::str::FromStr;

/// Someone who runs a program, many times. Called once for each value, with the body of the program.
pub trait Explore {
    /// What came of it.
    type Seen;

    fn explore<F>(self, body: F) -> Self::Seen
    where
        F: Fn() + Send + Sync + 'static;
}

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
    /// One writer of a variable, and this many readers of it.
    Readers(usize),
    /// This many writers, each of which reads its left neighbour's cell and writes its own; one reader looks for the last zero.
    LastZero(usize),
    /// This many philosophers who take the left fork first, so that all may starve.
    LeftFirst(usize),
    /// This many threads with two critical sections each, on one lock.
    Critical(usize),
    /// One thread sends this many numbers to another through a ring with room for two.
    Ring(usize),
    /// The test of a larger piece of code.
    Real(Code),
    /// The same, with a bug in the code.
    Planted(Code),
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
            Program::Ring(_) => 1,
            Program::Real(_) | Program::Planted(_) => 2,
            Program::SpawnJoin(threads) | Program::LeftFirst(threads) | Program::Critical(threads) => threads,
            Program::Readers(others) | Program::LastZero(others) => 1 + others,
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
            Program::Readers(readers) => write!(f, "readers-{readers}"),
            Program::LastZero(writers) => write!(f, "lastzero-{writers}"),
            Program::LeftFirst(all_workers) => write!(f, "left-first-{all_workers}"),
            Program::Critical(threads) => write!(f, "critical-{threads}"),
            Program::Ring(numbers) => write!(f, "spsc-{numbers}"),
            Program::Real(code) => write!(f, "real-{code}"),
            Program::Planted(code) => write!(f, "planted-{code}"),
            Program::Long(operation, repetitions) => write!(f, "{operation}-{repetitions}"),
        }
    }
}

/// Reads the name of a program that can be searched whole.
impl FromStr for Program {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let sized = || {
            let (kind, size) = name.rsplit_once('-')?;
            let size = size.parse().ok()?;
            Some(match kind {
                "readers" => Program::Readers(size),
                "lastzero" => Program::LastZero(size),
                "left-first" => Program::LeftFirst(size),
                "critical" => Program::Critical(size),
                "spsc" => Program::Ring(size),
                _ => return None,
            })
        };
        let code = |prefix| name.strip_prefix(prefix).and_then(Code::named);
        match name {
            "locked" => Ok(Program::Locked),
            "atomic" => Ok(Program::Atomic),
            "mpsc" => Ok(Program::Mpsc),
            "philosophers" => Ok(Program::Philosophers),
            _ => code("real-")
                .map(Program::Real)
                .or_else(|| code("planted-").map(Program::Planted))
                .or_else(sized)
                .ok_or_else(|| format!("there is no program `{name}` to search")),
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
    ($module:ident, $library:ident, $arc:path, $real:ident) => {
        pub mod $module {
            use super::{Explore, Operation, Program};
            use crate::real::$real::drivers;
            use ::$library::sync::atomic::{AtomicUsize, Ordering};
            use ::$library::sync::{Mutex, mpsc};
            use ::$library::thread;
            use $arc;

            /// Hands the body of the program to the explorer.
            pub fn hand_to<E: Explore>(program: Program, explorer: E) -> E::Seen {
                match program {
                    Program::Locked => explorer.explore(locked),
                    Program::Atomic => explorer.explore(atomic),
                    Program::Mpsc => explorer.explore(messages),
                    Program::Philosophers => explorer.explore(philosophers),
                    Program::SpawnJoin(threads) => explorer.explore(move || spawn_join(threads)),
                    Program::Readers(count) => explorer.explore(move || readers(count)),
                    Program::LastZero(writers) => explorer.explore(move || last_zero(writers)),
                    Program::LeftFirst(all_workers) => explorer.explore(move || left_first(all_workers)),
                    Program::Critical(threads) => explorer.explore(move || critical(threads)),
                    Program::Ring(numbers) => explorer.explore(move || ring(numbers)),
                    Program::Real(code) => drivers::hand_to::<E, false>(code, explorer),
                    Program::Planted(code) => drivers::hand_to::<E, true>(code, explorer),
                    Program::Long(Operation::YieldNow, repetitions) => {
                        explorer.explore(move || long_yield(repetitions))
                    }
                    Program::Long(Operation::LockUnlock, repetitions) => {
                        explorer.explore(move || long_lock(repetitions))
                    }
                    Program::Long(Operation::FetchAdd, repetitions) => {
                        explorer.explore(move || long_fetch_add(repetitions))
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
                let dine = |worker: usize| {
                    let forks = Arc::clone(&meals_by_fork);
                    thread::spawn(move || {
                        let (left, right) = (worker, (worker + 1) % SEATS);
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

            fn readers(count: usize) {
                let shared = Arc::new(AtomicUsize::new(0));
                let read = |_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || {
                        shared.load(Ordering::SeqCst);
                    })
                };
                let mut threads: Vec<_> = (0..count).map(read).collect();
                let written = Arc::clone(&shared);
                threads.push(thread::spawn(move || written.store(1, Ordering::SeqCst)));
                join_all(threads);
            }

            fn last_zero(writers: usize) {
                let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..=writers).map(|_| AtomicUsize::new(0)).collect());
                let read = Arc::clone(&cells);
                let reader = thread::spawn(move || {
                    let mut at = writers;
                    while read[at].load(Ordering::SeqCst) != 0 {
                        at -= 1;
                    }
                });
                let write = |own: usize| {
                    let cells = Arc::clone(&cells);
                    thread::spawn(move || {
                        let left = cells[own - 1].load(Ordering::SeqCst);
                        cells[own].store(left + 1, Ordering::SeqCst);
                    })
                };
                join_all(std::iter::once(reader).chain((1..=writers).map(write)).collect());
            }

            fn left_first(all_workers: usize) {
                let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..all_workers).map(|_| Mutex::new(())).collect());
                let dine = |worker: usize| {
                    let forks = Arc::clone(&forks);
                    thread::spawn(move || {
                        let _left = forks[worker].lock().expect("nobody panics");
                        let _right = forks[(worker + 1) % all_workers].lock().expect("nobody panics");
                    })
                };
                join_all((0..all_workers).map(dine).collect());
            }

            fn critical(threads: usize) {
                let total = Arc::new(Mutex::new(0));
                let increment_twice = |_| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || {
                        for _ in 0..2 {
                            *total.lock().expect("nobody panics with the lock") += 1;
                        }
                    })
                };
                join_all((0..threads).map(increment_twice).collect());
            }

            fn ring(numbers: usize) {
                const ROOM: usize = 2;
                /// Places, how many numbers were written, and how many were read.
                type Ring = ([AtomicUsize; ROOM], AtomicUsize, AtomicUsize);
                let place = || AtomicUsize::new(0);
                let ring: Arc<Ring> = Arc::new(([place(), place()], place(), place()));
                let sends = Arc::clone(&ring);
                let sender = thread::spawn(move || {
                    let (places, written, read) = &*sends;
                    for number in 0..numbers {
                        while number - read.load(Ordering::SeqCst) == ROOM {
                            thread::yield_now();
                        }
                        places[number % ROOM].store(number, Ordering::SeqCst);
                        written.store(number + 1, Ordering::SeqCst);
                    }
                });
                let (places, written, read) = &*ring;
                for number in 0..numbers {
                    while written.load(Ordering::SeqCst) == number {
                        thread::yield_now();
                    }
                    assert_eq!(places[number % ROOM].load(Ordering::SeqCst), number, "numbers arrive in order");
                    read.store(number + 1, Ordering::SeqCst);
                }
                join_all(vec![sender]);
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
programs!(raddle, raddle, ::raddle::sync::Arc, on_raddle);
programs!(shuttle, shuttle, ::shuttle::sync::Arc, on_shuttle);
programs!(loom, loom, ::loom::sync::Arc, on_loom);
// To loom, its own `Arc` is one more shared object, whose every clone and drop is a step with orders of its own. Where
// executions are counted, it gets that of std, so that it searches what the others search.
programs!(loom_with_plain_arc, loom, ::std::sync::Arc, on_loom);
