//! Search guided by orderings that were seen before (Wang, Said, Gupta, ICSE 2011; ALGORITHMS.md section 4).
//!
//! A *statement* is a place in the source and what is done there. `hapset[st]`, the history-aware predecessor set, has the
//! statements `st'` such that in some good execution an event of `st` came right after one of `st'` by another task, on the same
//! object and in conflict with it. Only one's own and the other's task are told apart, so the sets do not grow with
//! the number of tasks. What gives a lock back is left out.
//!
//! The search is that of classic reduction, without sleep sets, with one change: a race of `e` and a later `t` is reversed only if
//! `stmt(t) ∉ hapset[stmt(e)]`, because then the reversal is an ordering that was never seen. It learns from every execution
//! that did not fail, and ends when nothing new is left. That is far earlier than reduction alone would end, and proves nothing:
//! a search that goes by the sets is selective, whatever it has covered. [`then_the_rest`](Hapset::then_the_rest) goes on after that.
//!
//! Where we differ: statements are told apart by column and operation as well. What was learnt in an execution counts for its own
//! races from where it was learnt on, as in the paper, but only if it turns out to be a good one. A race that something else orders
//! already (a task's creation, or its end where another waits for that) is not reversed. Nobody decides about accesses to plain memory (`cell`), so they
//! make no races, but they [tell](plain) whether a race is worth reversing. What creates a task, ends one or waits for that belongs to the
//! decision that it comes with.
//!
//! Whoever starts from sets that lead up to a failure, but do not have it, may not come to it again: the orderings on the way there
//! are not new any more. So what was learnt in a search that failed is not [kept](Strategy::lessons) for the next one.

mod guide;
mod lessons;
mod lookback;
mod plain;
mod sets;
mod skipped;
mod statement;

pub(crate) use self::guide::Guide;
pub use self::lessons::{Lessons, Noted};
use self::skipped::Skipped;
pub use self::statement::Statement;
use crate::order::events::Events;
use crate::outcome::Outcome;
use crate::search::Learning;
use crate::strategy::dpor::Dpor;
use crate::strategy::random::Random;
use crate::strategy::{Claim, Decision, Next, Run, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// Which alternatives are run where a race is to be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backtrack {
    /// One that leads to the reversal, if that is known; else all.
    Dpor,
    /// All.
    Baseline,
    /// All with which an execution has at most so many preemptions up to there.
    Preemption(u32),
}

/// Only what was not seen before.
#[derive(Debug)]
pub struct Hapset {
    guided: Dpor,
    /// Executions to learn from before the search.
    learn: u64,
    random: Random,
    /// Leaves nothing out, once the guided search is done.
    rest: Option<Dpor>,
    phase: Phase,
    /// Of executions that are not the guided search's.
    events: Events,
    /// Some execution has failed.
    failed: bool,
}

/// Who decides in the execution that is being run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Learning,
    Guided,
    /// What the guided search passed by, and what comes of it.
    Rarest,
    /// Everything.
    Rest,
}

impl Default for Hapset {
    fn default() -> Self {
        Self::new()
    }
}

