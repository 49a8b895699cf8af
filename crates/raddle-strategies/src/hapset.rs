//! Search guided by learned ordering constraints (Wang, Said, Gupta, ICSE 2011).
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
//! What is new is run in turn, most of it nearest to the root first and some of it deepest first: see `turns.rs`. One worker does all of it.
//!
//! Where we differ: statements are told apart by column and operation as well. What was learnt in an execution counts for its own
//! races from where it was learnt on, as in the paper, but only if it turns out to be a good one. A race that something else orders
//! already (a task's creation, or its end where another waits for that) is not reversed. Nobody decides about accesses to plain memory (`cell`), so they
//! make no races, but they tell whether a race is worth reversing. What creates a task, ends one or waits for that belongs to the
//! decision that it comes with.
//!
//! Whoever starts from sets that lead up to a failure, but do not have it, may not come to it again: the orderings on the way there
//! are not new any more. So what was learned in a search that failed is not [kept](Memory) for the next one.

mod course;
mod guide;
mod lessons;
mod lookback;
mod plain;
mod pool;
mod sets;
mod share;
mod skipped;
mod statement;
mod turns;

use self::course::Stretch;
pub(crate) use self::guide::Guide;
pub use self::lessons::{Lessons, Noted};
use self::pool::Pool;
use self::skipped::Skipped;
pub use self::statement::Statement;
use self::turns::Turns;
pub use crate::reduction::Backtrack;
use crate::reduction::{Dpor, Subtree};
use crate::samplers::random::Random;
use raddle_engine::facts::Fact;
use raddle_engine::order::events::Events;
use raddle_engine::outcome::Outcome;
use raddle_engine::search::Learning;
use raddle_engine::strategy::{
    After, Capabilities, Claim, Decision, Goal, Memory, Needs, Next, Run, Sharing, Start, Strategy, Summarize,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Only what was not seen before.
#[derive(Debug)]
pub struct Hapset {
    guided: Dpor<Guide>,
    /// The subtrees of the guided search.
    turns: Turns,
    /// Executions to learn from before the search, in all and those that are left; and their seed.
    learn: u64,
    walks: u64,
    seed: u64,
    random: Random,
    /// Leaves nothing out, once the guided search is done.
    rest: Option<Dpor>,
    phase: Phase,
    /// The guided search is at something that was passed by.
    rarest_begun: bool,
    /// What is nearest to the root does not have its turn.
    deepest_first: bool,
    /// Of executions that are not the guided search's.
    events: Events,
    pool: Pool,
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
    /// Nobody: nothing is left.
    Over,
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

    /// Over preemption bounding, with one preemption more each time until that makes no difference.
    #[must_use]
    pub fn over_few_preemptions() -> Self {
        let mut hapset = Self::over(Backtrack::Preemption(0));
        hapset.pool.lock().later = Some(Skipped::default());
        hapset.guide_mut().keeps_later = true;
        hapset
    }

    /// Learns from so many random walks first.
    #[must_use]
    pub fn learn(mut self, executions: u64, seed: u64) -> Self {
        self.pool.lock().walks = executions;
        (self.learn, self.seed) = (executions, seed);
        self
    }

    /// When nothing new is left, goes on with what was passed by, the rarest orderings first, and in turn with a search that leaves
    /// nothing out, until that is done: then everything was covered.
    #[must_use]
    pub fn then_the_rest(mut self) -> Self {
        self.rest = Some(Dpor::optimal());
        let mut pool = self.pool.lock();
        pool.then_the_rest = true;
        pool.rarest = Some(Skipped::default());
        drop(pool);
        self.guide_mut().keeps_rarest = true;
        self
    }

    /// Learns, and takes everything to be new all the same: for tests of whether anything else is left out, and of what it costs.
    #[doc(hidden)]
    #[must_use]
    pub fn heedless(mut self) -> Self {
        self.guide_mut().heedless = true;
        self
    }

    /// Runs what [`heedless`](Self::heedless) runs, and learns nothing: what that costs is the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn blind(self) -> Self {
        let mut hapset = self.heedless();
        hapset.guide_mut().blind = true;
        hapset
    }

    /// Runs what is new in the order of other reductions, for comparison with them.
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

    /// How many alternatives were passed by because their ordering had been seen.
    #[must_use]
    pub fn passed_by(&self) -> u64 {
        self.pool.lock().passed_by.saturating_add_signed(self.guide().passed_by())
    }

    /// How many orderings are known.
    #[must_use]
    pub fn orderings(&self) -> u64 {
        self.guide().sets().len().max(self.pool.lock().sets.len())
    }

    /// Takes turns between what was passed by and everything.
    fn begin_rest(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.phase != Phase::Rarest {
            self.phase = Phase::Rarest;
            loop {
                if self.rarest_begun
                    && let run @ Next::Run { .. } = self.guided.begin(prefix)
                {
                    return run;
                }
                let next = self.pool.lock().take_rarest();
                self.rarest_begun = next.is_some();
                let Some(next) = next else { break };
                self.guided.place_subtree(next);
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

impl Hapset {
    /// Runs the next subtree of the guided search; when none is left, goes on to what comes after it.
    fn begin_guided(&mut self, prefix: &mut Vec<Choice>) -> Next {
        while self.phase == Phase::Guided {
            if self.turns.is_running() {
                if let run @ Next::Run(_) = self.guided.begin(prefix) {
                    return run;
                }
                self.turns.give_turn_away(&mut self.guided);
            }
            match self.turns.take() {
                Some(subtree) => self.guided.place_subtree(subtree),
                None => self.begin_next_stretch(),
            }
        }
        self.begin_rest(prefix)
    }

    /// The guided search has come to its end.
    fn begin_next_stretch(&mut self) {
        self.commit();
        let (stretch, backtrack) = {
            let mut pool = self.pool.lock();
            (pool.begin_next_stretch(), pool.backtrack)
        };
        self.guide_mut().backtrack = backtrack;
        match stretch {
            Stretch::Guided(way) => self.turns.begin(Subtree::along(way)),
            Stretch::Rest => {
                self.phase = Phase::Rest;
                self.rest = Some(Dpor::optimal());
            }
            Stretch::Nothing => self.phase = Phase::Over,
        }
    }

    /// From here on, what was learned counts.
    fn commit(&mut self) {
        self.guide_mut().commit();
        self.pool.lock().walks = self.walks;
    }

    /// Whether the subtree that is being run gives its turn away after each execution.
    fn takes_turns(&self) -> bool {
        self.phase == Phase::Guided && !self.deepest_first
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
        match (self.phase, &mut self.rest) {
            (Phase::Learning, _) => self.learn_from(run),
            (Phase::Rest, Some(rest)) => {
                rest.end(run);
                self.learn_from(run);
            }
            _ => {
                self.guided.end(run);
            }
        }
        self.turns.count(run.trace.len());
        if self.takes_turns() {
            self.turns.give_turn_away(&mut self.guided);
        }
        After::Next
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

impl Summarize for Hapset {
    fn guarantee(&self, _: u64) -> Option<Fact> {
        Some(Fact::Skipped(self.passed_by()))
    }

    fn facts(&self) -> Vec<Fact> {
        let pool = self.pool.lock();
        if pool.failed {
            // It is not kept, either.
            return Vec::new();
        }
        let convergence = pool.convergence;
        let pace = convergence.is_long().then_some((convergence.first, convergence.latest));
        let mut facts = vec![Fact::Orderings { known: pool.sets.len(), new: pool.learnt(), pace }];
        if pool.lessons().has_no_calls() {
            facts.push(Fact::NoCalls);
        }
        facts
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.pool.lock().learning())
    }
}

impl Hapset {
    /// What was learned, for the next search of the same program.
    #[must_use]
    pub fn lessons(&self) -> Lessons {
        let pool = self.pool.lock();
        if pool.failed { Lessons::default() } else { pool.lessons() }
    }

    /// Takes up what earlier searches of the program have learned, which is [sound](Lessons::is_sound).
    pub fn study(&mut self, lessons: &Lessons) {
        let pool = self.pool.clone();
        let mut pool = pool.lock();
        pool.study(lessons);
        self.guide_mut().take_all(&pool);
    }
}

impl Memory for Hapset {
    fn save(&self, on_disk: Option<&str>) -> Result<Option<String>, String> {
        let latest = self.lessons();
        if latest.statements.is_empty() {
            return Ok(None);
        }
        let earlier = on_disk.map(Lessons::read).transpose()?.unwrap_or_default();
        serde_json::to_string(&earlier.followed_by(&latest)).map(Some).map_err(|error| error.to_string())
    }

    fn load(&mut self, saved: &str) -> Result<(), String> {
        self.study(&Lessons::read(saved)?);
        Ok(())
    }

    fn check(&self, saved: &str) -> Result<(), String> {
        Lessons::read(saved).map(|_| ())
    }
}

#[cfg(test)]
mod tests;
