//! Plain memory: nobody decides about the accesses to it, but their order tells more than that of the locks around them.
//!
//! Two accesses that conflict are ordered by something else, or they are a data race and a failure in any order. So what is learnt of
//! them is not where to go back to, but whether it is worth it: what a task does to plain memory between two of its decisions comes with
//! the first of these. If two events race, and what came with them touches the same memory, the reversal is new if that would be,
//! though the events themselves were seen in both orders. So sections of one lock that are entered in one place, and do different things, are
//! told apart.

use super::lookback::Lookback;
use super::sets::Sets;
use super::statement::StatementId;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::trace::{Class, Effect, Role, Step, Trace};

/// The accesses of the execution that was looked at last.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// In the order in which they were made.
    accesses: Vec<Access>,
    /// Their places, by the events that they came with; only of those that came with one.
    by_event: Vec<(usize, usize)>,
    /// By task: the event that what it does comes with. None before its first, and while it goes on because another let it: nobody can
    /// tell what that comes with.
    latest: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    step: usize,
    /// How many events there were.
    events: usize,
    task: TaskId,
    object: ObjectId,
    effect: Effect,
    statement: StatementId,
}

impl Plain {
    /// Forgets all but what was done in the first `steps` steps.
    pub(super) fn truncate(&mut self, steps: usize) {
        let kept = self.accesses.partition_point(|access| access.step < steps);
        self.accesses.truncate(kept);
    }

    /// Takes in an access, the latest of all, when there were so many events.
    pub(super) fn take(&mut self, at: usize, step: &Step, statement: StatementId, events: usize) {
        let (task, object, effect) = (step.task, step.access.object, step.access.effect);
        self.accesses.push(Access { step: at, events, task, object, effect, statement });
    }

    /// Finds out what came with which event.
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

    /// Learns who came right after whom.
    pub(super) fn learn(&self, lookback: &mut Lookback, sets: &mut Sets) {
        for Access { events, task, object, effect, statement, .. } in &self.accesses {
            let at = events.saturating_sub(1);
            lookback.take_plain(*task, *object, *effect, *statement, |before| sets.learn(*statement, before, at));
        }
    }

    /// Whether something that came with `second` was never seen right before something that came with `first`, as far as was known at
    /// event `at`. To some memory, that would be the last thing that came with the one and the first that came with the other.
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
