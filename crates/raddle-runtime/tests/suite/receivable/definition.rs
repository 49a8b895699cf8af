//! What can be received, by the words of [`Delivery`]: every message that was sent is kept, with the set of those that its sender knew of. No
//! clocks, no numbers that stand for more than one message.

use std::collections::{BTreeMap, BTreeSet};

use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Note, Role, Step, Trace};
use raddle_runtime::actor::Delivery;

/// What has been sent, received and created, as the steps say.
#[derive(Default)]
pub struct Definition {
    sent: Vec<Sent>,
    /// By task.
    known: BTreeMap<TaskId, BTreeSet<usize>>,
    steps: usize,
}

struct Sent {
    from: TaskId,
    to: TaskId,
    /// What a schedule calls it.
    number: Option<u32>,
    late: bool,
    waits: bool,
    /// The messages that its sender knew of.
    knows: BTreeSet<usize>,
}

/// What a receive is listed as.
pub type Listed = (TaskId, Variant);

impl Definition {
    /// Reads the steps that are new. Deliveries are by task; tasks that are no actors have none.
    pub fn read(&mut self, trace: &Trace, deliveries: &[Option<Delivery>]) {
        let notes = trace.notes_from(StepIx::next_of(self.steps));
        for (at, step) in trace.steps().iter().enumerate().skip(self.steps) {
            let sent_to = notes.iter().filter(|note| note.0.index() == at).find_map(|note| match note.1 {
                Note::Sent(to) => Some(to),
                _ => None,
            });
            match (step.op.verb, sent_to) {
                ("spawn", _) => self.create(step, deliveries),
                ("receive from", _) => self.receive(step, deliveries),
                (_, Some(to)) => self.send(step, to),
                _ => {}
            }
        }
        self.steps = trace.len();
    }

    /// An actor knows what its creator knew. A thread knows nothing.
    fn create(&mut self, step: &Step, deliveries: &[Option<Delivery>]) {
        let created = TaskId::new(step.found.expect("it is said who was created").0 as u32);
        if deliveries[created.index()].is_some() {
            let knows = self.known.entry(step.task).or_default().clone();
            self.known.insert(created, knows);
        }
    }

    fn send(&mut self, step: &Step, to: TaskId) {
        let (number, late) = match step.access.role {
            Role::Offers(offer) => (Some(offer.message), offer.late),
            _ => (None, false),
        };
        let knows = self.known.entry(step.task).or_default();
        let sent = Sent { from: step.task, to, number, late, waits: true, knows: knows.clone() };
        knows.insert(self.sent.len());
        self.sent.push(sent);
    }

    fn receive(&mut self, step: &Step, deliveries: &[Option<Delivery>]) {
        let number = match step.variant {
            Variant::Message(number) => Some(number),
            Variant::Ready => None,
            // A timer, which nobody else has sent, or a crash.
            Variant::TimedOut | Variant::Spurious => return,
        };
        let is_it = |sent: &Sent| sent.waits && sent.to == step.task && sent.number == number;
        let at = self.sent.iter().position(is_it).expect("what is received waits");
        self.sent[at].waits = false;
        if deliveries[step.task.index()] == Some(Delivery::Causal) {
            let known = self.known.entry(step.task).or_default();
            known.extend(&self.sent[at].knows);
            known.insert(at);
        }
    }

    /// What these actors can receive.
    pub fn receivable(&self, actors: impl Iterator<Item = (TaskId, Delivery)>) -> Vec<Listed> {
        actors.flat_map(|(actor, delivery)| self.receivable_by(actor, delivery)).collect()
    }

    fn receivable_by(&self, actor: TaskId, delivery: Delivery) -> Vec<Listed> {
        let waiting: Vec<usize> =
            (0..self.sent.len()).filter(|&at| self.sent[at].waits && self.sent[at].to == actor).collect();
        let held_up = |&at: &usize| {
            waiting.iter().filter(|&&other| !self.sent[other].late).any(|&other| match delivery {
                Delivery::Unordered => false,
                Delivery::PerSender => other < at && self.sent[other].from == self.sent[at].from,
                Delivery::Causal => self.sent[at].knows.contains(&other),
                Delivery::Arrival => other < at,
            })
        };
        if delivery == Delivery::Arrival {
            return waiting.first().map(|_| (actor, Variant::Ready)).into_iter().collect();
        }
        let open = waiting.iter().filter(|at| !held_up(at));
        open.map(|&at| (actor, Variant::Message(self.sent[at].number.expect("it is one of many")))).collect()
    }
}

/// The receives among what can happen next.
pub fn listed(actions: &[Action]) -> Vec<Listed> {
    let receives = actions.iter().filter(|action| action.op.verb == "receive from");
    let messages = receives.filter(|action| !matches!(action.variant, Variant::TimedOut | Variant::Spurious));
    messages.map(|action| (action.task, action.variant)).collect()
}
