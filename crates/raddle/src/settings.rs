//! The settings of a test, by attribute, builder or environment, and the plan that follows from them.
//!
//! Every setting is one row of a table: its name, its variable, how its text is read, and what is allowed. The three sources
//! share it, so that they cannot disagree. The environment wins over the code.

use std::path::PathBuf;
use std::time::Duration;

use raddle_engine::schedule::{Schedule, ScheduleError};
use raddle_engine::search::Limits;
use raddle_runtime::crash::Patience;
use raddle_runtime::threads::{self, LeakedThreads, Timeouts};
use raddle_settings::value;
use raddle_strategies::names::{self, Name, Options};

use crate::environment::Environment;
use crate::strategy::{Bound, Strategy, Unit};

/// A setting that makes no sense. A wrong setting is not a failing program, so [`Explorer::run`](crate::Explorer::run) panics
/// with this as the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The value is not one of those allowed.
    #[error("{setting} is `{value}`, which is not {allowed}")]
    Value {
        /// As it was written: the variable, or the name in the code.
        setting: &'static str,
        /// What it was set to.
        value: String,
        /// What it may be set to.
        allowed: &'static str,
    },
    /// There is no such strategy.
    #[error("{setting} is `{value}`, which is not {problem}")]
    Strategy {
        /// As it was written.
        setting: &'static str,
        /// What was asked for.
        value: String,
        /// What is wrong with it, what was probably meant, and what there is.
        problem: String,
    },
    /// There is no such setting.
    #[error("there is no setting `{name}`; there are: {allowed}")]
    Unknown {
        /// What was to be set.
        name: String,
        /// What can be set.
        allowed: String,
    },
    /// A schedule to replay that is neither a schedule nor a file.
    #[error("the schedule to replay, `{value}`, cannot be read: {source}, and there is no file of that name")]
    Schedule {
        /// What was given.
        value: String,
        /// What is wrong with it as a schedule.
        source: ScheduleError,
    },
    /// A file to replay without a schedule in it.
    #[error("no schedule to replay in {}: {why}", .file.display())]
    ScheduleFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A bound on deviations for a strategy that has none.
    #[error("deviations can be bounded under exhaustive and dpor, not under {strategy}")]
    NoDeviations {
        /// Which.
        strategy: &'static str,
    },
    /// A search that cannot be taken up again.
    #[error("the search cannot be taken up again: {why}")]
    Resume {
        /// Why not, and what to do.
        why: String,
    },
    /// A stack size that the system has no memory for.
    #[error("stack_size is {bytes} bytes, and there is no memory for one such stack: {source}; set a smaller one")]
    NoStack {
        /// What it was set to.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The strategy `replay` without a schedule.
    #[error("the strategy `replay` needs a schedule: set RADDLE_REPLAY to one, or to a file that has one")]
    NothingToReplay,
}

/// Where a setting was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingSource {
    Code,
    Environment,
}

/// One row of the table.
pub(crate) struct Setting {
    /// In attributes, and of the builder's method.
    pub(crate) name: &'static str,
    /// In the environment.
    pub(crate) variable: Option<&'static str>,
    /// Completes "… is `x`, which is not …".
    allowed: &'static str,
    /// `None` if the text makes no sense.
    set: fn(&mut Settings, &str) -> Option<()>,
}

/// What is allowed for `hang` and `hang_end`.
const PATIENCE: &str = "a duration such as `500ms`, `30s` or `2m`, or `0` for never";

macro_rules! setting {
    ($name:ident, $variable:expr, $allowed:expr, $read:expr) => {
        Setting {
            name: stringify!($name),
            variable: $variable,
            allowed: $allowed,
            set: |settings, text| {
                settings.$name = Some($read(text)?);
                Some(())
            },
        }
    };
}

