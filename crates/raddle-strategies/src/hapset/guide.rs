//! Tells the reduction which races are worth reversing.

use raddle_engine::ids::StepIx;
use raddle_engine::order::events::Events;
use raddle_engine::system::{Choice, Pending};
use raddle_engine::trace::{Class, Context, Note, Trace};
use serde::{Deserialize, Serialize};

use super::lookback::Lookback;
use super::plain::Plain;
use super::pool::{Pool, State};
use super::sets::Sets;
use super::skipped_paths::hash;
use super::statement::{StatementId, Statements};
use crate::reduction::{Backtrack, RaceGuide};

/// Learns the sets, and decides by them.
#[derive(Debug)]
pub(crate) struct Guide {
    pub(crate) backtrack: Backtrack,
    statements: Statements,
    sets: Sets,
    lookback: Lookback,
    /// The statement of each event of the latest execution.
    of_events: Vec<StatementId>,
    plain: Plain,
    /// The statement of the pending step that is being considered: a task was about to take it when the execution ended.
    pending: Option<StatementId>,
    /// The number of new orderings in each execution since the latest commit.
    pace: Vec<u64>,
    /// Alternatives skipped since the latest commit, minus those that were unskipped.
    skipped: i64,
    /// Paths to skipped alternatives are stored in the pool.
    pub(super) records_skipped: bool,
    /// Paths to alternatives that exceed the bound on preemptions are stored in the pool.
    pub(super) records_over_bound: bool,
    /// Treats every reversal as new.
    pub(super) reverse_all: bool,
    /// Does not learn, either.
    pub(super) without_learning: bool,
    pool: Pool,
    /// By statement: its id in the pool, and whether the pool knows that this search has seen it.
    in_pool: Vec<(StatementId, bool)>,
    /// How many entries of the pool's log this worker has read.
    caught_up: usize,
}

/// How fast the search still learns orderings.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Convergence {
    /// Executions that were learned from.
    runs: u64,
    /// Orderings learned in the first hundred executions, in the latest complete hundred, and since then.
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

    /// How many orderings were learned in the latest executions, and the number of these executions.
    pub(super) fn latest(&self) -> (u64, u64) {
        if self.runs < 100 { (self.first, self.runs) } else { (self.latest, 100) }
    }

    /// True after at least two complete hundreds of executions.
    pub(super) fn is_long(&self) -> bool {
        self.runs >= 200
    }
}

