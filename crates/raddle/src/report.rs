//! The result of a search, as numbers and as text.

mod account;
pub(crate) mod facts;
mod names;
mod operations;
mod paint;
pub(crate) mod printed;
pub(crate) mod progress;
mod receives;
mod repeats;
mod source;
mod story;
mod table;
pub(crate) mod text;
mod verdict;

use std::fmt;
use std::io::{IsTerminal, Write};
use std::panic::{self, Location};
use std::path::PathBuf;

use raddle_engine::caveats::CaveatCounts;
use raddle_engine::coverage::Coverage;
use raddle_engine::estimate::Estimate;
use raddle_engine::outcome::Failure;
use raddle_engine::replay::Record;
use raddle_engine::schedule::Schedule;
use raddle_engine::search::{self, Ended};
use raddle_engine::strategy::{Bound, Claim};

use self::names::Names;
use self::paint::Paint;
use self::table::Extent;
use crate::environment::Environment;
use crate::explorer::Test;

/// The result of running a program in many orders. Its `Display` is the whole text, without colours.
#[derive(Debug)]
pub struct Report {
    pub(crate) test: Test,
    pub(crate) verdict: Verdict,
    pub(crate) label: String,
    pub(crate) executions: u64,
    pub(crate) failing: u64,
    pub(crate) steps: u64,
    /// The number of distinct states.
    pub(crate) states: u64,
    /// The strategy's bound on the probability that it missed something, as text.
    pub(crate) guarantee: Option<String>,
    /// The coverage of the orders of receives, if the user asked for it.
    pub(crate) coverage: Option<Coverage>,
    pub(crate) failed: Option<Failed>,
    /// The execution of a replay that passed.
    pub(crate) passed: Option<Record>,
    pub(crate) notes: Vec<String>,
    /// The number of executions in which something limits what they prove, by kind.
    pub(crate) caveats: CaveatCounts,
    /// A test with nothing to explore counts as failed.
    pub(crate) must_explore: bool,
    /// What the executions prove about those that were not run.
    pub(crate) proof: Proof,
    /// An estimate of the number of orders.
    pub(crate) estimate: Option<Estimate>,
    /// The given schedule does not fit the program.
    pub(crate) misfit: bool,
    /// The file that the failing schedule was written to.
    pub(crate) saved: Option<PathBuf>,
    /// The file that the failing schedule came from.
    pub(crate) kept_in: Option<PathBuf>,
    /// The file with all rows of a long table.
    pub(crate) whole: Option<PathBuf>,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Every order was covered and none failed.
    Verified,
    /// No order that was run failed.
    NoFailure,
    /// An order failed.
    Failed,
    /// No execution ever had two enabled actions, so the search says nothing about concurrency. The code under test probably does not use
    /// Raddle's types. Such a test passes unless [`must_explore`](crate::Explorer::must_explore) is set. Models never have this verdict.
    NothingToExplore,
}

/// What the executions that were run say about the others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Proof {
    /// Equivalent orders were not run.
    pub(crate) reduced: bool,
    /// Equivalent orders may have been run more than once.
    pub(crate) repeats: bool,
    /// Some orders were skipped by the strategy's own choice, not at random.
    pub(crate) selected: bool,
    /// Some orders were not run because the search was stopped. With more time, all would have been covered.
    pub(crate) stopped: bool,
    /// Every order within this bound was run, or is equivalent to one that was.
    pub(crate) bound: Option<Bound>,
    /// There was time for everything within the bound.
    pub(crate) whole: bool,
}

impl Proof {
    fn of(searched: &search::Report) -> Self {
        let (bound, whole) = match searched.ended {
            Ended::Done(Claim::Bounded(bound)) => (Some(bound), true),
            Ended::BudgetSpent => (searched.covered, false),
            _ => (None, false),
        };
        let selected = searched.selects || searched.ended == Ended::Done(Claim::Selective);
        let stopped = (searched.systematic || searched.selects) && searched.ended == Ended::BudgetSpent;
        Self { reduced: searched.reduced, repeats: searched.selects, selected, stopped, bound, whole }
    }
}

