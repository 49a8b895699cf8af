//! The settings of a test, by attribute, builder or environment. The [plan](crate::plan) is computed from them.
//!
//! Every setting is one row of a table: its name, its variable, how its text is parsed, and what is allowed. All three sources use the
//! table, so they cannot disagree. The environment has precedence over the code.

use std::path::PathBuf;
use std::time::Duration;

use raddle_engine::schedule::ScheduleError;
use raddle_runtime::threads::{LeakedThreads, Timeouts};
use raddle_settings::value;
use raddle_strategies::names::{self, Name};

use crate::strategy::Strategy;

/// A wrong setting. This is not a failing program, so [`Explorer::run`](crate::Explorer::run) panics with this as the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The value is not one of those allowed.
    #[error("{setting} is `{value}`, which is not {allowed}")]
    Value {
        /// Its name as the user wrote it: the variable, or the name in the code.
        setting: &'static str,
        /// The wrong value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// There is no such strategy.
    #[error("{setting} is `{value}`, which is not {problem}")]
    Strategy {
        /// Its name as the user wrote it.
        setting: &'static str,
        /// The unknown name.
        value: String,
        /// What is wrong with it, what was probably meant, and a list of all strategies.
        problem: String,
    },
    /// There is no such setting.
    #[error("there is no setting `{name}`; there are: {allowed}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// All settings.
        allowed: String,
    },
    /// A schedule to replay that is neither a schedule nor a file.
    #[error("the schedule to replay, `{value}`, cannot be read: {source}, and there is no file of that name")]
    Schedule {
        /// The given text.
        value: String,
        /// Why it is not a schedule.
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
        /// The strategy.
        strategy: &'static str,
    },
    /// A search that cannot be resumed.
    #[error("the search cannot be resumed: {why}")]
    Resume {
        /// Why not, and what to do.
        why: String,
    },
    /// A stack size that the system has no memory for.
    #[error("stack_size is {bytes} bytes, and there is no memory for one such stack: {source}; set a smaller one")]
    NoStack {
        /// The size.
        bytes: usize,
        /// The error of the system.
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
    /// Its name in attributes, which is also that of the builder's method.
    pub(crate) name: &'static str,
    /// Its variable in the environment.
    pub(crate) variable: Option<&'static str>,
    /// The allowed values, to complete "… is `x`, which is not …".
    allowed: &'static str,
    /// Parses a value and sets it. `None` if the text is not allowed.
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

/// All settings.
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

/// A strategy as the user gave it.
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
    /// Sets the setting with this name.
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

    /// If both are set, `self` has precedence. Time and number of executions are one budget: a source that sets one of them replaces both,
    /// so that `RADDLE_TIME=1h` is not cut short by a number in the code.
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

    /// If a setting does not exist, the compiler's error lists those of the attribute.
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