impl Guide {
    /// Creates the guide of one more worker.
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
            skipped: 0,
            records_skipped: false,
            records_over_bound: false,
            reverse_all: false,
            without_learning: false,
            pool: pool.clone(),
            in_pool: Vec::new(),
            caught_up: 0,
        };
        guide.import_all(&pool.lock());
        guide
    }

    /// Creates a guide with the same settings.
    pub(super) fn copy(&self) -> Self {
        let Self { records_skipped, records_over_bound, reverse_all, without_learning, .. } = *self;
        Self { records_skipped, records_over_bound, reverse_all, without_learning, ..Self::new(self.pool.clone()) }
    }

    /// Imports all orderings of the pool.
    pub(super) fn import_all(&mut self, pool: &State) {
        for (of, before, times) in pool.sets.iter() {
            self.import_one(pool, of, before, times);
        }
        self.caught_up += pool.log(self.caught_up).len();
    }

    /// Imports one ordering of the pool.
    fn import_one(&mut self, pool: &State, of: StatementId, before: StatementId, times: u32) {
        let mut own = |id| self.statements.intern(pool.statements.get(id).0.clone());
        let (of, before) = (own(of), own(before));
        self.sets.import(of, before, times);
    }

    /// Imports the orderings that other workers have committed meanwhile.
    fn catch_up(&mut self) {
        if self.pool.has_more_than(self.caught_up) {
            let pool = self.pool.clone();
            let state = pool.lock();
            for &(of, before) in state.log(self.caught_up) {
                self.import_one(&state, of, before, 1);
                self.caught_up += 1;
            }
        }
    }

    /// Publishes in the pool what was learned and skipped since the latest commit.
    pub(super) fn commit(&mut self) {
        let pool = self.pool.clone();
        let mut state = pool.lock();
        for at in 0..self.statements.len() {
            let (statement, seen) = self.statements.get(StatementId::next_of(at));
            if self.in_pool.len() <= at {
                self.in_pool.push((state.statements.intern(statement.clone()), false));
            }
            let (id, published) = &mut self.in_pool[at];
            if seen && !*published {
                state.statements.mark_seen(*id);
                *published = true;
            }
        }
        let Self { sets, in_pool, .. } = self;
        let theirs = |own: StatementId| in_pool[own.index()].0;
        sets.publish(|of, before, times| state.learn(theirs(of), theirs(before), times));
        self.pace.drain(..).for_each(|new| state.convergence.add(new));
        state.skipped = state.skipped.saturating_add_signed(std::mem::take(&mut self.skipped));
        pool.publish(&state);
    }

    /// Discards what was learned and skipped since the latest commit.
    pub(super) fn discard_uncommitted(&mut self) {
        self.sets.discard_unpublished();
        self.pace.clear();
        self.skipped = 0;
    }

    pub(super) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Learns from a good execution that another search has run.
    pub(super) fn learn_from_other(&mut self, trace: &Trace, events: &Events) {
        let own = (std::mem::take(&mut self.of_events), std::mem::take(&mut self.plain));
        self.observe(trace, events, 0, true);
        (self.of_events, self.plain) = own;
    }

    fn learn(&mut self, events: &Events) {
        let known = self.sets.len();
        let Self { lookback, sets, of_events, plain, .. } = self;
        lookback.clear();
        for (event, &statement) in of_events.iter().enumerate() {
            lookback.add(events, event, statement, |before| sets.learn(statement, before, event));
        }
        plain.learn(lookback, sets);
        self.pace.push(self.sets.len() - known);
    }

    fn statement(&self, event: usize) -> StatementId {
        let real = self.of_events.get(event).copied();
        real.or(self.pending).expect("raddle bug: an event that neither happened nor was to")
    }

    /// How many alternatives were skipped since the latest commit.
    pub(super) fn skipped(&self) -> i64 {
        self.skipped
    }
}

impl RaceGuide for Guide {
    fn backtrack(&self) -> Backtrack {
        self.backtrack
    }

    fn observe(&mut self, trace: &Trace, events: &Events, unchanged: usize, good: bool) {
        if self.without_learning {
            return;
        }
        self.catch_up();
        self.sets.begin();
        self.of_events.truncate(unchanged);
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
                self.plain.add(at, step, statement, self.of_events.len());
            }
        }
        self.plain.attribute(trace);
        if good {
            self.learn(events);
        }
    }

    fn set_pending(&mut self, pending: &Pending) {
        if self.without_learning {
            return;
        }
        let Pending { action, context, .. } = pending;
        self.pending = Some(self.statements.of(action.site, action.op, *context));
    }

    fn is_new(&self, first: usize, second: usize, at: usize) -> bool {
        self.without_learning
            || !self.sets.has(self.statement(first), self.statement(second), at)
            || self.plain.is_new(&self.sets, first, second, at)
            || self.reverse_all
    }

    fn skip(&mut self, first: usize, second: usize, above: bool, path: impl FnOnce() -> Vec<Choice>) {
        if !above && !self.records_skipped {
            self.skipped += 1;
            return;
        }
        let times = self.sets.times(self.statement(first), self.statement(second));
        let path = path();
        let mut state = self.pool.lock();
        if above && !state.skipped_above.insert(hash(&path)) {
            return;
        }
        self.skipped += 1;
        if self.records_skipped
            && let Some(rarest) = &mut state.rarest
        {
            rarest.add(times, path);
        }
    }

    fn unskip(&mut self, above: bool, path: impl FnOnce() -> Vec<Choice>) {
        let counted = !above || self.pool.lock().skipped_above.remove(&hash(&path()));
        self.skipped -= i64::from(counted);
    }

    fn share_skipped(&mut self, path: &[Choice]) {
        self.pool.lock().skipped_above.insert(hash(path));
    }

    fn defer(&mut self, bound: u32, path: impl FnOnce() -> Vec<Choice>) {
        if self.records_over_bound
            && let Some(over_bound) = &mut self.pool.lock().over_bound
        {
            over_bound.add(bound, path());
        }
    }
}

/// Returns the calls that led to step `at`, and drops the notes up to it.
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
    fn the_pace_is_computed_from_the_latest_hundred_executions() {
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
