//! The plan of a run: the settings of code and environment together, with defaults for everything that is not set.

use std::path::PathBuf;
use std::time::Duration;

use raddle_engine::schedule::Schedule;
use raddle_engine::search::Limits;
use raddle_runtime::crash::Patience;
use raddle_runtime::threads;
use raddle_strategies::names::{Name, Options};

use crate::environment::Environment;
use crate::settings::{SettingError, Settings, Wanted};
use crate::strategy::{Bound, Strategy, Unit};

/// What to do: all settings with their defaults applied.
pub(crate) struct Plan {
    pub(crate) strategy: Box<dyn Strategy>,
    /// First try to cover all orders, with a part of the budget.
    pub(crate) proof_first: bool,
    /// How to make the strategy again; `None` for one that was given as a value.
    pub(crate) again: Option<Again>,
    /// The strategy as a report calls it: "random, seed 0".
    pub(crate) label: String,
    pub(crate) limits: Limits,
    pub(crate) program: threads::Settings,
    /// How long the program may go without a step.
    pub(crate) patience: Patience,
    /// Run this and nothing else.
    pub(crate) replay: Option<Schedule>,
    /// Where files go, if the user says so; empty for nowhere.
    pub(crate) out: Option<PathBuf>,
    pub(crate) regressions: bool,
    /// A test in which there is nothing to explore fails.
    pub(crate) must_explore: bool,
    /// How many executions run at a time.
    pub(crate) workers: usize,
    /// Continue an earlier search, and save this one if it is stopped.
    pub(crate) resume: bool,
    /// Measure which orders of receives are covered.
    pub(crate) coverage: bool,
    /// Save the schedules that the strategy generates.
    pub(crate) save_schedules: bool,
    /// Print the panics of the execution that is shown, for their backtraces.
    pub(crate) backtraces: bool,
    /// Show what the program prints, once, even if it passes.
    pub(crate) shows_output: bool,
}

/// How to make a strategy again that was asked for by name.
#[derive(Clone, Copy)]
pub(crate) struct Again {
    name: Name,
    options: Options,
}

impl Again {
    /// How to make the strategy that tries to cover everything.
    pub(crate) fn proof() -> Option<Self> {
        Some(Self { name: Name::parse("dpor")?, options: Options::default() })
    }

    /// Another strategy of the same kind, which has decided nothing yet.
    pub(crate) fn make(self) -> Option<Box<dyn Strategy>> {
        self.name.make(&self.options)
    }
}

/// Executions of a strategy that has no end of its own, if no budget is set.
const DEFAULT_EXECUTIONS: u64 = 10_000;

/// Time for a strategy that ends by itself, if no budget is set.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// `hang` and `hang_end`, if not set.
const DEFAULT_HANG: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(60));

