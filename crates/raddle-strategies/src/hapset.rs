//! Search guided by learned ordering constraints (Wang, Said and Gupta, ICSE 2011).
//!
//! A *statement* `st` is a place in the source and the operation there. `hapset[st]`, the history-aware predecessor set, contains the
//! statements `st'` such that, in some good execution, an event of `st` came immediately after an event of `st'` by another task, on the
//! same object and in conflict with it. The sets distinguish only "same task" and "other task", so they do not grow with the number
//! of tasks. Events that release a lock are ignored.
//!
//! The search is classic partial-order reduction without sleep sets, with one change: it reverses a race of `e` and a later `t` only if
//! `stmt(t) ∉ hapset[stmt(e)]`. The reversal is then an ordering that no execution has shown. The search learns from every execution
//! that did not fail, and ends when no race has a new reversal. It ends far earlier than the reduction alone and proves nothing: its
//! claim is always [`Claim::Selective`]. [`then_the_rest`](Hapset::then_the_rest) continues with a complete search.
//!
//! Backtrack points near the root and deep ones take turns; see `turns.rs`. One worker runs the whole search.
//!
//! Differences from the paper:
//! - Statements are also distinguished by column and operation.
//! - An ordering learned in an execution affects the races of the same execution from the event where it was learned, as in the paper,
//!   but only if the execution turns out to be good.
//! - A race whose order follows from something else (the creation of a task, or its end when another task joins it) is not reversed.
//! - Accesses to plain memory (`cell`) are no decision points, so they make no races. They influence whether a race is worth
//!   reversing; see `plain.rs`.
//! - Creating a task, ending one and joining one belong to the decision that they follow.
//!
//! A search that starts from sets learned just before a failure may not find the failure again, because the orderings that lead to it
//! are no longer new. So the strategy does not [save](Memory) what a failing search has learned.

mod checkpoint;
mod guide;
mod knowledge;
mod lookback;
mod memory;
mod phases;
mod plain;
mod pool;
mod sets;
mod share;
mod skipped_paths;
mod statement;
mod turns;

use raddle_engine::order::events::Events;
use raddle_engine::outcome::Outcome;
use raddle_engine::strategy::{
    After, Capabilities, Claim, Decision, Goal, Memory, Needs, Next, Run, Sharing, Start, Strategy, Summarize,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

pub(crate) use self::guide::Guide;
pub use self::knowledge::{Knowledge, KnownStatement};
use self::pool::Pool;
use self::skipped_paths::SkippedPaths;
pub use self::statement::Statement;
use self::turns::Turns;
use crate::optimal::Optimal;
pub use crate::reduction::Backtrack;
use crate::reduction::Dpor;
use crate::samplers::random::Random;

/// Reverses only races whose reversal is an ordering that was not seen before.
#[derive(Debug)]
pub struct Hapset {
    guided: Dpor<Guide>,
    /// The subtrees of the guided search.
    turns: Turns,
    /// Random executions to learn from before the search: their number, how many of them are left, and their seed.
    learn: u64,
    walks: u64,
    seed: u64,
    random: Random,
    /// The complete search, which starts when the guided search is done.
    rest: Option<Optimal>,
    phase: Phase,
    /// The guided search runs a subtree that it had skipped.
    rarest_begun: bool,
    /// The guided search runs depth-first; the backtrack points near the root take no turns.
    deepest_first: bool,
    /// Events of executions that another search than the guided one has run.
    events: Events,
    pool: Pool,
}

/// The part of the strategy that decides in the current execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Learning,
    Guided,
    /// The guided search, on alternatives that it had skipped.
    Rarest,
    /// The complete search.
    Rest,
    /// None: the search is over.
    Over,
}

impl Default for Hapset {
    fn default() -> Self {
        Self::new()
    }
}

