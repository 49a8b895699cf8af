//! What came of a search, in numbers and in words.

use std::fmt;

use raddle_engine::outcome::Failure;
use raddle_engine::schedule::Schedule;
use raddle_engine::search::{self, Record};

use crate::explorer::Test;

/// What came of running a program in many orders. Displayed, it is the whole text, without colours.
#[derive(Debug)]
pub struct Report {
    pub(crate) test: Test,
    pub(crate) verdict: Verdict,
    pub(crate) label: String,
    pub(crate) executions: u64,
    pub(crate) failing: u64,
    pub(crate) steps: u64,
    pub(crate) failed: Option<Failed>,
    /// The execution of a replay that passed.
    pub(crate) passed: Option<Record>,
    pub(crate) notes: Vec<String>,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Every order was covered and none failed.
    Verified,
    /// No order that was looked at failed.
    NoFailure,
    /// An order failed.
    Failed,
}

/// A failure and the execution that shows it.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    pub(crate) record: Record,
    /// Whether the record shows that failure.
    pub(crate) same: bool,
    /// After how many executions.
    pub(crate) after: u64,
    pub(crate) origin: Origin,
}

/// Where a failing schedule came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Search,
    Replay,
}

impl Report {
    pub(crate) fn of_search(test: Test, searched: &search::Report, label: String) -> Self {
        let verdict = match searched {
            _ if searched.failing > 0 => Verdict::Failed,
            _ if searched.verified() => Verdict::Verified,
            _ => Verdict::NoFailure,
        };
        let search::Report { executions, failing, steps, .. } = *searched;
        Self { test, verdict, label, executions, failing, steps, failed: None, passed: None, notes: Vec::new() }
    }

    pub(crate) fn of_replay(test: Test, record: Record) -> Self {
        let steps = record.steps.len() as u64;
        let mut report = Self {
            test,
            verdict: Verdict::NoFailure,
            label: "replay".to_owned(),
            executions: 1,
            failing: 0,
            steps,
            failed: None,
            passed: None,
            notes: Vec::new(),
        };
        match record.outcome.failure().cloned() {
            Some(failure) => {
                report.verdict = Verdict::Failed;
                report.failing = 1;
                report.failed = Some(Failed { failure, record, same: true, after: 1, origin: Origin::Replay });
            }
            None => report.passed = Some(record),
        }
        report
    }

    /// How it went.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether every order was covered and none failed.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.verdict == Verdict::Verified
    }

    /// Whether an order failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.verdict == Verdict::Failed
    }

    /// What went wrong, if something did.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failed.as_ref().map(|failed| &failed.failure)
    }

    /// How many executions there were, the failing ones included.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How many of them failed; more than one only if the search was told to [keep going](crate::Explorer::keep_going).
    #[must_use]
    pub fn failing(&self) -> u64 {
        self.failing
    }

    /// How many steps the program took in all of them.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The decisions that lead to the failure, to be given to [`Explorer::replay`](crate::Explorer::replay).
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        let record = self.failed.as_ref().map(|failed| &failed.record).or(self.passed.as_ref())?;
        Some(&record.schedule)
    }

    /// The verdict in one line, with a number.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        format!(
            "{:?} after {} orders ({}): {}",
            self.verdict,
            self.executions,
            self.label,
            self.failure().map_or("", Failure::kind)
        )
    }

    pub(crate) fn for_terminal(&self) -> String {
        self.to_string()
    }

    pub(crate) fn tell(&self) {}
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.verdict_line())?;
        if let Some(failed) = &self.failed {
            writeln!(f, "{:?}", failed.failure)?;
            writeln!(f, "replay: RADDLE_REPLAY={} cargo test {}", failed.record.schedule, self.test.path)?;
        }
        Ok(())
    }
}