/// A failure and the execution that shows it.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    pub(crate) record: Record,
    /// Whether the record shows that failure.
    pub(crate) same: bool,
    /// The number of executions up to the failure.
    pub(crate) after: u64,
    /// A fact that the strategy reports about it.
    pub(crate) remark: Option<String>,
    pub(crate) origin: Origin,
}

/// Where a failing schedule came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Search,
    Regression,
    Replay,
}

impl Failed {
    /// Whether one execution alone shows it.
    pub(crate) fn replays(&self) -> bool {
        self.same
            && !matches!(
                self.failure,
                Failure::Leak { .. }
                    | Failure::HeldElsewhere { .. }
                    | Failure::Uncontrolled { .. }
                    | Failure::Nondeterminism(_)
            )
    }
}

impl Report {
    fn new(test: Test, verdict: Verdict, label: String) -> Self {
        Self {
            test,
            verdict,
            label,
            executions: 0,
            failing: 0,
            steps: 0,
            states: 0,
            guarantee: None,
            coverage: None,
            failed: None,
            passed: None,
            notes: Vec::new(),
            caveats: CaveatCounts::default(),
            must_explore: false,
            proof: Proof::default(),
            estimate: None,
            misfit: false,
            saved: None,
            kept_in: None,
            whole: None,
        }
    }

    pub(crate) fn of_search(test: Test, searched: &search::Report, label: String) -> Self {
        let verdict = match searched {
            _ if searched.failing > 0 => Verdict::Failed,
            _ if searched.verified() => Verdict::Verified,
            _ => Verdict::NoFailure,
        };
        let search::Report { executions, failing, steps, states, estimate, ref caveats, .. } = *searched;
        let proof = Proof::of(searched);
        let mut report =
            Self { executions, failing, steps, states, estimate, proof, ..Self::new(test, verdict, label) };
        report.guarantee = searched.guarantee.as_ref().map(facts::words);
        report.caveats.clone_from(caveats);
        if verdict == Verdict::Verified && executions == 0 {
            let why = "no execution comes to an end here: each comes back to a state it was in";
            report.notes.push(format!("{why}, so what must hold in the end was never asked"));
        }
        let selective = verdict == Verdict::NoFailure && proof.selected;
        if selective && proof.reduced && caveats.drew_random > 0 {
            report.notes.push(
                "the program draws random numbers, and who draws which depends on who draws first, so orders that were left out \
                 as equivalent may differ: this is not a proof; the strategy `exhaustive` would give one for these numbers"
                    .to_owned(),
            );
        } else if selective && caveats.guessed_spin == 0 && caveats.reduction_unproven > 0 {
            let why = "senders and timed receives of a channel without room, crashes and timers of actors, and what must always hold in a model, are reduced by rules that are not proved to lose nothing";
            report.notes.push(format!(
                "{why}: this is not a proof; the strategy `exhaustive`, or `states` for a model, would give one"
            ));
        }
        if selective && caveats.guessed_spin > 0 && !searched.selects {
            report.notes.push(format!(
                "every order that was offered was seen, but in {} of them a thread that went round and round, or on and on, had \
                 to let others go first: this is not a proof",
                verdict::number(caveats.guessed_spin)
            ));
        }
        if selective && searched.selects {
            let command = text::command(&report, "RADDLE_STRATEGY=dpor");
            report.notes.push(format!("to search every order, and not only those with something new: {command}"));
        }
        report
    }

    /// Changes the verdict of a search in which no execution had a point with two alternatives. `must_explore` says whether
    /// that is a failure.
    pub(crate) fn judge_exploration(&mut self, must_explore: bool) {
        if self.verdict != Verdict::Failed && self.executions > 0 && self.caveats.concurrent == 0 {
            self.verdict = Verdict::NothingToExplore;
            self.must_explore = must_explore;
        }
    }

    /// The report about an execution by a given schedule, the last of `executions`.
    pub(crate) fn of_record(test: Test, record: Record, origin: Origin, executions: u64) -> Self {
        let mut report = Self::new(test, Verdict::NoFailure, "replay".to_owned());
        report.executions = executions;
        report.steps = record.steps.len() as u64;
        match record.outcome.failure().cloned() {
            Some(failure) => {
                report.verdict = Verdict::Failed;
                report.failing = 1;
                report.failed = Some(Failed { failure, record, same: true, after: executions, remark: None, origin });
            }
            None => report.passed = Some(record),
        }
        report
    }

