//! Searches of all orders of a program by Raddle and its peers.

use crate::library::{self, Library, Missing};
use crate::process;
use crate::programs::{self, Explore, Program};
use shuttle::scheduler::{DfsScheduler, RandomScheduler, Scheduler};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

/// A searcher: a library and its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searcher {
    /// A strategy of Raddle, by its name: what a user gets.
    Raddle(&'static str),
    /// The same without the probes that estimate the size of a search, so that every execution belongs to the search.
    Bare(&'static str),
    Loom,
    /// Loom with a bound of two preemptions.
    LoomBounded,
    ShuttleDfs,
    /// It samples, as `random` of Raddle does.
    ShuttleRandom,
    Traceforge,
}

/// The name of each, on the command line and in tables.
const NAMES: [(&str, Searcher); 13] = [
    ("dpor", Searcher::Raddle("dpor")),
    ("exhaustive", Searcher::Raddle("exhaustive")),
    ("preemption:2", Searcher::Raddle("preemption:2")),
    ("random", Searcher::Raddle("random")),
    ("bare-dpor", Searcher::Bare("dpor")),
    ("bare-exhaustive", Searcher::Bare("exhaustive")),
    ("bare-preemption:2", Searcher::Bare("preemption:2")),
    ("bare-random", Searcher::Bare("random")),
    ("loom", Searcher::Loom),
    ("loom:2", Searcher::LoomBounded),
    ("shuttle-dfs", Searcher::ShuttleDfs),
    ("shuttle-random", Searcher::ShuttleRandom),
    ("traceforge", Searcher::Traceforge),
];

impl fmt::Display for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = NAMES.iter().find(|(_, known)| known == self).expect("every searcher has a name");
        f.write_str(name)
    }
}

impl FromStr for Searcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(name, _)| *name == text);
        known.map(|&(_, searcher)| searcher).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("nobody called `{text}` searches; there are: {}", names.join(", "))
        })
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything was covered.
    Whole,
    /// The allowed executions or the allowed time were used up.
    Limit,
    /// A failure of the program ended it: the searcher cannot continue after one.
    Failure,
}

/// The counts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub ended: Ended,
    /// Complete executions. If the search was stopped, all that were begun.
    pub executions: u64,
}

/// What the program can observe of a search, while it runs.
#[derive(Debug, Default)]
pub struct Watch {
    /// Executions begun.
    begun: AtomicU64,
    /// Resident KiB when so many had been begun.
    memory: Mutex<Vec<(u64, u64)>>,
    /// CPU time of each thread that runs executions.
    used: Mutex<HashMap<ThreadId, Duration>>,
}

thread_local! {
    /// Executions begun on this thread.
    static BEGUN_HERE: Cell<u64> = const { Cell::new(0) };
}

impl Watch {
    /// Memory is read when this many executions have begun, and at twice as many, and so on.
    const FIRST_LOOK: u64 = 64;

    /// Reading a thread's clock takes as long as a tenth of a short execution.
    const BETWEEN_READINGS: u64 = 32;

    fn begin(&self) {
        let begun = self.begun.fetch_add(1, Relaxed) + 1;
        if begun >= Self::FIRST_LOOK && begun.is_power_of_two() {
            self.look(begun);
        }
        let here = BEGUN_HERE.with(|here| here.replace(here.get() + 1));
        if here.is_multiple_of(Self::BETWEEN_READINGS) {
            let used = process::cpu_time_of_this_thread();
            self.used.lock().expect("nobody panics with the lock").insert(std::thread::current().id(), used);
        }
    }

    /// CPU time of the busiest thread: a lower bound on the duration if each worker had a core of its own.
    pub fn busiest(&self) -> Duration {
        self.used.lock().expect("nobody panics with the lock").values().max().copied().unwrap_or_default()
    }

    fn look(&self, begun: u64) {
        self.memory.lock().expect("nobody panics with the lock").push((begun, process::resident_kib()));
    }

    pub fn begun(&self) -> u64 {
        self.begun.load(Relaxed)
    }

    /// Memory now and then, and now.
    pub fn memory(&self) -> Vec<(u64, u64)> {
        self.look(self.begun());
        self.memory.lock().expect("nobody panics with the lock").clone()
    }
}

/// A search that is about to begin.
pub struct Task {
    pub searcher: Searcher,
    pub program: Program,
    pub workers: usize,
    pub executions: u64,
    pub watch: Arc<Watch>,
}

impl Searcher {
    /// Why the program cannot be searched, if it cannot.
    pub fn obstacle(self, program: Program) -> Option<Missing> {
        match self {
            Searcher::Raddle(_) | Searcher::Bare(_) => Library::Raddle.obstacle(program),
            Searcher::Loom | Searcher::LoomBounded => library::obstacle_for_loom(program),
            Searcher::ShuttleDfs | Searcher::ShuttleRandom => None,
            Searcher::Traceforge => {
                programs::traceforge::obstacle(program).map(|reason| Missing::cannot_run(reason.to_owned()))
            }
        }
    }
}

impl Task {
    /// Searches. Panics if the program fails and the searcher cannot continue.
    pub fn run(self) -> Counted {
        let program = self.program;
        match self.searcher {
            #[cfg(feature = "raddle")]
            Searcher::Raddle(_) | Searcher::Bare(_) => programs::raddle::hand_to(program, self),
            #[cfg(not(feature = "raddle"))]
            Searcher::Raddle(_) | Searcher::Bare(_) => unreachable!("`obstacle` keeps this from being run"),
            Searcher::Loom | Searcher::LoomBounded => programs::loom_with_plain_arc::hand_to(program, self),
            Searcher::ShuttleDfs | Searcher::ShuttleRandom => programs::shuttle::hand_to(program, self),
            Searcher::Traceforge => programs::traceforge::hand_to(program, self),
        }
    }

