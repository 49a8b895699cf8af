//! How programs are to be run.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::execution::Facts;

/// How programs are to be run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stack of each task, where the program does not say otherwise.
    pub stack_bytes: usize,
    /// How many waits of one execution may end for no reason.
    pub spurious: u32,
    /// Whether a panic that ends a spawned thread is left to whoever joins it.
    pub isolate_panics: bool,
    /// Whether panics of tasks are printed where they happen, with a backtrace if the environment asks for one.
    pub print_panics: bool,
    /// Whether the execution is run to be shown: messages and what becomes of them are kept in words.
    pub tell: bool,
    /// How many of the calls that led to an operation are found out, beside the place of the operation itself; 0 for nothing of
    /// that.
    pub context: usize,
    /// What becomes of threads that still wait when nothing can happen any more and the test's function has returned.
    pub leaked_threads: LeakedThreads,
    /// When a wait that has a time may end by it.
    pub timeouts: Timeouts,
    /// How many tasks a search may abandon, and how many it has; shared by all of its workers.
    pub most_abandoned: u64,
    /// See there.
    pub abandoned: Arc<AtomicU64>,
    /// Threads that are not under control were there when a worker ended; shared by all workers of a search.
    pub uncontrolled: Arc<AtomicBool>,
    /// What earlier executions have shown.
    pub facts: Facts,
    /// What executions show that is not among the facts; shared by all workers of a search.
    pub learned: Arc<Mutex<Facts>>,
    /// The search cannot begin again, so it goes by these facts to its end, and what executions show beyond them limits what is proved.
    pub keeps_facts: bool,
    /// Feeds the keys of hash maps.
    pub hash_seed: u64,
}

/// What threads are that still wait when nothing can happen any more and the test's function has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeakedThreads {
    /// A deadlock: nobody can wake them.
    #[default]
    Fail,
    /// Left behind, as they are when a process ends, if they wait to be given something and not for one another.
    Allow,
}

/// When a wait that has a time may end by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// At any moment, since a real thread can be slow.
    #[default]
    Any,
    /// Only when nothing else can happen.
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
