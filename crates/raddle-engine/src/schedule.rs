//! A schedule: the decisions of an execution, by name and not by index, so that it can be pasted, stored in a file and replayed after
//! most edits of the program.
//!
//! The text form is one line without characters that are special in a shell:
//!
//! ```text
//! v1:main,1x3,2,=1,2t,1.1
//! ```
//!
//! Only points with more than one alternative are written.
//!
//! | text | decision |
//! |---|---|
//! | `main`, `2`, `1.1` | the first task, the second task that `main` created, the first task that `1` created |
//! | `1x3` | the next three decisions are task 1 |
//! | `=1` | value 1 of a data choice |
//! | `2t`, `2s`, `2m4` | task 2: its wait times out, it wakes spuriously, it takes the message with number 4 |
//! | `@1` | the second alternative, if only its index was known when the process ended |
//!
//! The head may contain more: `v1/7:` the seed 7 of the program's random numbers, `v1/h3:` the seed 3 of its hash keys, `v1/7h3:` both,
//! and `v1+ends:` facts about the program.

mod decisions;

use std::fmt;
use std::str::FromStr;

pub use self::decisions::Decisions;
use crate::ids::StepIx;
use crate::system::{Choice, Point, System, Variant};

/// The ancestors of a task: which child of its parent it is, which child the parent is, and so on. Empty for the first task.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName(pub Vec<u32>);

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("main");
        }
        for (i, ordinal) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(f, "{dot}{ordinal}")?;
        }
        Ok(())
    }
}

/// The decision at one point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decided {
    /// This task took a step, by this alternative.
    Task(TaskName, Variant),
    /// This value was chosen.
    Value(u32),
    /// The alternative with this index.
    Place(u32),
}

impl Decided {
    /// The name of a choice at a point of `system`.
    ///
    /// # Panics
    ///
    /// If the choice is not one of the point's, or the execution is over.
    #[must_use]
    pub fn name<S: System>(system: &S, choice: Choice) -> Self {
        match system.point() {
            Point::Actions(actions) => {
                let action = &actions[choice.index()];
                Decided::Task(system.describe().task_name(action.task), action.variant)
            }
            Point::Data { .. } => Decided::Value(choice.0),
            Point::End(_) => panic!("raddle bug: a decision after the end"),
        }
    }

    /// The choice with this name at the current point of `system`, or why there is none.
    ///
    /// # Errors
    ///
    /// If the point is of another kind, or the one named cannot go on there.
    pub fn find<S: System>(&self, system: &S) -> Result<Choice, String> {
        match (self, system.point()) {
            (Decided::Task(name, variant), Point::Actions(actions)) => {
                let same =
                    |a: &crate::system::Action| a.variant == *variant && system.describe().task_name(a.task) == *name;
                match actions.iter().position(same) {
                    Some(at) => Ok(Choice(u32::try_from(at).expect("raddle bug: more than 2^32 actions"))),
                    None => {
                        let able: Vec<_> =
                            actions.iter().map(|a| system.describe().task_name(a.task).to_string()).collect();
                        let how = match variant {
                            Variant::Ready | Variant::Message(_) => "cannot go on here",
                            Variant::TimedOut => "cannot run out of time here",
                            Variant::Spurious => "cannot wake for no reason here",
                        };
                        Err(format!("task {name} {how}; what can go on: {}", able.join(", ")))
                    }
                }
            }
            (Decided::Value(value), Point::Data { choices, .. }) if *value < choices => Ok(Choice(*value)),
            (Decided::Value(value), Point::Data { choices, .. }) => {
                Err(format!("value {value} was drawn, but there are only {choices} to draw from"))
            }
            (_, Point::End(_)) => Err("the execution is over".to_owned()),
            (Decided::Place(place), point) if *place < point.alternatives() => Ok(Choice(*place)),
            (Decided::Place(_), point) => Err(format!("there are only {} alternatives", point.alternatives())),
            (Decided::Task(name, _), Point::Data { choices, .. }) => {
                Err(format!("task {name} was to go on, but a value out of {choices} is asked for"))
            }
            (Decided::Value(value), Point::Actions(_)) => {
                Err(format!("value {value} was to be drawn, but a task is to be chosen"))
            }
        }
    }
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decided::Task(name, Variant::Ready) => write!(f, "{name}"),
            Decided::Task(name, Variant::TimedOut) => write!(f, "{name}t"),
            Decided::Task(name, Variant::Spurious) => write!(f, "{name}s"),
            Decided::Task(name, Variant::Message(message)) => write!(f, "{name}m{message}"),
            Decided::Value(value) => write!(f, "={value}"),
            Decided::Place(place) => write!(f, "@{place}"),
        }
    }
}