    fn counted(&self, executions: u64) -> Counted {
        let ended = if executions < self.executions { Ended::Whole } else { Ended::Limit };
        Counted { ended, executions }
    }

    #[cfg(feature = "raddle")]
    fn on_raddle<F: Fn() + Send + Sync + 'static>(&self, body: F) -> u64 {
        use raddle::strategy::{Exhaustive, Preemption, Random};
        use raddle_strategies::optimal::Optimal;
        let explorer = raddle::Explorer::new();
        let explorer = match self.searcher {
            Searcher::Bare("dpor") => explorer.strategy(Optimal::new()),
            Searcher::Bare("exhaustive") => explorer.strategy(Exhaustive::depth_first()),
            Searcher::Bare("preemption:2") => explorer.strategy(Preemption::up_to(2)),
            Searcher::Bare("random") => explorer.strategy(Random::new(1)),
            Searcher::Raddle(name) => explorer.strategy(name),
            other => unreachable!("{other:?} is not one of Raddle's"),
        };
        let report = explorer
            .executions(self.executions)
            // The parent process ends this search long before.
            .time(Duration::from_secs(3600))
            .workers(self.workers)
            .keep_going(true)
            .run(body);
        report.executions()
    }
}

fn on_loom<F: Fn() + Send + Sync + 'static>(body: F, executions: u64, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    // It checks its limits at checkpoints only.
    model.checkpoint_interval = 1_000;
    model.max_permutations = usize::try_from(executions).ok();
    model.max_branches = 10_000;
    model.max_duration = None;
    model.preemption_bound = preemptions;
    model.checkpoint_file = None;
    model.location = false;
    model.log = false;
    model.check(body);
}

fn on_shuttle<F, S>(body: F, scheduler: impl FnOnce(usize) -> S, executions: u64)
where
    F: Fn() + Send + Sync + 'static,
    S: Scheduler + 'static,
{
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    config.failure_persistence = shuttle::FailurePersistence::None;
    let at_most = usize::try_from(executions).expect("the executions of a search fit a usize");
    shuttle::Runner::new(scheduler(at_most), config).run(body);
}

fn on_traceforge<F: Fn() + Send + Sync + 'static>(body: F, executions: u64) {
    let config = traceforge::Config::builder().with_max_iterations(executions).with_keep_going_after_error(true);
    let _ = traceforge::verify(config.build(), body);
}

impl Explore for Task {
    type Seen = Counted;

    fn explore<F>(self, body: F) -> Counted
    where
        F: Fn() + Send + Sync + 'static,
    {
        let watch = Arc::clone(&self.watch);
        let before = watch.begun();
        let watched = {
            let watch = Arc::clone(&watch);
            move || {
                watch.begin();
                body();
            }
        };
        match self.searcher {
            #[cfg(feature = "raddle")]
            Searcher::Raddle(_) | Searcher::Bare(_) => {
                let executions = self.on_raddle(watched);
                return self.counted(executions);
            }
            #[cfg(not(feature = "raddle"))]
            Searcher::Raddle(_) | Searcher::Bare(_) => unreachable!("`obstacle` keeps this from being run"),
            Searcher::Loom => on_loom(watched, self.executions, None),
            Searcher::LoomBounded => on_loom(watched, self.executions, Some(2)),
            Searcher::ShuttleDfs => {
                on_shuttle(watched, |at_most| DfsScheduler::new(Some(at_most), false), self.executions)
            }
            Searcher::ShuttleRandom => {
                on_shuttle(watched, |at_most| RandomScheduler::new_from_seed(1, at_most), self.executions);
            }
            Searcher::Traceforge => on_traceforge(watched, self.executions),
        }
        self.counted(watch.begun() - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executions(searcher: Searcher, program: Program) -> Counted {
        Task { searcher, program, workers: 1, executions: 1_000_000, watch: Arc::default() }.run()
    }

    #[test]
    fn raddle_needs_as_many_executions_as_there_are_traces() {
        for (program, traces) in [
            (Program::Locked, 20),
            (Program::Atomic, 90),
            (Program::Readers(6), 64),
            (Program::LastZero(5), 64),
            (Program::LeftFirst(4), 15),
            (Program::Critical(3), 90),
        ] {
            if Searcher::Raddle("dpor").obstacle(program).is_none() {
                let counted = executions(Searcher::Raddle("dpor"), program);
                assert_eq!(counted, Counted { ended: Ended::Whole, executions: traces }, "{program}");
            }
        }
    }

    #[test]
    fn everybody_searches_a_small_program_whole_or_says_why_not() {
        for (_, searcher) in NAMES {
            let samples = [Searcher::Raddle("random"), Searcher::Bare("random"), Searcher::ShuttleRandom];
            if !samples.contains(&searcher) && searcher.obstacle(Program::Readers(2)).is_none() {
                let counted = executions(searcher, Program::Readers(2));
                assert_eq!(counted.ended, Ended::Whole, "{searcher}");
                assert!(counted.executions >= 4, "{searcher} missed orders: {counted:?}");
            }
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for (name, searcher) in NAMES {
            assert_eq!(searcher.to_string(), name);
            assert_eq!(name.parse(), Ok(searcher));
        }
        assert!("dfs".parse::<Searcher>().is_err());
    }
}
