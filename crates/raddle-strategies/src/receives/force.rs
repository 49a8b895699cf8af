//! Makes an execution follow a schedule of receives.
//!
//! A message whose receive is not next in the schedule is held back; its sender does not notice. Other steps continue. Where
//! messages arrive in the order of sending, as in channels between threads, the sends of threads are held back instead.

use std::collections::{HashMap, HashSet};

use raddle_engine::coverage::{Name, Scheduled};
use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::strategy::least_switching;
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::{Access, Class, Note, Role, Trace, Word};

/// A schedule, and how far the execution has followed it.
#[derive(Debug, Default)]
pub(super) struct Forced {
    expected: Vec<Scheduled>,
    next: usize,
    /// Receives that come later in the schedule.
    scheduled: HashSet<Name>,
    diverged: bool,
    /// How much of the trace was processed.
    receipts: usize,
    steps: usize,
    /// By name of the receiver: its task in this execution.
    tasks: HashMap<u64, TaskId>,
    /// By name of a message: the task it was sent to.
    addressed: HashMap<u64, TaskId>,
    /// How often a receive of this name has happened.
    seen: HashMap<Name, u32>,
    /// By task: how many messages it has sent.
    sent: Vec<u32>,
    /// The number of steps since the schedule last advanced.
    other_steps: u32,
}

/// After so many other steps without the next receive, the schedule is considered infeasible.
const MAX_OTHER_STEPS: u32 = 10_000;

impl Forced {
    /// The schedule.
    pub(super) fn expected(&self) -> &[Scheduled] {
        &self.expected
    }

    pub(super) fn new(expected: Vec<Scheduled>) -> Self {
        let scheduled = expected.iter().map(|event| event.name).collect();
        Self { expected, scheduled, ..Self::default() }
    }

    /// True if the schedule was followed to its end.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.expected.len()
    }

    /// How many of its receives happened in their order.
    pub(super) fn followed(&self) -> usize {
        self.next
    }

    /// The receive at which the execution left the schedule.
    pub(super) fn missed(&self) -> Option<&Scheduled> {
        self.expected.get(self.next)
    }

    /// Decides at a point with several actions; `None` if the schedule allows any.
    pub(super) fn choose(&mut self, at: &Point<'_>, trace: &Trace) -> Option<Choice> {
        self.follow(trace);
        let Point::Actions(actions) = at else { return None };
        let head = self.expected.get(self.next).filter(|_| !self.diverged)?;
        if let Some(choice) = self.due_send(actions).or_else(|| self.find(head, actions)) {
            return Some(choice);
        }
        self.other_steps += 1;
        let free = self.free_action(at, actions, trace).or_else(|| self.receive_ahead(head, actions));
        let free = free.filter(|_| self.other_steps < MAX_OTHER_STEPS);
        self.diverged = free.is_none();
        free
    }

    /// Processes the new part of the trace.
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
                self.advance(name);
            }
        }
        self.receipts = trace.receipts().len();
    }

    /// Advances the schedule by a receive. Receives from different channels are not ordered: the thread decides which channel it reads next.
    fn advance(&mut self, name: Name) {
        let left = &self.expected[self.next..];
        let at = left.iter().position(|event| event.name == name).expect("raddle bug: a receive that was scheduled");
        let early = left[..at].iter().any(|event| left[at].mailbox || event.name.receiver == name.receiver);
        if early {
            self.diverged = true;
            return;
        }
        let received = self.expected.remove(self.next + at);
        self.expected.insert(self.next, received);
        self.next += 1;
        self.other_steps = 0;
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

    /// If messages arrive in the order of sending, an unscheduled message may be ahead of the next one in the schedule. Receives it.
    fn receive_ahead(&self, head: &Scheduled, actions: &[Action]) -> Option<Choice> {
        let task = self.tasks.get(&head.name.receiver).copied().unwrap_or(head.task);
        let receives = |action: &Action| action.task == task && action.variant == Variant::Ready;
        actions.iter().position(|action| head.mailbox && head.arrival && receives(action)).map(|at| Choice(at as u32))
    }

    /// An action that the schedule does not hold back.
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
            // An actor that takes the next message of its queue. A task that waits for a reply or at a channel has the role `Takes` or `Alone`.
            (Class::Receive, Variant::Ready) => matches!(action.role, Role::Plain | Role::Waits),
            (Class::Send, _) => self.is_early_send(action),
            _ => false,
        }
    }

    /// The index in the schedule of the message that a task would send next.
    fn next_sent(&self, task: TaskId) -> Option<usize> {
        let ordinal = self.sent.get(task.index()).copied().unwrap_or(0);
        let left = self.expected[self.next..].iter();
        let own = |event: &&Scheduled| event.steered && event.sender == task && event.ordinal == ordinal;
        left.enumerate().find(|(_, event)| own(event)).map(|(at, _)| self.next + at)
    }

    fn has_sent(&self, event: &Scheduled) -> bool {
        self.sent.get(event.sender.index()).is_some_and(|&sent| sent > event.ordinal)
    }

    /// A scheduled send that no other send has to precede, where messages arrive in the order of sending.
    fn due_send(&self, actions: &[Action]) -> Option<Choice> {
        let due = |action: &Action| {
            action.op.class == Class::Send && self.next_sent(action.task).is_some() && !self.is_early_send(action)
        };
        actions.iter().position(due).map(|at| Choice(at as u32))
    }

    /// True if another message must be sent to the same receiver first.
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
