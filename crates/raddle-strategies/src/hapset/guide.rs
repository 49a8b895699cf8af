//! What the reduction asks: which races are worth reversing.

use serde::{Deserialize, Serialize};

use super::lookback::Lookback;
use super::plain::Plain;
use super::pool::{Pool, State};
use super::sets::Sets;
use super::skipped::hash;
use super::statement::{StatementId, Statements};
use crate::reduction::{Backtrack, RaceGuide};
use raddle_engine::ids::StepIx;
use raddle_engine::order::events::Events;
use raddle_engine::system::{Choice, Pending};
use raddle_engine::trace::{Class, Context, Note, Trace};

/// Learns the sets, and goes by them.
#[derive(Debug)]
pub(crate) struct Guide {
    pub(crate) backtrack: Backtrack,
    statements: Statements,
    sets: Sets,
    lookback: Lookback,
    /// Of each event of the execution that was looked at last.
    of_events: Vec<StatementId>,
    plain: Plain,
    /// Of what a task was about to do at its end.
    pending: Option<StatementId>,
    /// New orderings in each execution since the latest commit.
    pace: Vec<u64>,
    /// How many alternatives were passed by since then, without those that were taken back.
    passed_by: i64,
    /// The ways to some of those are kept.
    pub(super) keeps_rarest: bool,
    /// The ways to what was left out because of the bound on preemptions are kept.
    pub(super) keeps_later: bool,
    /// Takes everything to be new.
    pub(super) heedless: bool,
    /// Looks at nothing, too.
    pub(super) blind: bool,
    pool: Pool,
    /// By statement: which it is in the pool, and whether it is known there to have been met.
    in_pool: Vec<(StatementId, bool)>,
    /// How much of the pool's log is known here.
    caught_up: usize,
}

/// How fast orderings are still being learnt.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Convergence {
    /// Executions that were learnt from.
    runs: u64,
    /// Orderings learnt in the first hundred of them, in the latest whole hundred, and since.
    pub(super) first: u64,
    pub(super) latest: u64,
    since: u64,
}

impl Convergence {
    pub(super) fn add(&mut self, new: u64) {
        self.runs += 1;
        self.since += new;
        if self.runs <= 100 {
            self.first += new;
        }
        if self.runs.is_multiple_of(100) {
            self.latest = std::mem::take(&mut self.since);
        }
    }

    /// How many orderings were learnt in the latest executions, and how many those are.
    pub(super) fn latest(&self) -> (u64, u64) {
        if self.runs < 100 { (self.first, self.runs) } else { (self.latest, 100) }
    }

    /// Whether there was more than one hundred.
    pub(super) fn is_long(&self) -> bool {
        self.runs >= 200
    }
}

impl Guide {
    /// For one more worker.
    pub(super) fn new(pool: Pool) -> Self {
        let mut guide = Self {
            backtrack: pool.lock().backtrack,
            statements: Statements::default(),
            sets: Sets::default(),
            lookback: Lookback::default(),
            of_events: Vec::new(),
            plain: Plain::default(),
            pending: None,
            pace: Vec::new(),
            passed_by: 0,
            keeps_rarest: false,
            keeps_later: false,
            heedless: false,
            blind: false,
            pool: pool.clone(),
            in_pool: Vec::new(),
            caught_up: 0,
        };
        guide.take_all(&pool.lock());
        guide
    }

    /// A worker like this one.
    pub(super) fn copy(&self) -> Self {
        let Self { keeps_rarest, keeps_later, heedless, blind, .. } = *self;
        Self { keeps_rarest, keeps_later, heedless, blind, ..Self::new(self.pool.clone()) }
    }

    /// Takes up all that the pool knows.
    pub(super) fn take_all(&mut self, pool: &State) {
        for (of, before, times) in pool.sets.iter() {
            self.take_in(pool, of, before, times);
        }
        self.caught_up += pool.log(self.caught_up).len();
    }

    /// Takes up an ordering that the pool knows.
    fn take_in(&mut self, pool: &State, of: StatementId, before: StatementId, times: u32) {
        let mut own = |id| self.statements.known(pool.statements.get(id).0.clone());
        let (of, before) = (own(of), own(before));
        self.sets.recall(of, before, times);
    }

    /// Takes up what other workers have learnt meanwhile.
    fn catch_up(&mut self) {
        if self.pool.has_more_than(self.caught_up) {
            let pool = self.pool.clone();
            let state = pool.lock();
            for &(of, before) in state.log(self.caught_up) {
                self.take_in(&state, of, before, 1);
                self.caught_up += 1;
            }
        }
    }

    /// From here on, what was done counts.
    pub(super) fn commit(&mut self) {
        let pool = self.pool.clone();
        let mut state = pool.lock();
        for at in 0..self.statements.len() {
            let (statement, met) = self.statements.get(StatementId::next_of(at));
            if self.in_pool.len() <= at {
                self.in_pool.push((state.statements.known(statement.clone()), false));
            }
            let (id, told) = &mut self.in_pool[at];
            if met && !*told {
                state.statements.meet(*id);
                *told = true;
            }
        }
        let Self { sets, in_pool, .. } = self;
        let theirs = |own: StatementId| in_pool[own.index()].0;
        sets.tell(|of, before, times| state.learn(theirs(of), theirs(before), times));
        self.pace.drain(..).for_each(|new| state.convergence.add(new));
        state.passed_by = state.passed_by.saturating_add_signed(std::mem::take(&mut self.passed_by));
        pool.publish(&state);
    }

