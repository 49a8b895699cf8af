//! Reads the trace of an execution and determines what each receive depends on.
//!
//! A message is an object that one step gives and another takes, so it is known which handler sent it. Actors know only what they have
//! received. Other tasks (threads, the body of the test) also learn by locks, joins and by waiting until all is quiet, so what they send
//! comes after everything they could know.

use std::collections::HashMap;

use super::{Draw, Name, ReceiveEvent, Recorded};
use crate::ids::{ObjectId, StepIx, TaskId};
use crate::system::Variant;
use crate::trace::{Access, Class, Delivery, Note, Receipt, Role, Step, Trace};

/// Memory grows with the square of the number of receives, so it is limited.
const MOST_RECEIVES: usize = 30_000;
const MOST_OF_ONE: u32 = 10_000;

/// By task, the latest receive that is known, counted from 1.
type Known = Vec<u32>;

fn learn(known: &mut Known, other: &Known) {
    if known.len() < other.len() {
        known.resize(other.len(), 0);
    }
    known.iter_mut().zip(other).for_each(|(own, theirs)| *own = (*own).max(*theirs));
}

/// What is known about a task at the current step.
#[derive(Clone, Debug, Default)]
struct TaskKnowledge {
    known: Known,
    latest: Option<usize>,
    /// The receives that happened before the task was created.
    born: Vec<usize>,
    drawn: u32,
    sent: u32,
    /// The receives whose handlers replied to its requests, since its latest receive.
    replied: Vec<usize>,
}

struct Sent {
    step: StepIx,
    sender: TaskId,
    ordinal: u32,
    delivery: Option<Delivery>,
    cause: Option<usize>,
    causes: Vec<usize>,
}

pub(super) struct Reader<'t> {
    trace: &'t Trace,
    receipts: &'t [Receipt],
    tasks: Vec<TaskKnowledge>,
    /// By object, the knowledge that was published through it.
    published: HashMap<ObjectId, Known>,
    messages: HashMap<ObjectId, Sent>,
    /// By the object at which a reply is awaited: the receive whose handler gave it.
    replies: HashMap<ObjectId, Option<usize>>,
    /// Tasks that receive as actors.
    actors: Vec<bool>,
    names: HashMap<Name, u32>,
    /// By receiver, the number of its receives.
    counts: HashMap<u64, u32>,
    recorded: Recorded,
}

impl<'t> Reader<'t> {
    fn new(trace: &'t Trace) -> Self {
        let tasks = trace.steps().iter().map(|step| step.task.index() + 1).max().unwrap_or(0);
        let mut actors = vec![false; tasks];
        for (_, note) in trace.notes_from(StepIx::new(0)) {
            if let Note::Sent(to) = note
                && let Some(actor) = actors.get_mut(to.index())
            {
                *actor = true;
            }
        }
        Self {
            trace,
            receipts: trace.receipts(),
            tasks: vec![TaskKnowledge::default(); tasks],
            published: HashMap::new(),
            messages: HashMap::new(),
            replies: HashMap::new(),
            actors,
            names: HashMap::new(),
            counts: HashMap::new(),
            recorded: Recorded::default(),
        }
    }

    /// The receives of `trace`.
    pub(super) fn read_all(trace: &'t Trace) -> Recorded {
        let mut reader = Self::new(trace);
        for at in 0..trace.len() {
            reader.read(StepIx::next_of(at));
        }
        reader.recorded
    }

