//! Checks searches against the [oracle]: what each strategy must run on any program.
//!
//! | strategy | must run |
//! |---|---|
//! | `dpor` in pieces (`raddle_strategies::optimal`) | each trace once, and prune nothing |
//! | `dpor-source` | each trace once |
//! | `dpor-classic` | each trace |
//! | `dpor-classic:no-sleep` | each trace, if it is done after 5,000 executions; prune nothing |
//! | `exhaustive` | each execution once |
//! | `preemption:b` | the traces of the executions with at most `b` preemptions, and no others; without its cache, each such execution once |
//! | `preemption` | each trace |

mod minimize;

use std::fmt;

pub use minimize::minimize;
use raddle_engine::facts::Fact;
use raddle_engine::search::Ended;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::{Claim, Strategy, Unit};
use raddle_strategies::optimal::{self, Optimal};
use raddle_strategies::reduction::{self, Dpor};
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;

use crate::oracle::{self, Bounded, Counted, Seen, Watched};
use crate::program::Program;

/// Limits on the size of the programs that are checked.
#[derive(Clone, Copy, Debug)]
pub struct OracleLimits {
    /// The largest number of states that the oracle may store.
    pub states: usize,
    /// The largest number of traces.
    pub traces: u64,
    /// The largest number of executions, for checks that need every single one.
    pub orders: usize,
}

impl Default for OracleLimits {
    fn default() -> Self {
        Self { states: 100_000, traces: 300, orders: 400 }
    }
}

/// What the oracle has counted.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The traces.
    pub counted: Counted,
    /// The executions by their number of preemptions, if there are not too many.
    pub bounded: Option<Vec<Bounded>>,
    traces: u64,
    failing: u64,
}

/// A mistake in some of the reductions.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Mistake {
    /// In `dpor`.
    Optimal(optimal::Mistake),
    /// In the others.
    Others(reduction::Mistake),
}

/// A strategy that did not run what it must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The strategy.
    pub strategy: String,
    /// What it must run.
    pub expected: String,
    /// What it ran.
    pub got: String,
    /// True if the search has found a failure. Then it claims no proof, whatever it has left out.
    pub failed: bool,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategy, expected, got, .. } = self;
        write!(f, "{strategy}: expected {expected}; got {got}")
    }
}

/// Searches to the end, or to `most` executions.
pub fn run(program: &Program, strategy: &mut dyn Strategy, most: u64) -> (Report, Seen) {
    let mut watched = Watched::new(program.clone());
    let limits = Limits { executions: Some(most), keep_going: true, ..Limits::default() };
    let report = search(&mut watched, strategy, &limits);
    (report, watched.seen())
}

/// An algorithm that may repeat traces is not checked further after so many executions.
const MAX_REPEATED: u64 = 5_000;

impl Reference {
    /// Asks the oracle; `None` if the program is too large.
    #[must_use]
    pub fn of(program: &Program, limits: OracleLimits) -> Option<Self> {
        let counted = oracle::traces(program, limits.states).ok()?;
        let traces = u64::try_from(counted.count.all).ok().filter(|&traces| traces <= limits.traces)?;
        let failing = u64::try_from(counted.count.failing).ok()?;
        let bounded = if limits.orders == 0 { None } else { oracle::preemptions(program, limits.orders).ok() };
        Some(Self { counted, bounded, traces, failing })
    }

    /// How many traces there are.
    #[must_use]
    pub fn traces(&self) -> u64 {
        self.traces
    }

    /// Checks every strategy.
    ///
    /// # Errors
    ///
    /// The first strategy that does not run what it must.
    pub fn check(&self, program: &Program) -> Result<(), Mismatch> {
        self.check_reduction(program)?;
        self.check_orders(program)?;
        self.check_preemption(program)
    }

    /// Checks the reductions.
    ///
    /// # Errors
    ///
    /// The first strategy that does not run what it must.
    pub fn check_reduction(&self, program: &Program) -> Result<(), Mismatch> {
        self.check_variants(program, Optimal::new(), |dpor| dpor)
    }

    /// Checks the reductions with a mistake in them, to see that it is detected.
    #[doc(hidden)]
    pub fn check_mistaken(&self, program: &Program, mistake: Mistake) -> Result<(), Mismatch> {
        match mistake {
            Mistake::Optimal(mistake) => {
                self.check_variants(program, Optimal::new().with_mistake(mistake), |dpor| dpor)
            }
            Mistake::Others(mistake) => self.check_variants(program, Optimal::new(), |dpor| dpor.with_mistake(mistake)),
        }
    }

    fn check_variants(
        &self,
        program: &Program,
        mut optimal: Optimal,
        make: impl Fn(Dpor) -> Dpor,
    ) -> Result<(), Mismatch> {
        let traces = self.traces;
        let (report, seen) = run(program, &mut optimal, 20 * traces + 100);
        let once = seen.most_often() <= 1 && report.pruned == 0;
        self.holds("dpor", once && self.as_counted(&report, &seen), &report, &seen)?;
        let (source, seen) = run(program, &mut make(Dpor::source()), 100 * traces + 1_000);
        self.holds("dpor-source", seen.most_often() <= 1 && self.as_counted(&source, &seen), &source, &seen)?;
        let (classic, seen) = run(program, &mut make(Dpor::classic()), 1_000 * traces + 10_000);
        self.holds("dpor-classic", self.all_traces(&classic, &seen), &classic, &seen)?;
        // It may repeat traces so often that it is not done in time.
        let (plain, seen) = run(program, &mut make(Dpor::classic().without_sleep_sets()), MAX_REPEATED);
        let done = plain.ended != Ended::BudgetSpent;
        let fine = plain.pruned == 0 && (!done || self.all_traces(&plain, &seen));
        self.holds("dpor-classic:no-sleep", fine, &plain, &seen)
    }

