//! Makes an execution follow a schedule of receives.
//!
//! What is not the next receive of the schedule is held back; whoever sends does not notice. Whatever is no receive goes on. Where
//! messages come in the order in which they were sent, as on channels between threads, it is the sends of threads that are held back.

use std::collections::{HashMap, HashSet};

use raddle_engine::coverage::{Name, Scheduled};
use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::strategy::least_switching;
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::{Access, Class, Note, Role, Trace, Word};

/// A schedule, and how far an execution has followed it.
#[derive(Debug, Default)]
pub(super) struct Forced {
    expected: Vec<Scheduled>,
    next: usize,
    /// Receives that come later in the schedule.
    scheduled: HashSet<Name>,
    diverged: bool,
    /// What has been looked at of the trace.
    receipts: usize,
    steps: usize,
    /// By name of the receiver, the task it is in this execution.
    tasks: HashMap<u64, TaskId>,
    /// By name of a message, the task it was sent to.
    addressed: HashMap<u64, TaskId>,
    /// How often a receive of this name has happened.
    seen: HashMap<Name, u32>,
    /// By task, how many messages it has sent.
    sent: Vec<u32>,
    /// Steps taken since the schedule last went on.
    patience: u32,
}

/// Steps that are no receives, while the next receive is not possible: beyond, it is not to be waited for.
const PATIENCE: u32 = 10_000;

impl Forced {
    /// What is to come about.
    pub(super) fn expected(&self) -> &[Scheduled] {
        &self.expected
    }

    pub(super) fn new(expected: Vec<Scheduled>) -> Self {
        let scheduled = expected.iter().map(|event| event.name).collect();
        Self { expected, scheduled, ..Self::default() }
    }