    fn knowledge_of(&mut self, task: TaskId) -> &mut TaskKnowledge {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, TaskKnowledge::default);
        }
        &mut self.tasks[task.index()]
    }

    fn is_actor(&self, task: TaskId) -> bool {
        self.actors.get(task.index()) == Some(&true)
    }

    /// The latest receives that `task` may know of.
    fn causes(&self, task: TaskId) -> Vec<usize> {
        let Some(knowledge) = self.tasks.get(task.index()) else { return Vec::new() };
        if self.is_actor(task) {
            let own = knowledge.latest.map_or_else(|| knowledge.born.clone(), |latest| vec![latest]);
            return own.into_iter().chain(knowledge.replied.iter().copied()).collect();
        }
        let known = knowledge.known.iter().filter(|event| **event > 0).map(|event| *event as usize - 1);
        known.chain(knowledge.latest).collect()
    }

    fn read(&mut self, at: StepIx) {
        let step = &self.trace.steps()[at.index()];
        // If there was only one value, there was no decision.
        if step.op.class == Class::Choice && step.alternatives > 1 {
            self.draw(step);
        }
        let receipt = self.receipts.split_first().filter(|(first, _)| first.step == at);
        let receipt = receipt.map(|(first, rest)| {
            self.receipts = rest;
            *first
        });
        if let Some(receipt) = receipt.filter(|receipt| !receipt.reply) {
            let of_one = self.counts.entry(receipt.receiver).or_insert(0);
            *of_one += 1;
            if *of_one > MOST_OF_ONE || self.recorded.events.len() == MOST_RECEIVES {
                self.recorded.left_out += 1;
            } else {
                self.receive(at, step, &receipt);
            }
        }
        if let (Class::Spawn, Some(child)) = (step.op.class, step.found) {
            let (born, known) = (self.causes(step.task), self.knowledge_of(step.task).known.clone());
            let child = self.knowledge_of(TaskId::next_of(child.0 as usize));
            child.born = born;
            learn(&mut child.known, &known);
        }
        let mut delivery = None;
        for access in self.trace.accesses(at) {
            if let Role::Offers(offer) = access.role {
                delivery = Some(offer.delivery);
            }
            if access.object.as_message().is_some() && access.role == Role::Gives {
                self.send(at, step, access.object, delivery);
            }
            self.synchronise(step, access);
        }
        match receipt {
            Some(receipt) if receipt.reply => {
                let replied = self.replies.get(&step.access.object).copied().flatten();
                let knowledge = self.knowledge_of(step.task);
                knowledge.replied.extend(replied);
                let asked = knowledge.latest;
                self.recorded.waits.extend(asked.zip(replied));
            }
            None if step.op.class == Class::Send && step.access.role == Role::Gives => {
                let latest = self.knowledge_of(step.task).latest;
                self.replies.insert(step.access.object, latest);
            }
            _ => {}
        }
    }

    fn draw(&mut self, step: &Step) {
        let knowledge = self.knowledge_of(step.task);
        let (latest, before) = (knowledge.latest, knowledge.drawn);
        knowledge.drawn += 1;
        let during = latest.map(|event| Name { again: 0, ..self.recorded.events[event].name });
        let value = step.found.map_or(0, |word| word.0 as u32);
        self.recorded.drawn.insert(Draw { during, task: step.task, before }, value);
    }

    fn send(&mut self, at: StepIx, step: &Step, message: ObjectId, delivery: Option<Delivery>) {
        let cause = if self.is_actor(step.task) { self.knowledge_of(step.task).latest } else { None };
        let knowledge = self.knowledge_of(step.task);
        let ordinal = knowledge.sent;
        knowledge.sent += 1;
        let sent = Sent { step: at, sender: step.task, ordinal, delivery, cause, causes: self.causes(step.task) };
        self.messages.insert(message, sent);
    }

    fn receive(&mut self, at: StepIx, step: &Step, receipt: &Receipt) {
        let message = self.trace.accesses(at).map(|access| access.object).find(|object| object.as_message().is_some());
        let sent = message.and_then(|message| self.messages.remove(&message));
        let mut sent = sent.unwrap_or_else(|| self.sent_unseen(at, step.task, receipt.sender));
        if step.variant == Variant::TimedOut {
            // A timer goes off on its own. An actor sets a timer in the same step in which it is created, if it sets one as it starts.
            sent.delivery = Some(Delivery::Unordered);
            if sent.sender != step.task {
                sent = Sent { sender: step.task, cause: None, causes: Vec::new(), ..sent };
            }
        }
        let mut name = Name::of(receipt);
        let again = self.names.entry(name).or_insert(0);
        name.again = *again;
        *again += 1;
        let number = self.recorded.events.len();
        let mailbox = self.is_actor(step.task);
        let knowledge = self.knowledge_of(step.task);
        knowledge.latest = Some(number);
        knowledge.drawn = 0;
        knowledge.replied.clear();
        let born = knowledge.born.clone();
        if knowledge.known.len() <= step.task.index() {
            knowledge.known.resize(step.task.index() + 1, 0);
        }
        knowledge.known[step.task.index()] = number as u32 + 1;
        let mut causes = sent.causes;
        causes.extend(born);
        causes.sort_unstable();
        causes.dedup();
        self.recorded.events.push(ReceiveEvent {
            name,
            label: receipt.label,
            changes: receipt.changed,
            task: step.task,
            variant: step.variant,
            step: at,
            sent: (sent.step != at).then_some(sent.step),
            sender: sent.sender,
            ordinal: sent.ordinal,
            mailbox,
            delivery: sent.delivery,
            causes,
            cause: sent.cause,
        });
    }

    /// A bounded channel does not record which send a receive takes. So all that its senders know by now is used instead.
    fn sent_unseen(&self, at: StepIx, receiver: TaskId, sender: u64) -> Sent {
        let thread = usize::try_from(sender).ok().filter(|&task| task < self.tasks.len()).map(TaskId::next_of);
        let sender = thread.unwrap_or(receiver);
        Sent { step: at, sender, ordinal: u32::MAX, delivery: None, cause: None, causes: self.causes(sender) }
    }

    fn synchronise(&mut self, step: &Step, access: Access) {
        if !access.object.is_some() {
            return;
        }
        // A receive publishes that it has happened, and reads nothing.
        if access.ordered.acquire
            && access.role != Role::Gives
            && let Some(published) = self.published.get(&access.object)
        {
            let published = published.clone();
            learn(&mut self.knowledge_of(step.task).known, &published);
        }
        if access.ordered.release {
            let known = self.knowledge_of(step.task).known.clone();
            learn(self.published.entry(access.object).or_default(), &known);
        }
    }
}