impl Hapset {
    /// Guides the reduction of Flanagan and Godefroid.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Backtrack::Dpor)
    }

    /// Guides a search with other backtrack sets.
    #[must_use]
    pub fn over(backtrack: Backtrack) -> Self {
        let pool = Pool::new(backtrack);
        Self::with(Guide::new(pool.clone()), pool)
    }

    fn with(guide: Guide, pool: Pool) -> Self {
        Self {
            guided: Dpor::guided(guide),
            turns: Turns::default(),
            learn: 0,
            walks: 0,
            seed: 0,
            random: Random::new(0),
            rest: None,
            phase: Phase::Guided,
            rarest_begun: false,
            deepest_first: false,
            events: Events::default(),
            pool,
        }
    }

    /// Guides preemption bounding. When the search ends, the bound is raised by one, until no execution exceeds it.
    #[must_use]
    pub fn over_few_preemptions() -> Self {
        let mut hapset = Self::over(Backtrack::Preemption(0));
        hapset.pool.lock().over_bound = Some(SkippedPaths::default());
        hapset.guide_mut().records_over_bound = true;
        hapset
    }

    /// Learns from `executions` random executions first.
    #[must_use]
    pub fn learn(mut self, executions: u64, seed: u64) -> Self {
        self.pool.lock().walks = executions;
        (self.learn, self.seed) = (executions, seed);
        self
    }

    /// When no new ordering is left, continues with the alternatives that were skipped, rarest orderings first. These executions take turns
    /// with those of a complete search. The whole search ends when the complete search does; then everything was covered.
    #[must_use]
    pub fn then_the_rest(mut self) -> Self {
        self.rest = Some(Optimal::new());
        let mut pool = self.pool.lock();
        pool.then_the_rest = true;
        pool.rarest = Some(SkippedPaths::default());
        drop(pool);
        self.guide_mut().records_skipped = true;
        self
    }

    /// Learns, but treats every reversal as new. Tests use this to check that nothing else is dropped, and to measure the cost.
    #[doc(hidden)]
    #[must_use]
    pub fn reverse_all(mut self) -> Self {
        self.guide_mut().reverse_all = true;
        self
    }

    /// Runs the same executions as [`reverse_all`](Self::reverse_all) but learns nothing. The difference is the cost of learning.
    #[doc(hidden)]
    #[must_use]
    pub fn without_learning(self) -> Self {
        let mut hapset = self.reverse_all();
        hapset.guide_mut().without_learning = true;
        hapset
    }

    /// Runs subtrees depth-first, as the other reductions do, for comparison with them.
    #[doc(hidden)]
    #[must_use]
    pub fn deepest_first(self) -> Self {
        Self { deepest_first: true, ..self }
    }

    fn guide(&self) -> &Guide {
        self.guided.guide().expect("raddle bug: the guided search has lost its guide")
    }

    fn guide_mut(&mut self) -> &mut Guide {
        self.guided.guide_mut().expect("raddle bug: the guided search has lost its guide")
    }

    /// How many alternatives were skipped because their ordering had been seen.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.pool.lock().skipped.saturating_add_signed(self.guide().skipped())
    }

    /// How many orderings are known.
    #[must_use]
    pub fn orderings(&self) -> u64 {
        self.guide().sets().len().max(self.pool.lock().sets.len())
    }
}

impl Strategy for Hapset {
    fn needs(&self) -> Needs {
        Needs { goal: Goal::Select, ..Needs::reduction("hapset") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.phase == Phase::Learning {
            if self.walks > 0 {
                self.walks -= 1;
                return match self.random.begin(prefix) {
                    Next::Run(Start { seed, .. }) => Next::run(seed),
                    done => done,
                };
            }
            self.phase = Phase::Guided;
        }
        match self.phase {
            Phase::Learning | Phase::Guided => self.begin_guided(prefix),
            Phase::Rarest | Phase::Rest => self.begin_rest(prefix),
            Phase::Over => Next::Done(Claim::Selective),
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        match (self.phase, &mut self.rest) {
            (Phase::Learning, _) => self.random.choose(at, so_far),
            (Phase::Rest, Some(rest)) => rest.choose(at, so_far),
            _ => self.guided.choose(at, so_far),
        }
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if matches!(run.outcome, Some(Outcome::Failed(_))) {
            self.pool.lock().failed = true;
        }
        let after = match (self.phase, &mut self.rest) {
            (Phase::Learning, _) => {
                self.learn_from(run);
                After::Next
            }
            (Phase::Rest, Some(rest)) => {
                let after = rest.end(run);
                self.learn_from(run);
                after
            }
            _ => self.guided.end(run),
        };
        self.turns.count(run.trace.len());
        if self.takes_turns() {
            self.turns.suspend_current(&mut self.guided);
        }
        after
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Hapset {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
