//! Accesses to plain memory. They are no decision points, but their order says more than the order of the locks around them.
//!
//! Two conflicting accesses to plain memory are ordered by something else, or they are a data race, which is a failure in any order. So
//! they never are backtrack points. They help to decide whether a race is worth reversing. The accesses of a task between two of its
//! decisions belong to the first of these. Suppose that two events race and that accesses belonging to them conflict. Then the
//! reversal of the race is new if the reversed order of these accesses is new, even if the events themselves were seen in both orders.
//! This distinguishes critical sections that begin at the same source line and do different things.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::trace::{Class, Effect, Role, Step, Trace};

use super::lookback::Lookback;
use super::sets::Sets;
use super::statement::StatementId;

/// The plain accesses of the latest execution.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// In execution order.
    accesses: Vec<Access>,
    /// Pairs of an event and the index of an access that belongs to it. Accesses that belong to no event are missing.
    by_event: Vec<(usize, usize)>,
    /// By task: the event that its accesses belong to now. `None` before its first event, and after it was resumed by another task
    /// (a join, or an operation that waited): such accesses belong to no decision of their own task.
    latest: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    step: usize,
    /// How many events came before the access.
    events: usize,
    task: TaskId,
    object: ObjectId,
    effect: Effect,
    statement: StatementId,
}

impl Plain {
    /// Removes all accesses but those of the first `steps` steps.
    pub(super) fn truncate(&mut self, steps: usize) {
        let kept = self.accesses.partition_point(|access| access.step < steps);
        self.accesses.truncate(kept);
    }

    /// Adds the access of step `at`, after `events` events.
    pub(super) fn add(&mut self, at: usize, step: &Step, statement: StatementId, events: usize) {
        let (task, object, effect) = (step.task, step.access.object, step.access.effect);
        self.accesses.push(Access { step: at, events, task, object, effect, statement });
    }

    /// Determines which accesses belong to which event.
    pub(super) fn attribute(&mut self, trace: &Trace) {
        self.by_event.clear();
        self.latest.clear();
        if self.accesses.is_empty() {
            return;
        }
        let (mut event, mut access) = (0, 0);
        for (at, step) in trace.steps().iter().enumerate() {
            if self.latest.len() <= step.task.index() {
                self.latest.resize(step.task.index() + 1, None);
            }
            let latest = &mut self.latest[step.task.index()];
            if step.alternatives > 0 {
                *latest = Some(event);
                event += 1;
            } else if step.op.class == Class::Join || matches!(step.access.role, Role::Takes | Role::Alone) {
                *latest = None;
            }
            if self.accesses.get(access).is_some_and(|access| access.step == at) {
                self.by_event.extend(latest.map(|event| (event, access)));
                access += 1;
            }
        }
        self.by_event.sort_unstable();
    }

    /// Learns which accesses came immediately after which.
    pub(super) fn learn(&self, lookback: &mut Lookback, sets: &mut Sets) {
        for Access { events, task, object, effect, statement, .. } in &self.accesses {
            let at = events.saturating_sub(1);
            lookback.add_plain(*task, *object, *effect, *statement, |before| sets.learn(*statement, before, at));
        }
    }

    /// True if the reversal of `first` and `second` would bring two plain accesses into an order that is not in the sets, as they were at
    /// event `at`. In the reversed order, the last access of `second` to an object is followed by the first access of `first` to it.
    pub(super) fn is_new(&self, sets: &Sets, first: usize, second: usize, at: usize) -> bool {
        let (firsts, seconds) = (self.with(first), self.with(second));
        if firsts.is_empty() || seconds.is_empty() {
            return false;
        }
        firsts.iter().enumerate().any(|(place, it)| {
            let next = self.accesses[it.1];
            let touches = |it: &&(usize, usize)| self.accesses[it.1].object == next.object;
            if firsts[..place].iter().any(|it| touches(&it)) {
                return false;
            }
            let Some(last) = seconds.iter().rfind(touches).map(|it| self.accesses[it.1]) else { return false };
            let conflict = next.effect == Effect::Change || last.effect == Effect::Change;
            conflict && !sets.has(next.statement, last.statement, at)
        })
    }

    fn with(&self, event: usize) -> &[(usize, usize)] {
        let from = self.by_event.partition_point(|it| it.0 < event);
        let len = self.by_event[from..].partition_point(|it| it.0 <= event);
        &self.by_event[from..from + len]
    }
}