    /// What was done since the latest commit counts for nothing.
    pub(super) fn lose(&mut self) {
        self.sets.forget_untold();
        self.pace.clear();
        self.passed_by = 0;
    }

    pub(super) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Learns from a good execution of somebody else's.
    pub(super) fn learn_apart(&mut self, trace: &Trace, events: &Events) {
        let own = (std::mem::take(&mut self.of_events), std::mem::take(&mut self.plain));
        self.look(trace, events, 0, true);
        (self.of_events, self.plain) = own;
    }

    fn learn(&mut self, events: &Events) {
        let known = self.sets.len();
        let Self { lookback, sets, of_events, plain, .. } = self;
        lookback.clear();
        for (event, &statement) in of_events.iter().enumerate() {
            lookback.take(events, event, statement, |before| sets.learn(statement, before, event));
        }
        plain.learn(lookback, sets);
        self.pace.push(self.sets.len() - known);
    }

    fn statement(&self, event: usize) -> StatementId {
        let real = self.of_events.get(event).copied();
        real.or(self.pending).expect("raddle bug: an event that neither happened nor was to")
    }

    /// How many alternatives were passed by since the latest commit.
    pub(super) fn passed_by(&self) -> i64 {
        self.passed_by
    }
}

impl RaceGuide for Guide {
    fn backtrack(&self) -> Backtrack {
        self.backtrack
    }

    fn look(&mut self, trace: &Trace, events: &Events, kept: usize, good: bool) {
        if self.blind {
            return;
        }
        self.catch_up();
        self.sets.begin();
        self.of_events.truncate(kept);
        let known = match self.of_events.len() {
            0 => 0,
            first if first < events.len() => events.step(first).index(),
            _ => trace.len(),
        };
        self.plain.truncate(known);
        let mut notes = trace.notes_from(StepIx::next_of(known));
        for (at, step) in trace.steps().iter().enumerate().skip(known) {
            let decided = step.alternatives > 0;
            if !decided && step.op.class != Class::Cell {
                continue;
            }
            let statement = self.statements.of(step.site, step.op, context(&mut notes, at));
            if decided {
                self.of_events.push(statement);
            } else {
                self.plain.take(at, step, statement, self.of_events.len());
            }
        }
        self.plain.attribute(trace);
        if good {
            self.learn(events);
        }
    }

    fn suppose(&mut self, pending: &Pending) {
        if self.blind {
            return;
        }
        let Pending { action, context, .. } = pending;
        self.pending = Some(self.statements.of(action.site, action.op, *context));
    }

    fn is_new(&self, first: usize, second: usize, at: usize) -> bool {
        self.blind
            || !self.sets.has(self.statement(first), self.statement(second), at)
            || self.plain.is_new(&self.sets, first, second, at)
            || self.heedless
    }

    fn skip(&mut self, first: usize, second: usize, above: bool, way: impl FnOnce() -> Vec<Choice>) {
        if !above && !self.keeps_rarest {
            self.passed_by += 1;
            return;
        }
        let times = self.sets.times(self.statement(first), self.statement(second));
        let way = way();
        let mut state = self.pool.lock();
        if above && !state.passed_above.insert(hash(&way)) {
            return;
        }
        self.passed_by += 1;
        if self.keeps_rarest
            && let Some(rarest) = &mut state.rarest
        {
            rarest.keep(times, way);
        }
    }

    fn take_back(&mut self, above: bool, way: impl FnOnce() -> Vec<Choice>) {
        let counted = !above || self.pool.lock().passed_above.remove(&hash(&way()));
        self.passed_by -= i64::from(counted);
    }

    fn share_skipped(&mut self, way: &[Choice]) {
        self.pool.lock().passed_above.insert(hash(way));
    }

    fn put_off(&mut self, bound: u32, way: impl FnOnce() -> Vec<Choice>) {
        if self.keeps_later
            && let Some(later) = &mut self.pool.lock().later
        {
            later.keep(bound, way());
        }
    }
}

/// The calls that led to a step; notes of earlier ones are done with.
fn context(notes: &mut &[(StepIx, Note)], at: usize) -> Option<&'static Context> {
    let mut context = None;
    while let Some(((of, note), rest)) = notes.split_first().filter(|((of, _), _)| of.index() <= at) {
        if let (true, Note::Context(calls)) = (of.index() == at, note) {
            context = Some(*calls);
        }
        *notes = rest;
    }
    context
}

#[cfg(test)]
mod tests {
    use super::Convergence;

    #[test]
    fn the_pace_is_that_of_the_latest_hundred() {
        let mut convergence = Convergence::default();
        assert_eq!(convergence.latest(), (0, 0));
        (0..30).for_each(|_| convergence.add(2));
        assert_eq!(convergence.latest(), (60, 30));
        (30..100).for_each(|_| convergence.add(1));
        assert_eq!(convergence.latest(), (130, 100));
        (100..199).for_each(|_| convergence.add(0));
        assert_eq!(convergence.latest(), (130, 100), "the second hundred is not whole");
        convergence.add(3);
        assert_eq!(convergence.latest(), (3, 100));
    }
}