    /// Checks the search that runs every execution, if there are not too many.
    ///
    /// # Errors
    ///
    /// If it does not run what it must.
    pub fn check_orders(&self, program: &Program) -> Result<(), Mismatch> {
        let Some(bounded) = &self.bounded else { return Ok(()) };
        let (report, seen) = run(program, &mut Exhaustive::depth_first(), 2 * orders(bounded) + 10);
        self.holds("exhaustive", self.each_once(&report, &seen, bounded), &report, &seen)
    }

    /// Checks the search by the number of preemptions, bound by bound, if there are not too many executions.
    ///
    /// # Errors
    ///
    /// If it does not run what it must.
    pub fn check_preemption(&self, program: &Program) -> Result<(), Mismatch> {
        let Some(bounded) = &self.bounded else { return Ok(()) };
        let most = 2 * orders(bounded) + 10;
        let (report, seen) = run(program, &mut Preemption::unbounded(), most);
        self.holds("preemption", self.all_traces(&report, &seen), &report, &seen)?;
        for (bound, upto) in (0..).zip(1..=bounded.len()) {
            let within = &bounded[..upto];
            let words = |plain| format!("preemption:{bound}{}", if plain { " without its cache" } else { "" });
            let (report, seen) = run(program, &mut Preemption::up_to(bound).without_cache(), most);
            let last = upto == bounded.len();
            let fine = claims(&report, bound, last, !last) && self.each_once(&report, &seen, within);
            let fine = fine && first_failure(&report, within);
            fault(&words(true), fine, orders(within), &report, &seen)?;
            let (report, seen) = run(program, &mut Preemption::up_to(bound), most);
            // Executions beyond the bound may be equivalent to some within it. The strategy need not know that.
            let fine = claims(&report, bound, seen.covers_exactly(bounded), true) && seen.covers_exactly(within);
            let fine = fine && first_failure(&report, within);
            fault(&words(false), fine, orders(within), &report, &seen)?;
        }
        Ok(())
    }

    fn as_counted(&self, report: &Report, seen: &Seen) -> bool {
        (report.executions, report.failing) == (self.traces, self.failing) && self.all_traces(report, seen)
    }

    fn all_traces(&self, report: &Report, seen: &Seen) -> bool {
        let same = seen.traces() == self.counted.count.all && seen.ends == self.counted.ends;
        same && report.ended == Ended::Done(Claim::Exhausted)
    }

    fn each_once(&self, report: &Report, seen: &Seen, all: &[Bounded]) -> bool {
        report.executions == orders(all) && report.pruned == 0 && seen.is_exactly(all) && seen.covers_exactly(all)
    }

    fn holds(&self, strategy: &str, fine: bool, report: &Report, seen: &Seen) -> Result<(), Mismatch> {
        if fine {
            return Ok(());
        }
        let expected =
            format!("{} traces, {} of them failing, with {} ends", self.traces, self.failing, self.counted.ends.len());
        let (got, failed) = (done(report, seen), report.failing > 0);
        Err(Mismatch { strategy: strategy.to_owned(), expected, got, failed })
    }
}

/// True if the claim is correct.
fn claims(report: &Report, bound: u32, all: bool, within: bool) -> bool {
    match report.ended {
        Ended::Done(Claim::Exhausted) => all,
        Ended::Done(Claim::Bounded(claimed)) => within && claimed.most == bound,
        _ => false,
    }
}

/// True if the first failure was found at the smallest bound that has one.
fn first_failure(report: &Report, within: &[Bounded]) -> bool {
    let fewest = within.iter().position(Bounded::fails);
    let fact = fewest.map(|fewest| Fact::FoundWith(fewest as u32, Unit::Preemption));
    report.found.as_ref().and_then(|found| found.remark.clone()) == fact
}

fn orders(all: &[Bounded]) -> u64 {
    all.iter().map(Bounded::executions).sum()
}

fn fault(strategy: &str, fine: bool, orders: u64, report: &Report, seen: &Seen) -> Result<(), Mismatch> {
    let wrong = || Mismatch {
        strategy: strategy.to_owned(),
        expected: format!("what {orders} orders are, and the first failure at its smallest bound"),
        got: done(report, seen),
        failed: report.failing > 0,
    };
    if fine { Ok(()) } else { Err(wrong()) }
}

fn done(report: &Report, seen: &Seen) -> String {
    let Report { executions, pruned, failing, ended, .. } = report;
    let remark = report.found.as_ref().and_then(|found| found.remark.as_ref());
    format!(
        "{executions} executions of {} traces (one {} times), {failing} failing, {} ends, {pruned} pruned, {ended:?}, {remark:?}",
        seen.traces(),
        seen.most_often(),
        seen.ends.len()
    )
}
