//! Settings for running a program.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::execution::Facts;

/// Settings for running a program.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The stack size of each task, if the program does not set one.
    pub stack_bytes: usize,
    /// How many waits of one execution may end spuriously.
    pub spurious: u32,
    /// If true, a panic that ends a spawned thread is an error for the thread that joins it. If false, it fails the execution.
    pub isolate_panics: bool,
    /// If true, panics of tasks are printed when they happen, with a backtrace if the environment asks for one.
    pub print_panics: bool,
    /// If true, the execution is run to be shown: messages and what happens to them are recorded as text.
    pub tell: bool,
    /// How many callers of an operation its context has, beside the place of the operation itself. 0 for no contexts.
    pub context: usize,
    /// What it means if threads still wait when no action is enabled and the test's function has returned.
    pub leaked_threads: LeakedThreads,
    /// When a timed wait may time out.
    pub timeouts: Timeouts,
    /// How many tasks a search may abandon.
    pub most_abandoned: u64,
    /// How many tasks the search has abandoned. Shared by all of its workers.
    pub abandoned: Arc<AtomicU64>,
    /// True if threads that Raddle does not control were still there when a worker ended. Shared by all workers of a search.
    pub uncontrolled: Arc<AtomicBool>,
    /// Facts that earlier executions have shown.
    pub facts: Facts,
    /// New facts that executions of this search have shown. Shared by all of its workers.
    pub learned: Arc<Mutex<Facts>>,
    /// True if the search cannot begin again. It then uses these facts to its end, and new facts limit what it proves.
    pub keeps_facts: bool,
    /// The seed for the keys of hash maps.
    pub hash_seed: u64,
}

/// What it means if threads still wait when no action is enabled and the test's function has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeakedThreads {
    /// It is a deadlock: no task can wake them.
    #[default]
    Fail,
    /// It is allowed, as when a process ends, if the threads wait for a message or a notification and not for one another.
    Allow,
}

/// When a timed wait may time out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// At any point, since a real thread can be slow.
    #[default]
    Any,
    /// Only when no other action is enabled.
    Late,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stack_bytes: 2 << 20,
            spurious: 1,
            isolate_panics: false,
            print_panics: false,
            tell: false,
            context: 0,
            leaked_threads: LeakedThreads::default(),
            timeouts: Timeouts::default(),
            most_abandoned: 1_000_000,
            abandoned: Arc::default(),
            uncontrolled: Arc::default(),
            facts: Facts::default(),
            learned: Arc::default(),
            keeps_facts: false,
            hash_seed: 0,
        }
    }
}
