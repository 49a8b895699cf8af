//! What the reduction asks: which races are worth reversing.

use super::lookback::Lookback;
use super::plain::Plain;
use super::sets::Sets;
use super::skipped::Skipped;
use super::statement::{StatementId, Statements};
use super::{Backtrack, Lessons, Noted};
use crate::ids::{StepIx, TaskId};
use crate::order::events::{Events, Label};
use crate::search::Learning;
use crate::system::{Choice, Pending};
use crate::trace::{Class, Context, Note, Trace};

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
    pub(super) convergence: Convergence,
    /// By node of the current path: what was passed by there.
    passed: Vec<Vec<(TaskId, Label)>>,
    /// How many alternatives were passed by.
    pub(super) passed_by: u64,
    /// The ways to some of those, if they are to be run later.
    pub(super) rarest: Option<Skipped>,
    /// The ways to what was left out because of the bound on preemptions, if that is to be run later.
    pub(crate) later: Option<Skipped>,
    /// Takes everything to be new.
    pub(super) heedless: bool,
}

/// How fast orderings are still being learnt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Convergence {
    /// Executions that were learnt from.
    runs: u64,
    /// Orderings learnt in the first hundred of them, in the latest whole hundred, and since.
    pub(super) first: u64,
    pub(super) latest: u64,
    since: u64,
}

impl Convergence {
    fn add(&mut self, new: u64) {
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
    fn latest(&self) -> (u64, u64) {
        if self.runs < 100 { (self.first, self.runs) } else { (self.latest, 100) }
    }

    /// Whether there was more than one hundred.
    pub(super) fn is_long(&self) -> bool {
        self.runs >= 200
    }
}

impl Guide {
    pub(super) fn new(backtrack: Backtrack) -> Self {
        Self {
            backtrack,
            statements: Statements::default(),
            sets: Sets::default(),
            lookback: Lookback::default(),
            of_events: Vec::new(),
            plain: Plain::default(),
            pending: None,
            convergence: Convergence::default(),
            passed: Vec::new(),
            passed_by: 0,
            rarest: None,
            later: None,
            heedless: false,
        }
    }

    /// A search with nodes of its own begins.
    pub(super) fn start_over(&mut self) {
        self.of_events.clear();
        self.passed.clear();
    }

    /// How much is known, and how fast more is learnt.
    pub(super) fn learning(&self) -> Learning {
        let (new, executions) = self.convergence.latest();
        Learning { known: self.sets.len(), new, executions }
    }

    pub(super) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Looks at an execution, whose first `kept` events are those of the one before, and learns from it if it was a good one.
    pub(crate) fn look(&mut self, trace: &Trace, events: &Events, kept: usize, good: bool) {
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
        self.convergence.add(self.sets.len() - known);
    }

    /// What was passed by beyond the first `nodes` nodes belongs to paths that are done with.
    pub(crate) fn keep_nodes(&mut self, nodes: usize) {
        self.passed.truncate(nodes);
    }

    /// What comes next is about what a task was about to do.
    pub(crate) fn suppose(&mut self, pending: &Pending) {
        let Pending { action, context, .. } = pending;
        self.pending = Some(self.statements.of(action.site, action.op, *context));
    }

    fn statement(&self, event: usize) -> StatementId {
        let real = self.of_events.get(event).copied();
        real.or(self.pending).expect("raddle bug: an event that neither happened nor was to")
    }

    /// Whether an order in which `second` comes right before `first` would be a new one, as far as was known at event `at`.
    pub(crate) fn is_new(&self, first: usize, second: usize, at: usize) -> bool {
        !self.sets.has(self.statement(first), self.statement(second), at)
            || self.plain.is_new(&self.sets, first, second, at)
            || self.heedless
    }

    /// An alternative at a node is passed by, since `second` was seen to come right before `first`.
    pub(crate) fn pass_by(
        &mut self,
        node: usize,
        option: (TaskId, Label),
        way: impl FnOnce() -> Vec<Choice>,
        second: usize,
    ) {
        if self.passed.len() <= node {
            self.passed.resize_with(node + 1, Vec::new);
        }
        if self.passed[node].contains(&option) {
            return;
        }
        self.passed[node].push(option);
        self.passed_by += 1;
        let times = self.sets.times(self.statement(node), self.statement(second));
        if let Some(rarest) = &mut self.rarest {
            rarest.keep(times, way());
        }
    }

    /// What was passed by at a node is to be run after all.
    pub(crate) fn take_back(&mut self, node: usize, option: (TaskId, Label)) {
        if let Some(passed) = self.passed.get_mut(node)
            && let Some(at) = passed.iter().position(|it| *it == option)
        {
            passed.swap_remove(at);
            self.passed_by -= 1;
        }
    }

    /// Takes up what earlier searches have learnt.
    pub(super) fn study(&mut self, lessons: &Lessons) {
        for (of, before, times) in lessons.pairs() {
            let (of, before) = (self.statements.known(of.clone()), self.statements.known(before.clone()));
            self.sets.recall(of, before, times);
        }
    }

    /// What is known of the statements that were met.
    pub(super) fn lessons(&self) -> Lessons {
        let met: Vec<bool> = self.statements.iter().map(|(_, met)| met).collect();
        let mut places = Vec::with_capacity(met.len());
        let mut statements = Vec::new();
        for (statement, met) in self.statements.iter() {
            places.push(u32::try_from(statements.len()).expect("raddle bug: more than 2^32 statements"));
            if met {
                statements.push(Noted { statement: statement.clone(), missed: 0 });
            }
        }
        let known = self.sets.iter().filter(|(of, before, _)| met[of.index()] && met[before.index()]);
        let orderings = known.map(|(of, before, times)| (places[of.index()], places[before.index()], times)).collect();
        Lessons { statements, orderings }
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