/// The decisions that determine an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The seed of the program's random numbers.
    pub seed: u64,
    /// Facts about the program that were known when the decisions were made: the points of an execution may depend on them. Each consists
    /// of letters, digits, `_` and `.`.
    pub facts: Vec<String>,
    /// The seed of the program's hash keys; `None` if it made no hash map.
    pub hash_seed: Option<u64>,
    /// One for each point with more than one alternative.
    pub decisions: Decisions,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("v1")?;
        for fact in &self.facts {
            write!(f, "+{fact}")?;
        }
        match (self.seed, self.hash_seed) {
            (0, None) => {}
            (seed, None) => write!(f, "/{seed}")?,
            (0, Some(hash)) => write!(f, "/h{hash}")?,
            (seed, Some(hash)) => write!(f, "/{seed}h{hash}")?,
        }
        f.write_str(":")?;
        let mut comma = "";
        for (decided, times) in self.decisions.runs() {
            // Values and indices have no short form for repetitions.
            let (repeats, times) =
                if matches!(decided, Decided::Value(_) | Decided::Place(_)) { (times, 1) } else { (1, times) };
            for _ in 0..repeats {
                write!(f, "{comma}{decided}")?;
                comma = ",";
            }
            if times > 1 {
                write!(f, "x{times}")?;
            }
        }
        Ok(())
    }
}

/// Why a text is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// It does not start as a schedule does.
    #[error("a schedule starts with `v1:`, this one with `{0}`")]
    Start(String),
    /// It was written by another version.
    #[error("this schedule has version {0}, and only version 1 is understood; run the test again to get a new one")]
    Version(String),
    /// A part of it is malformed.
    #[error(
        "`{token}` (number {number}) is not a decision: expected a task such as `main`, `2` or `1.3x5`, or a value such as `=1`"
    )]
    Token {
        /// The malformed part.
        token: String,
        /// Their place in the list, from 1.
        number: usize,
    },
    /// More decisions than an execution can have steps.
    #[error("this schedule has more than {MOST_DECISIONS} decisions, which no execution has")]
    TooManyDecisions,
    /// The text would take too much memory.
    #[error("this schedule is {0} bytes long, and at most {LONGEST_BYTES} bytes are read")]
    TooLong(usize),
}

/// An execution has at most this many steps, see [`Limits::steps`](crate::search::Limits::steps).
pub const MOST_DECISIONS: usize = u32::MAX as usize;

/// The longest text that is read as a schedule.
pub const LONGEST_BYTES: usize = 1 << 20;

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        if text.len() > LONGEST_BYTES {
            return Err(ScheduleError::TooLong(text.len()));
        }
        let text: String = text.split_whitespace().collect();
        let start = || ScheduleError::Start(shortened(&text, 12));
        let (head, tail) = text.split_once(':').ok_or_else(start)?;
        let (head, seed) = head.split_once('/').unwrap_or((head, "0"));
        let mut facts = head.split('+').map(str::to_owned);
        let version = facts.next().unwrap_or_default();
        let facts: Vec<String> = facts.collect();
        if version != "v1" {
            let number = version.strip_prefix('v').filter(|v| v.parse::<u32>().is_ok());
            return Err(number.map_or_else(start, |v| ScheduleError::Version(shortened(v, 12))));
        }
        let (seed, hash_seed) = match seed.split_once('h') {
            Some((seed, hash)) => (if seed.is_empty() { "0" } else { seed }, Some(hash)),
            None => (seed, None),
        };
        let seed = seed.parse().map_err(|_| start())?;
        let hash_seed = hash_seed.map(str::parse).transpose().map_err(|_| start())?;
        let is_word = |fact: &String| fact.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !facts.iter().all(is_word) {
            return Err(start());
        }
        let mut decisions = Decisions::with_capacity(tail.matches(',').count() + 1);
        for (i, token) in tail.split(',').enumerate().filter(|(_, t)| !t.is_empty()) {
            let wrong = || ScheduleError::Token { token: shortened(token, 40), number: i + 1 };
            let (decided, times) = parse_token(token).ok_or_else(wrong)?;
            if decisions.len().saturating_add(times) > MOST_DECISIONS {
                return Err(ScheduleError::TooManyDecisions);
            }
            decisions.push_times(decided, times);
        }
        Ok(Self { seed, hash_seed, facts, decisions })
    }
}

