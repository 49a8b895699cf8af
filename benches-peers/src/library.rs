//! The libraries under comparison: how each explores a program, and what it cannot run.

use crate::programs::{self, Explore, Operation, Program};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The strategy Raddle runs with: the one that does what shuttle's random scheduler does.
pub const RADDLE_STRATEGY: &str = "random";

/// Every random search starts here, so that two runs measure the same schedules.
const SEED: u64 = 1;

/// Above what the longest program needs: a lock and an unlock, 2 × 40,000 times, and a margin.
const STEPS_AT_MOST: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Raddle,
    Shuttle,
    Loom,
}

/// Why there is no figure: a word for the table's cell, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub label: Cow<'static, str>,
    pub reason: String,
}

impl Missing {
    pub fn cannot_run(reason: String) -> Self {
        Missing { label: "cannot run".into(), reason: format!("cannot run: {reason}") }
    }
}

impl Library {
    pub const COUNT: usize = 3;
    /// Raddle first; the others are its peers.
    pub const ALL: [Library; Self::COUNT] = [Library::Raddle, Library::Shuttle, Library::Loom];

    pub fn name(self) -> &'static str {
        match self {
            Library::Raddle => "raddle",
            Library::Shuttle => "shuttle",
            Library::Loom => "loom",
        }
    }

    /// Why this library cannot run the program, if it cannot. Asked once before the program is measured.
    pub fn obstacle(self, program: Program) -> Option<Missing> {
        match self {
            Library::Raddle if cfg!(feature = "raddle") => None,
            Library::Raddle => Some(Missing {
                label: "not built".into(),
                reason: "not built: built without the feature `raddle`".to_owned(),
            }),
            Library::Shuttle => None,
            Library::Loom => obstacle_for_loom(program),
        }
    }

    /// Explores the program for at least this many executions; returns how many there were.
    pub fn run(self, program: Program, executions: u64) -> u64 {
        let sample = Sample { program, executions };
        match self {
            #[cfg(feature = "raddle")]
            Library::Raddle => programs::raddle::hand_to(program, OnRaddle(sample)),
            #[cfg(not(feature = "raddle"))]
            Library::Raddle => unreachable!("`obstacle` keeps a library that is not built from being run"),
            Library::Shuttle => programs::shuttle::hand_to(program, OnShuttle(sample)),
            Library::Loom => programs::loom::hand_to(program, OnLoom(sample)),
        }
    }
}

/// So many executions of a program, or a few more.
struct Sample {
    program: Program,
    executions: u64,
}

#[cfg(feature = "raddle")]
struct OnRaddle(Sample);
struct OnShuttle(Sample);
struct OnLoom(Sample);

#[cfg(feature = "raddle")]
impl Explore for OnRaddle {
    type Seen = u64;
    fn explore<F>(self, body: F) -> u64
    where
        F: Fn() + Send + Sync + 'static,
    {
        let Sample { program, executions } = self.0;
        let report = raddle::Explorer::new()
            .strategy(RADDLE_STRATEGY)
            .executions(executions)
            .seed(SEED)
            .steps(STEPS_AT_MOST as u32)
            .workers(1)
            .run(body);
        assert!(report.failure().is_none(), "raddle reports a failure of `{program}`, which has none");
        report.executions()
    }
}

impl Explore for OnShuttle {
    type Seen = u64;
    fn explore<F>(self, body: F) -> u64
    where
        F: Fn() + Send + Sync + 'static,
    {
        let executions = self.0.executions;
        use shuttle::scheduler::RandomScheduler;
        let mut config = shuttle::Config::new();
        config.max_steps = shuttle::MaxSteps::FailAfter(STEPS_AT_MOST);
        // It warns once that it takes every ordering for `SeqCst`, which is the one used here.
        config.silence_warnings = true;
        let at_most = usize::try_from(executions).expect("a measurement's executions fit a usize");
        let scheduler = RandomScheduler::new_from_seed(SEED, at_most);
        shuttle::Runner::new(scheduler, config).run(body) as u64
    }
}

/// Loom has no sampler: it walks the executions its partial-order reduction leaves, in its own order. Small
/// programs run out of those, so the walk starts again until there were enough.
impl Explore for OnLoom {
    type Seen = u64;
    fn explore<F>(self, body: F) -> u64
    where
        F: Fn() + Send + Sync + 'static,
    {
        let Sample { program, executions } = self.0;
        let done = Arc::new(AtomicU64::new(0));
        let body = Arc::new(body);
        while done.load(Ordering::Relaxed) < executions {
            let left = executions - done.load(Ordering::Relaxed);
            let limit = usize::try_from(left + 1).expect("a measurement's executions fit a usize");
            let mut model = loom::model::Builder::new();
            // Loom looks at its limits only at every checkpoint, before that execution is run: this stops
            // it after exactly `left`.
            model.max_permutations = Some(limit);
            model.checkpoint_interval = limit;
            // It sets aside memory for all of them at the start, so no more than the program needs.
            model.max_branches = branches_for_loom(program);
            // The rest as its documentation has it, whatever the environment says.
            model.max_duration = None;
            model.preemption_bound = None;
            model.checkpoint_file = None;
            model.location = false;
            model.log = false;
            let (done, body) = (Arc::clone(&done), Arc::clone(&body));
            model.check(move || {
                done.fetch_add(1, Ordering::Relaxed);
                body();
            });
        }
        done.load(Ordering::Relaxed)
    }
}

fn branches_for_loom(program: Program) -> usize {
    const DEFAULT: usize = 1_000;
    match program {
        // Two threads, and up to four points at which to switch in one repetition.
        Program::Long(_, repetitions) => DEFAULT + 2 * 4 * repetitions,
        _ => DEFAULT,
    }
}

pub fn obstacle_for_loom(program: Program) -> Option<Missing> {
    // The default is also the most: its clocks are arrays of this length.
    let allowed = loom::model::Builder::new().max_threads;
    let threads = program.threads();
    if threads > allowed {
        return Some(Missing::cannot_run(format!("loom has at most {allowed} threads, the main one included")));
    }
    // Built with overflow checks it panics here; without them it goes on with clocks that are wrong, and a
    // figure for that would be a figure for another search.
    if clock_ticks_on_loom(program) > usize::from(u16::MAX) {
        let most = u16::MAX;
        return Some(Missing::cannot_run(format!(
            "loom's clocks have 16 bits: no thread may tick more than {most} times"
        )));
    }
    None
}

/// How often one thread's clock ticks in one execution, where that can come near the limit.
fn clock_ticks_on_loom(program: Program) -> usize {
    match program {
        // A read-modify-write ticks for the read and for the write.
        Program::Long(Operation::FetchAdd, repetitions) => 2 * repetitions,
        Program::Long(Operation::LockUnlock, repetitions) => repetitions,
        _ => 0,
    }
}