    /// Whether the schedule was followed to its end.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.expected.len()
    }

    /// How many of its receives came about in their order.
    pub(super) fn followed(&self) -> usize {
        self.next
    }

    /// The receive at which the execution went another way.
    pub(super) fn missed(&self) -> Option<&Scheduled> {
        self.expected.get(self.next)
    }

    /// What is to happen at a point with several actions; `None` if anything may.
    pub(super) fn choose(&mut self, at: &Point<'_>, trace: &Trace) -> Option<Choice> {
        self.follow(trace);
        let Point::Actions(actions) = at else { return None };
        let head = self.expected.get(self.next).filter(|_| !self.diverged)?;
        if let Some(choice) = self.due_send(actions).or_else(|| self.find(head, actions)) {
            return Some(choice);
        }
        self.patience += 1;
        let free = self.free_action(at, actions, trace).or_else(|| self.in_the_way(head, actions));
        let free = free.filter(|_| self.patience < PATIENCE);
        self.diverged = free.is_none();
        free
    }

    /// Takes in what has happened since.
    pub(super) fn follow(&mut self, trace: &Trace) {
        for at in self.steps..trace.len() {
            let task = trace.steps()[at].task.index();
            if self.sent.len() <= task {
                self.sent.resize(task + 1, 0);
            }
            let given = |access: &Access| access.role == Role::Gives && access.object.as_message().is_some();
            self.sent[task] += trace.accesses(StepIx::next_of(at)).filter(given).count() as u32;
        }
        for (at, note) in trace.notes_from(StepIx::next_of(self.steps)) {
            if let (Note::Sent(to), Some(Word(name))) = (note, trace.steps()[at.index()].left) {
                self.addressed.insert(name, *to);
            }
        }
        self.steps = trace.len();
        for receipt in &trace.receipts()[self.receipts..] {
            let task = trace.steps()[receipt.step.index()].task;
            self.tasks.insert(receipt.receiver, task);
            if receipt.reply || self.diverged || self.is_done() {
                continue;
            }
            let mut name = Name::of(receipt);
            let again = self.seen.entry(name).or_insert(0);
            name.again = *again;
            *again += 1;
            if self.scheduled.remove(&name) {
                self.pass(name);
            }
        }
        self.receipts = trace.receipts().len();
    }

    /// A receive of the schedule has happened. Between channels there is no order: a thread decides which it looks at next.
    fn pass(&mut self, name: Name) {
        let left = &self.expected[self.next..];
        let at = left.iter().position(|event| event.name == name).expect("raddle bug: a receive that was scheduled");
        let early = left[..at].iter().any(|event| left[at].mailbox || event.name.receiver == name.receiver);
        if early {
            self.diverged = true;
            return;
        }
        let passed = self.expected.remove(self.next + at);
        self.expected.insert(self.next, passed);
        self.next += 1;
        self.patience = 0;
    }

    /// The action that is this receive.
    fn find(&self, event: &Scheduled, actions: &[Action]) -> Option<Choice> {
        let task = self.tasks.get(&event.name.receiver).or_else(|| self.addressed.get(&event.name.message)).copied();
        let fits = |action: &Action| {
            let there =
                task.map_or(action.task == event.task || is_message(action.variant), |task| task == action.task);
            there
                && action.op.class == Class::Receive
                && action.variant == event.variant
                && !(event.mailbox && action.role == Role::Takes)
        };
        let own = actions.iter().position(|action| fits(action) && action.task == event.task);
        own.or_else(|| actions.iter().position(fits)).map(|at| Choice(at as u32))
    }

    /// Where messages come in the order of sending, one that nobody has foreseen may be before the one that is waited for.
    fn in_the_way(&self, head: &Scheduled, actions: &[Action]) -> Option<Choice> {
        let task = self.tasks.get(&head.name.receiver).copied().unwrap_or(head.task);
        let receives = |action: &Action| action.task == task && action.variant == Variant::Ready;
        actions.iter().position(|action| head.mailbox && head.arrival && receives(action)).map(|at| Choice(at as u32))
    }

    /// Something that is held back by nobody.
    fn free_action(&self, at: &Point<'_>, actions: &[Action], trace: &Trace) -> Option<Choice> {
        let usual = least_switching(at, trace);
        let is_free = |action: &Action| !self.is_held_back(action);
        if is_free(&actions[usual.index()]) && actions[usual.index()].variant == Variant::Ready {
            return Some(usual);
        }
        let rank = |action: &Action| (action.variant != Variant::Ready, self.is_unscheduled_send(action));
        let free = actions.iter().enumerate().filter(|(_, action)| is_free(action));
        free.min_by_key(|(_, action)| rank(action)).map(|(at, _)| Choice(at as u32))
    }

    fn is_held_back(&self, action: &Action) -> bool {
        match (action.op.class, action.variant) {
            (_, Variant::Spurious) => true,
            (Class::Receive, Variant::Message(_) | Variant::TimedOut) => true,
            // An actor that takes the next message of its queue; who waits for a reply or at a channel takes or is alone there.
            (Class::Receive, Variant::Ready) => action.role == Role::Plain,
            (Class::Send, _) => self.is_early_send(action),
            _ => false,
        }
    }

    /// The place in the schedule of what a task would send next.
    fn next_sent(&self, task: TaskId) -> Option<usize> {
        let ordinal = self.sent.get(task.index()).copied().unwrap_or(0);
        let left = self.expected[self.next..].iter();
        let own = |event: &&Scheduled| event.steered && event.sender == task && event.ordinal == ordinal;
        left.enumerate().find(|(_, event)| own(event)).map(|(at, _)| self.next + at)
    }

    fn has_sent(&self, event: &Scheduled) -> bool {
        self.sent.get(event.sender.index()).is_some_and(|&sent| sent > event.ordinal)
    }

    /// A send that others come after, where messages come in the order of sending.
    fn due_send(&self, actions: &[Action]) -> Option<Choice> {
        let due = |action: &Action| {
            action.op.class == Class::Send && self.next_sent(action.task).is_some() && !self.is_early_send(action)
        };
        actions.iter().position(due).map(|at| Choice(at as u32))
    }

    /// Whether something else is to be sent first to the same place.
    fn is_early_send(&self, action: &Action) -> bool {
        let Some(at) = self.next_sent(action.task) else { return false };
        let receiver = self.expected[at].name.receiver;
        let before = &self.expected[self.next..at];
        before.iter().any(|event| event.name.receiver == receiver && !self.has_sent(event))
    }

    fn is_unscheduled_send(&self, action: &Action) -> bool {
        action.op.class == Class::Send && self.next_sent(action.task).is_none()
    }
}

fn is_message(variant: Variant) -> bool {
    matches!(variant, Variant::Message(_))
}