impl Plan {
    /// With this strategy, if none is asked for.
    pub(crate) fn new(code: Settings, environment: &Environment, usual: Name) -> Result<Self, SettingError> {
        let settings = environment.settings()?.over(code);
        let replay = settings.replay.as_deref().map(crate::replay_source::read).transpose()?;
        let seed = settings.seed.unwrap_or(0);
        let wanted = settings.strategy.unwrap_or_else(|| Wanted::Name(usual));
        let options =
            Options { seed, deviations: settings.deviations, learn: settings.learn.unwrap_or(0), ..Options::default() };
        let name = match &wanted {
            Wanted::Name(name) => Some(*name),
            Wanted::Value(_) => None,
        };
        let (again, proof_first) =
            (name.map(|name| Again { name, options }), name.is_some_and(Name::wants_proof_first));
        let mut label = match (&wanted, name) {
            (Wanted::Value(strategy), _) => strategy.name().to_owned(),
            (_, Some(name)) if name.is_seeded() => format!("{name}, seed {seed}"),
            (Wanted::Name(name), _) => name.to_string(),
        };
        let mut strategy = match wanted {
            Wanted::Value(strategy) => strategy,
            Wanted::Name(name) => match name.make(&options) {
                Some(strategy) => strategy,
                // The schedule is followed without asking any strategy; this one is never asked.
                None if replay.is_some() => Box::new(crate::strategy::RoundRobin::new()),
                None => return Err(SettingError::NothingToReplay),
            },
        };
        if let Some(most) = settings.deviations {
            if !name.is_some_and(Name::is_bounded) {
                return Err(SettingError::NoDeviations { strategy: strategy.name() });
            }
            label = format!("{label}, {}", Bound { most, unit: Unit::Deviation });
        }
        if options.learn > 0 && name.is_some_and(Name::learns) {
            label = format!("{label}, learning from {} random walks, seed {seed}", options.learn);
        }
        // The others have no use for it, and it takes time.
        let context = settings.context.filter(|_| strategy.memory().is_some()).unwrap_or(0);
        if context > 0 {
            label = format!("{label}, context {context}");
        }
        let needs = strategy.needs();
        let (executions, time) = match (settings.executions, settings.time) {
            (None, None) if !needs.endless => (None, Some(DEFAULT_TIME)),
            (None, None) => (Some(DEFAULT_EXECUTIONS), None),
            said => said,
        };
        let limits = Limits {
            executions,
            time,
            steps: settings.steps.unwrap_or(Limits::default().steps),
            keep_going: settings.keep_going.unwrap_or(false),
            ..Limits::default()
        };
        let usual = threads::Settings::default();
        let program = threads::Settings {
            print_panics: false,
            stack_bytes: settings.stack_size.unwrap_or(usual.stack_bytes),
            spurious: settings.spurious_wakeups.unwrap_or(usual.spurious),
            isolate_panics: settings.isolate_panics.unwrap_or(usual.isolate_panics),
            leaked_threads: settings.leaked_threads.unwrap_or_default(),
            timeouts: settings.timeouts.unwrap_or_default(),
            most_abandoned: settings.abandoned_threads.unwrap_or(usual.most_abandoned),
            context,
            hash_seed: seed,
            ..threads::Settings::default()
        };
        if program.stack_bytes > usual.stack_bytes {
            check_stack(program.stack_bytes)?;
        }
        let patience = |set: Option<Duration>, usual| Some(set.unwrap_or(usual)).filter(|time| !time.is_zero());
        let patience = Patience {
            tell: patience(settings.hang, DEFAULT_HANG.0),
            end: patience(settings.hang_end, DEFAULT_HANG.1),
        };
        let out = settings.out.map(PathBuf::from);
        let regressions = settings.regressions.unwrap_or(true);
        let backtraces = environment.backtraces();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let workers = settings.workers.unwrap_or_else(cores);
        Ok(Self {
            coverage: settings.coverage.unwrap_or(needs.receives),
            save_schedules: settings.save_schedules.unwrap_or(false),
            strategy,
            again,
            proof_first,
            label,
            limits,
            program,
            patience,
            replay,
            out,
            regressions,
            must_explore: settings.must_explore.unwrap_or(false),
            backtraces,
            shows_output: false,
            workers,
            resume: settings.resume.unwrap_or(false),
        })
    }

    /// The settings that decide what orders there are, in words.
    pub(crate) fn tree(&self) -> String {
        let threads::Settings { stack_bytes, spurious, isolate_panics, leaked_threads, timeouts, .. } = &self.program;
        let steps = self.limits.steps;
        format!(
            "steps {steps}, stack_size {stack_bytes}, spurious_wakeups {spurious}, isolate_panics {isolate_panics}, \
             leaked_threads {leaked_threads:?}, timeouts {timeouts:?}"
        )
    }
}

/// Whether the system has memory for a stack of this size: if not, that is a wrong setting and no failure of the program.
fn check_stack(bytes: usize) -> Result<(), SettingError> {
    threads::try_stack(bytes).map_err(|source| SettingError::NoStack { bytes, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_there_is_no_memory_for_is_a_wrong_setting() {
        assert!(check_stack(1 << 20).is_ok());
        let error = check_stack(1 << 46).unwrap_err().to_string();
        let said = "stack_size is 70368744177664 bytes, and there is no memory for one such stack: ";
        assert!(error.starts_with(said) && error.ends_with("; set a smaller one"), "{error}");
    }
}
