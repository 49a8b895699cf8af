//! The programs of SCTBench, the suite that samplers and bounded searches are measured on: its groups CS and Chess, and the string
//! buffer of the JDK.
//!
//! Those of which exact figures are known ([`EXACT`]) share memory through atomics, one step per access, and start all their threads
//! before any of them steps, so that their orders can be counted and the chance of a random walk worked out. The others keep what a
//! lock protects inside the lock, as one would.

pub mod account;
pub mod bluetooth_driver;
pub mod containers;
pub mod lazy;
pub mod lock_order;
pub mod philosophers;
pub mod reorder;
pub mod string_buffer;
pub mod sync;
pub mod token_ring;
pub mod twostage;
pub mod work_stealing;
pub mod wronglock;

use crate::Program;

/// All programs, by what they are about.
pub static ALL: [&[Program]; 13] = [
    &account::PROGRAMS,
    &bluetooth_driver::PROGRAMS,
    &containers::PROGRAMS,
    &lazy::PROGRAMS,
    &lock_order::PROGRAMS,
    &philosophers::PROGRAMS,
    &reorder::PROGRAMS,
    &string_buffer::PROGRAMS,
    &sync::PROGRAMS,
    &token_ring::PROGRAMS,
    &twostage::PROGRAMS,
    &work_stealing::PROGRAMS,
    &wronglock::PROGRAMS,
];

/// The programs with nothing wrong.
pub fn correct() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_none())
}

/// The programs of the suite, each with its bug.
pub fn bugs() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_some())
}

/// What is known of a program exactly, at one step per shared access.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// The [label](Program::label) of the program.
    pub label: &'static str,
    /// Orders that differ in more than the order of independent steps.
    pub traces: u64,
    /// Those of them that show the bug.
    pub buggy: u64,
    /// The chance that one uniform random walk shows it.
    pub chance: f64,
    /// The fewest preemptions that do.
    pub preemptions: u32,
    /// The fewest delays of round robin that do.
    pub delays: u32,
}

/// The programs whose figures are known exactly.
pub static EXACT: [Exact; 7] = [
    Exact { label: "lazy01", traces: 6, buggy: 2, chance: 1.0 / 3.0, preemptions: 0, delays: 1 },
    Exact { label: "token_ring", traces: 24, buggy: 4, chance: 1.0 / 6.0, preemptions: 0, delays: 2 },
    Exact { label: "deadlock01", traces: 3, buggy: 1, chance: 0.5, preemptions: 1, delays: 1 },
    Exact { label: "bluetooth_driver", traces: 10, buggy: 1, chance: 0.0967, preemptions: 1, delays: 2 },
    Exact { label: "twostage", traces: 3, buggy: 1, chance: 1.0 / 64.0, preemptions: 1, delays: 1 },
    Exact { label: "reorder_3", traces: 56, buggy: 12, chance: 0.0494, preemptions: 1, delays: 2 },
    Exact { label: "din_phil3", traces: 7, buggy: 1, chance: 1.0 / 3.0, preemptions: 1, delays: 2 },
];