/// Everything that can be set.
pub(crate) static TABLE: [Setting; 25] = [
    setting!(strategy, Some("RADDLE_STRATEGY"), "a strategy", read_strategy),
    setting!(executions, Some("RADDLE_EXECUTIONS"), "a number of executions, 1 or more", value::positive),
    setting!(time, Some("RADDLE_TIME"), value::DURATION, value::duration),
    setting!(seed, Some("RADDLE_SEED"), "a number such as `7`", value::number),
    setting!(workers, Some("RADDLE_WORKERS"), "a number of workers between 1 and 1024", read_workers),
    setting!(deviations, Some("RADDLE_DEVIATIONS"), "a number of deviations between 0 and 4294967295", value::number),
    setting!(resume, Some("RADDLE_RESUME"), value::FLAG, value::flag),
    setting!(learn, Some("RADDLE_LEARN"), "a number of executions, 0 or more", value::number),
    setting!(context, Some("RADDLE_CONTEXT"), "a number of calls between 0 and 64", read_context),
    setting!(coverage, Some("RADDLE_COVERAGE"), value::FLAG, value::flag),
    setting!(save_schedules, Some("RADDLE_SAVE_SCHEDULES"), value::FLAG, value::flag),
    setting!(steps, Some("RADDLE_STEPS"), "a number of steps between 1 and 4294967295", value::positive),
    setting!(hang, Some("RADDLE_HANG"), PATIENCE, read_patience),
    setting!(hang_end, Some("RADDLE_HANG_END"), PATIENCE, read_patience),
    setting!(replay, Some("RADDLE_REPLAY"), "a schedule or a file", read_text),
    setting!(out, Some("RADDLE_OUT"), "a directory", read_text),
    setting!(stack_size, None, "a stack size between 32768 and 1073741824 bytes", read_stack_size),
    setting!(spurious_wakeups, None, "a number of wake-ups between 0 and 4294967295", value::number),
    setting!(isolate_panics, None, value::FLAG, value::flag),
    setting!(keep_going, None, value::FLAG, value::flag),
    setting!(regressions, None, value::FLAG, value::flag),
    setting!(must_explore, Some("RADDLE_MUST_EXPLORE"), value::FLAG, value::flag),
    setting!(leaked_threads, Some("RADDLE_LEAKED_THREADS"), "`fail` or `allow`", read_leaked_threads),
    setting!(timeouts, Some("RADDLE_TIMEOUTS"), "`any` or `late`", read_timeouts),
    setting!(abandoned_threads, None, "a number of threads, 1 or more", value::positive),
];

/// Settings as the user made them; `None` where nothing is set.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) strategy: Option<Wanted>,
    pub(crate) executions: Option<u64>,
    pub(crate) time: Option<Duration>,
    pub(crate) seed: Option<u64>,
    pub(crate) workers: Option<usize>,
    pub(crate) deviations: Option<u32>,
    pub(crate) resume: Option<bool>,
    pub(crate) learn: Option<u64>,
    pub(crate) context: Option<usize>,
    pub(crate) coverage: Option<bool>,
    pub(crate) save_schedules: Option<bool>,
    pub(crate) steps: Option<u32>,
    /// Zero for never.
    pub(crate) hang: Option<Duration>,
    pub(crate) hang_end: Option<Duration>,
    pub(crate) replay: Option<String>,
    pub(crate) out: Option<String>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) spurious_wakeups: Option<u32>,
    pub(crate) isolate_panics: Option<bool>,
    pub(crate) keep_going: Option<bool>,
    pub(crate) regressions: Option<bool>,
    pub(crate) must_explore: Option<bool>,
    pub(crate) leaked_threads: Option<LeakedThreads>,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) abandoned_threads: Option<u64>,
}

/// A strategy as it was asked for.
pub(crate) enum Wanted {
    Name(Name),
    Value(Box<dyn Strategy>),
}

fn read_strategy(text: &str) -> Option<Wanted> {
    Name::parse(text).map(Wanted::Name)
}

fn read_workers(text: &str) -> Option<usize> {
    value::positive(text).filter(|&workers| workers <= 1024)
}

fn read_context(text: &str) -> Option<usize> {
    value::number(text).filter(|&calls| calls <= 64)
}

fn read_stack_size(text: &str) -> Option<usize> {
    value::number(text).filter(|bytes| (1 << 15..=1 << 30).contains(bytes))
}

fn read_text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The first characters of a value, for a message.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn read_leaked_threads(text: &str) -> Option<LeakedThreads> {
    match text.trim() {
        "fail" => Some(LeakedThreads::Fail),
        "allow" => Some(LeakedThreads::Allow),
        _ => None,
    }
}

fn read_timeouts(text: &str) -> Option<Timeouts> {
    match text.trim() {
        "any" => Some(Timeouts::Any),
        "late" => Some(Timeouts::Late),
        _ => None,
    }
}

fn read_patience(text: &str) -> Option<Duration> {
    if text.trim() == "0" { Some(Duration::ZERO) } else { value::duration(text) }
}