    fn names(&self, record: &Record) -> Names {
        Names::new(record, self.test.crate_dir)
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether every order was covered and none failed.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.verdict == Verdict::Verified
    }

    /// Whether an order failed, or there was nothing to explore and [there must be](crate::Explorer::must_explore).
    #[must_use]
    pub fn failed(&self) -> bool {
        self.verdict == Verdict::Failed || self.must_explore && self.verdict == Verdict::NothingToExplore
    }

    /// The failure, if there is one.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failed.as_ref().map(|failed| &failed.failure)
    }

    /// The number of executions, with the failing ones.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The number of failing executions; more than one only if the search [keeps going](crate::Explorer::keep_going).
    #[must_use]
    pub fn failing(&self) -> u64 {
        self.failing
    }

    /// The number of steps in all executions.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of distinct states; 0 if the strategy does not search by states. A state that cannot be seen completely (threads, actors
    /// that are no model) is identified by the steps that led to it.
    #[must_use]
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The coverage of the orders in which messages are received, if the user [asked for it](crate::Explorer::coverage).
    #[must_use]
    pub fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_ref()
    }

    /// The decisions that lead to the failure, for [`Explorer::replay`](crate::Explorer::replay).
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        let record = self.failed.as_ref().map(|failed| &failed.record).or(self.passed.as_ref())?;
        Some(&record.schedule)
    }

    /// The verdict in one line, with a number.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        verdict::line(self)
    }

    /// The whole text, coloured if `stream` is a terminal and the environment (`NO_COLOR`, `CLICOLOR_FORCE`) does not forbid it.
    #[must_use]
    pub fn for_terminal(&self, stream: &impl IsTerminal) -> String {
        let on = Environment::of_the_process().colours(stream.is_terminal());
        text::write(self, Extent::EndsOnly, Paint { on })
    }

    /// The failure in one line.
    pub(crate) fn failure_line(&self) -> Option<String> {
        let failed = self.failed.as_ref()?;
        let names = self.names(&failed.record);
        let first = match &failed.failure {
            Failure::Panic { message, .. } => message.lines().next(),
            _ => None,
        };
        let first = first.map(|line| format!(": {line}")).unwrap_or_default();
        Some(account::headline(&failed.failure, &names) + &first)
    }

    /// The text with all rows of its table, if not all are shown.
    pub(crate) fn whole_if_long(&self) -> Option<String> {
        let failed = self.failed.as_ref().filter(|failed| failed.same);
        let record = failed.map(|failed| &failed.record).or(self.passed.as_ref())?;
        let rows = story::tell(record, failed.map(|failed| &failed.failure), &self.names(record));
        (table::rows_left_out(rows.len()) > 0).then(|| text::write(self, Extent::Whole, Paint { on: false }))
    }

    /// Fails a test, with the report as the message of a panic. It is printed here and not by the panic hook, which would add a backtrace
    /// of Raddle's own frames.
    #[expect(clippy::print_stderr, reason = "the harness captures it, as it does what the hook prints")]
    pub(crate) fn fail_test(&self, test: &Location<'_>) -> ! {
        let text = self.for_terminal(&std::io::stderr());
        let thread = std::thread::current();
        eprintln!("\nthread '{}' panicked at {test}:\n{text}", thread.name().unwrap_or("<unnamed>"));
        panic::resume_unwind(Box::new(text))
    }

    /// Prints the verdict of a passing test, which the harness shows only if the user asks for output. If there was nothing to explore, the
    /// line is written past the harness, so that it is always shown.
    #[expect(clippy::print_stderr, reason = "the harness captures it and shows it when asked to")]
    pub(crate) fn tell(&self) {
        if self.verdict == Verdict::NothingToExplore {
            let line = format!("raddle: {}: {}\n", self.test.path, self.verdict_line());
            // If the stream is closed, that is no reason to fail.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        eprintln!("raddle: {}", self.for_terminal(&std::io::stderr()));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::write(self, Extent::EndsOnly, Paint { on: false }))
    }
}