impl Hapset {
    /// Over the reduction of Flanagan and Godefroid.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Backtrack::Dpor)
    }

    /// Over another way to say which alternatives are run.
    #[must_use]
    pub fn over(backtrack: Backtrack) -> Self {
        Self {
            guided: Dpor::guided(Box::new(Guide::new(backtrack)), Vec::new()),
            learn: 0,
            random: Random::new(0),
            rest: None,
            phase: Phase::Learning,
            events: Events::default(),
            failed: false,
        }
    }

    /// Over preemption bounding, with one preemption more each time until that makes no difference.
    #[must_use]
    pub fn over_few_preemptions() -> Self {
        let mut hapset = Self::over(Backtrack::Preemption(0));
        hapset.guide_mut().later = Some(Skipped::default());
        hapset
    }

    /// Learns from so many random walks first.
    #[must_use]
    pub fn learn(self, executions: u64, seed: u64) -> Self {
        Self { learn: executions, random: Random::new(seed), ..self }
    }

    /// When nothing new is left, goes on with what was passed by, the rarest orderings first, and in turn with a search that leaves
    /// nothing out, until that is done: then everything was covered.
    #[must_use]
    pub fn then_the_rest(mut self) -> Self {
        self.rest = Some(Dpor::optimal());
        self.guide_mut().rarest = Some(Skipped::default());
        self
    }

    /// Learns, and takes everything to be new all the same: for tests of whether anything else is left out, and of what it costs.
    #[doc(hidden)]
    #[must_use]
    pub fn heedless(mut self) -> Self {
        self.guide_mut().heedless = true;
        self
    }

    fn guide(&self) -> &Guide {
        self.guided.guide().expect("raddle bug: the guided search has lost its guide")
    }

    fn guide_mut(&mut self) -> &mut Guide {
        self.guided.guide_mut().expect("raddle bug: the guided search has lost its guide")
    }

    /// How many alternatives were passed by because their ordering had been seen.
    #[must_use]
    pub fn passed_by(&self) -> u64 {
        self.guide().passed_by
    }

    /// How many orderings are known.
    #[must_use]
    pub fn orderings(&self) -> u64 {
        self.guide().sets().len()
    }

    /// Begins another guided search with the same sets.
    fn start_over(&mut self, backtrack: Backtrack, script: Vec<Choice>) {
        let mut guide =
            std::mem::take(&mut self.guided.guide).expect("raddle bug: the guided search has lost its guide");
        guide.backtrack = backtrack;
        guide.start_over();
        self.guided = Dpor::guided(guide, script);
    }

    /// Goes on with the guided search; when that is done, with what would have been a preemption too many.
    fn begin_guided(&mut self, prefix: &mut Vec<Choice>) -> Option<Next> {
        loop {
            if let run @ Next::Run { .. } = self.guided.begin(prefix) {
                return Some(run);
            }
            let (bound, way) = self.guide_mut().later.as_mut()?.take()?;
            self.start_over(Backtrack::Preemption(bound + 1), way);
        }
    }

    /// Takes turns between what was passed by and everything.
    fn begin_rest(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.phase != Phase::Rarest {
            self.phase = Phase::Rarest;
            loop {
                if let run @ Next::Run { .. } = self.guided.begin(prefix) {
                    return run;
                }
                let Some((_, way)) = self.guide_mut().rarest.as_mut().and_then(Skipped::take) else { break };
                let backtrack = self.guide().backtrack;
                self.start_over(backtrack, way);
            }
        }
        self.phase = Phase::Rest;
        self.rest.as_mut().map_or(Next::Done(Claim::Selective), |rest| rest.begin(prefix))
    }

    /// Learns from an execution that is not the guided search's.
    fn learn_from(&mut self, run: &Run<'_>) {
        if matches!(run.outcome, Some(Outcome::Completed)) {
            self.events.clear();
            self.events.follow(run.trace);
            let guide = self.guided.guide_mut().expect("raddle bug: the guided search has lost its guide");
            guide.learn_apart(run.trace, &self.events);
        }
    }
}

impl Strategy for Hapset {
    fn name(&self) -> &'static str {
        "hapset"
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.phase == Phase::Learning {
            if self.learn > 0 {
                self.learn -= 1;
                return self.random.begin(prefix);
            }
            self.phase = Phase::Guided;
        }
        if self.phase == Phase::Guided
            && let Some(run) = self.begin_guided(prefix)
        {
            return run;
        }
        if self.rest.is_none() {
            return Next::Done(Claim::Selective);
        }
        self.begin_rest(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        match (self.phase, &mut self.rest) {
            (Phase::Learning, _) => self.random.choose(at, so_far),
            (Phase::Rest, Some(rest)) => rest.choose(at, so_far),
            _ => self.guided.choose(at, so_far),
        }
    }

    fn end(&mut self, run: &Run<'_>) {
        self.failed |= matches!(run.outcome, Some(Outcome::Failed(_)));
        match (self.phase, &mut self.rest) {
            (Phase::Learning, _) => self.learn_from(run),
            (Phase::Rest, Some(rest)) => {
                rest.end(run);
                self.learn_from(run);
            }
            _ => self.guided.end(run),
        }
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn wants_pending(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn revisits(&self) -> bool {
        true
    }

    fn reverses_races(&self) -> bool {
        true
    }

    fn guarantee(&self, _: u64) -> Option<String> {
        let passed = self.passed_by();
        let plural = if passed == 1 { "alternative" } else { "alternatives" };
        Some(format!("{passed} {plural} passed by, since the ordering had been seen"))
    }

    fn account(&self) -> Vec<String> {
        let guide = self.guide();
        let (all, new) = (guide.sets().len(), guide.sets().learnt());
        let plural = if all == 1 { "ordering" } else { "orderings" };
        let pace = if guide.convergence.is_long() {
            let (first, latest) = (guide.convergence.first, guide.convergence.latest);
            format!(" ({first} in the first hundred executions, {latest} in the latest)")
        } else {
            String::new()
        };
        vec![format!("{all} {plural} of statements known, {new} of them learnt now{pace}")]
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.guide().learning())
    }

    fn lessons(&self) -> Option<Lessons> {
        Some(if self.failed { Lessons::default() } else { self.guide().lessons() })
    }

    fn study(&mut self, lessons: &Lessons) {
        self.guide_mut().study(lessons);
    }
}

#[cfg(test)]
mod tests;