/// The first characters of a text, for a message.
fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn parse_token(token: &str) -> Option<(Decided, usize)> {
    if let Some(value) = token.strip_prefix('=') {
        return Some((Decided::Value(value.parse().ok()?), 1));
    }
    if let Some(place) = token.strip_prefix('@') {
        return Some((Decided::Place(place.parse().ok()?), 1));
    }
    let (who, times) = match token.split_once('x') {
        Some((who, times)) => (who, times.parse().ok().filter(|&t| t > 0)?),
        None => (token, 1),
    };
    let digits = who.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(who.len());
    let (name, way_out) = who.split_at(if who.starts_with("main") { 4 } else { digits });
    let variant = match way_out {
        "" => Variant::Ready,
        "t" => Variant::TimedOut,
        "s" => Variant::Spurious,
        _ => Variant::Message(way_out.strip_prefix('m')?.parse().ok()?),
    };
    let path = match name {
        "main" => Vec::new(),
        _ => name.split('.').map(|n| n.parse().ok()).collect::<Option<Vec<u32>>>()?,
    };
    Some((Decided::Task(TaskName(path), variant), times))
}

/// Where an execution stopped following its schedule, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step that would have come next.
    pub step: StepIx,
    /// How many decisions had been followed.
    pub followed: usize,
    /// How many there are.
    pub of: usize,
    /// What does not fit.
    pub why: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, followed, of, why } = self;
        write!(f, "at step {} (after {followed} of {of} decisions): {why}", step.number() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        text.parse::<Schedule>().unwrap().to_string()
    }

    #[test]
    fn text_survives_a_round_trip() {
        for text in [
            "v1:",
            "v1:main",
            "v1:main,1x3,2,=1,=1,2t,2sx2,1.1",
            "v1:maint,1m3x2,2.1m0",
            "v1/7:=0,12.3.4x10",
            "v1:@1,@0,@0",
            "v1/h0:main",
            "v1/7h3:1",
            "v1+ends+lib_rs.3.7/7:1",
        ] {
            assert_eq!(round_trip(text), text);
        }
        assert_eq!(round_trip(" v1:1,1,\n 1 "), "v1:1x3");
    }

    #[test]
    fn bad_texts_say_what_is_wrong() {
        let error = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(error("hello"), "a schedule starts with `v1:`, this one with `hello`");
        assert!(error("v2:1").contains("version 2"));
        assert!(error("v1:1,1y").contains("`1y` (number 2) is not a decision"));
        assert!(error("v1:1x0").contains("not a decision"));
        assert!(error("v1:1x99999999999").contains("more than"));
        assert!(error("v1:=x").contains("not a decision"));
        assert!(error("v1:1x18446744073709551615,1x18446744073709551615").contains("more than 4294967295 decisions"));
    }

    #[test]
    fn a_short_text_takes_little_memory_however_much_it_stands_for() {
        let schedule: Schedule = "v1:1x99999999,2".parse().unwrap();
        assert_eq!((schedule.decisions.len(), schedule.decisions.runs().count()), (100_000_000, 2));
        assert_eq!(schedule.to_string(), "v1:1x99999999,2");
        let long = format!("v1:{}", "1,".repeat(LONGEST_BYTES / 2));
        let error = long.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(error, "this schedule is 1048579 bytes long, and at most 1048576 bytes are read");
        let token = format!("v1:{}", "y".repeat(10_000)).parse::<Schedule>().unwrap_err().to_string();
        assert!(token.len() < 300, "{token}");
    }
}