impl Settings {
    /// Sets what is called `name`.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let Some(setting) = TABLE.iter().find(|setting| setting.name == name) else {
            let allowed = TABLE.each_ref().map(|setting| setting.name).join(", ");
            return Err(SettingError::Unknown { name: name.to_owned(), allowed });
        };
        self.apply(setting, value, SettingSource::Code)
    }

    pub(crate) fn apply(&mut self, setting: &Setting, value: &str, origin: SettingSource) -> Result<(), SettingError> {
        if (setting.set)(self, value).is_some() {
            return Ok(());
        }
        let written = setting.variable.filter(|_| origin == SettingSource::Environment).unwrap_or(setting.name);
        let value = value.to_owned();
        Err(if setting.name == "strategy" {
            let problem = names::problem(&value);
            SettingError::Strategy { setting: written, value: shortened(&value), problem }
        } else {
            SettingError::Value { setting: written, value: shortened(&value), allowed: setting.allowed }
        })
    }

    /// Where both say something, `self` wins. A budget is one thing: who sets the time or the number of executions sets
    /// both, so that `RADDLE_TIME=1h` is not cut short by a number in the code.
    pub(crate) fn over(self, code: Settings) -> Settings {
        let own_budget = self.executions.is_some() || self.time.is_some();
        let budget = if own_budget { (self.executions, self.time) } else { (code.executions, code.time) };
        Settings {
            strategy: self.strategy.or(code.strategy),
            executions: budget.0,
            time: budget.1,
            seed: self.seed.or(code.seed),
            workers: self.workers.or(code.workers),
            deviations: self.deviations.or(code.deviations),
            resume: self.resume.or(code.resume),
            learn: self.learn.or(code.learn),
            context: self.context.or(code.context),
            coverage: self.coverage.or(code.coverage),
            save_schedules: self.save_schedules.or(code.save_schedules),
            steps: self.steps.or(code.steps),
            hang: self.hang.or(code.hang),
            hang_end: self.hang_end.or(code.hang_end),
            replay: self.replay.or(code.replay),
            out: self.out.or(code.out),
            stack_size: self.stack_size.or(code.stack_size),
            spurious_wakeups: self.spurious_wakeups.or(code.spurious_wakeups),
            isolate_panics: self.isolate_panics.or(code.isolate_panics),
            keep_going: self.keep_going.or(code.keep_going),
            regressions: self.regressions.or(code.regressions),
            must_explore: self.must_explore.or(code.must_explore),
            leaked_threads: self.leaked_threads.or(code.leaked_threads),
            timeouts: self.timeouts.or(code.timeouts),
            abandoned_threads: self.abandoned_threads.or(code.abandoned_threads),
        }
    }
}

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
}

impl Plan {
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
    fn a_wrong_value_names_the_setting_the_value_and_what_is_allowed() {
        let wrong = |name, value| Settings::default().set(name, value).unwrap_err().to_string();
        assert_eq!(wrong("workers", "0"), "workers is `0`, which is not a number of workers between 1 and 1024");
        assert_eq!(
            wrong("strategy", "rnadom"),
            "strategy is `rnadom`, which is not a strategy (did you mean `random`?); there are: portfolio, random, pct, \
             pct:DEPTH, pos, surw, round-robin, dpor, dpor-source, dpor-classic, dpor-classic:no-sleep, preemption, preemption:BOUND, \
             hapset, hapset:all, hapset:baseline, hapset:preemption, hapset:preemption:BOUND, delay, delay:doubling, delay:rtc, delay:prr, delay:BOUND, states, exhaustive, exhaustive:breadth-first, exhaustive:random, delay-sample, delay-sample:rtc, \
             delay-sample:prr, delay-hybrid, receive-order, receive-order:pr, receive-order:pbr, receive-order:pcr, irs, replay"
        );
        assert!(
            wrong("stratagem", "x").starts_with("there is no setting `stratagem`; there are: strategy, executions")
        );
        for (name, value) in [
            ("steps", "4294967296"),
            ("seed", "-1"),
            ("keep_going", "yes"),
            ("stack_size", "1000"),
            ("stack_size", "1073741825"),
        ] {
            assert!(wrong(name, value).contains(value), "{name}");
        }
    }

    #[test]
    fn a_stack_that_there_is_no_memory_for_is_a_wrong_setting() {
        assert!(check_stack(1 << 20).is_ok());
        let error = check_stack(1 << 46).unwrap_err().to_string();
        let said = "stack_size is 70368744177664 bytes, and there is no memory for one such stack: ";
        assert!(error.starts_with(said) && error.ends_with("; set a smaller one"), "{error}");
    }

    /// What the compiler says of a setting that there is not lists those of the attribute.
    #[test]
    fn the_attribute_takes_every_setting_that_makes_sense_for_a_test() {
        let listed = include_str!("../tests/ui/unknown_setting.stderr");
        for setting in TABLE.iter().filter(|setting| !matches!(setting.name, "replay" | "out")) {
            assert!(listed.contains(&format!(" {}", setting.name)), "{}", setting.name);
        }
    }

    #[test]
    fn a_budget_replaces_the_whole_budget() {
        let mut code = Settings::default();
        code.set("executions", "1_000").unwrap();
        code.set("seed", "3").unwrap();
        let mut environment = Settings::default();
        environment.set("time", "2s").unwrap();
        let both = environment.over(code);
        assert_eq!((both.executions, both.time, both.seed), (None, Some(Duration::from_secs(2)), Some(3)));
    }
}
