//! A model as the engine sees it.
//!
//! | step | accesses |
//! |---|---|
//! | receive | changes the mailbox; changes and takes the message |
//! | send | changes and gives the message; offers it where receives choose, else changes the tail of the mailbox |
//! | create | changes the roster, which numbers the actors |
//! | announce | changes the monitor |
//! | fault | changes what is left of the budget; a message that might have been faulty reads it |

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::{Cast, Failure, ObjectCard, Outcome, TaskCard, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Action, Choice, Pending, Point, System, Variant};
use raddle_engine::trace::{Access, Class, Effect, Hold, Operation, Ordered, Role, Step, Trace, Word};

use crate::actor::{Delivery, Faults, Roster, mix};
use crate::model::apply::Stop;
use crate::model::monitors::Watcher;
use crate::model::slot::{Body, Mail, Slot};
use crate::model::{Code, View};
use crate::panics;

pub(super) static RECEIVE: Operation = Operation { verb: "receive", class: Class::Receive };
static CRASH: Operation = Operation { verb: "crash", class: Class::Receive };

pub(super) const ROSTER: ObjectId = ObjectId::new(0);
pub(super) const FAULTS: ObjectId = ObjectId::new(1);
const FIRST_MONITOR: usize = 2;

/// One execution of a model. A copy shares what neither of the two has changed since.
#[derive(Clone)]
pub struct Run {
    pub(super) code: Arc<Code>,
    pub(super) actors: Vec<Arc<Slot>>,
    pub(super) roster: Arc<Roster>,
    pub(super) monitors: Vec<Arc<Box<dyn Watcher>>>,
    pub(super) faults: Faults,
    pub(super) dead_letters: u32,
    pub(super) unhandled: u32,
    /// Of the actors and mailboxes; the rest is added when somebody asks.
    pub(super) digest: u64,
    pub(super) actions: Vec<Action>,
    pub(super) stop: Stop,
    /// An actor could have crashed, or a timer of one could have gone off.
    pub(super) odd: bool,
    /// What the setup sent, to be told at the start of every execution.
    pub(super) first_steps: Arc<Vec<(Step, Access)>>,
}

pub(super) fn task(index: usize) -> TaskId {
    TaskId::next_of(index + 1)
}

fn index(task: TaskId) -> usize {
    task.index() - 1
}

impl Run {
    pub(super) fn new(code: Code) -> Self {
        Self {
            code: Arc::new(code),
            actors: Vec::new(),
            roster: Arc::default(),
            monitors: Vec::new(),
            faults: Faults::default(),
            dead_letters: 0,
            unhandled: 0,
            digest: 0,
            actions: Vec::new(),
            stop: Stop::Actions,
            first_steps: Arc::default(),
            odd: false,
        }
    }

    /// Tells what the setup sent.
    pub(super) fn tell_first_steps(&self, trace: &mut Trace) {
        for &(step, message) in self.first_steps.iter() {
            trace.push(step);
            trace.touch(message);
        }
    }

    pub(super) fn delivery(&self) -> Delivery {
        self.code.rules.delivery
    }

    pub(super) fn monitor(&self, monitor: usize) -> ObjectId {
        ObjectId::next_of(FIRST_MONITOR + monitor)
    }

    pub(super) fn head(&self, actor: usize) -> ObjectId {
        ObjectId::next_of(FIRST_MONITOR + self.monitors.len() + 2 * actor)
    }

    pub(super) fn tail(&self, actor: usize) -> ObjectId {
        ObjectId::next_of(self.head(actor).index() + 1)
    }

    pub(super) fn change_body<R>(&mut self, actor: usize, change: impl FnOnce(&mut Body) -> R) -> R {
        let slot = Arc::make_mut(&mut self.actors[actor]);
        let body = Arc::make_mut(&mut slot.body);
        self.digest ^= mix(body.digest, 2 * actor as u64 + 1);
        let result = change(body);
        body.refresh();
        self.digest ^= mix(body.digest, 2 * actor as u64 + 1);
        result
    }

    pub(super) fn change_mail<R>(&mut self, actor: usize, change: impl FnOnce(&mut Mail) -> R) -> R {
        let slot = Arc::make_mut(&mut self.actors[actor]);
        let mail = Arc::make_mut(&mut slot.mail);
        self.digest ^= mix(mail.digest, 2 * actor as u64 + 2);
        let result = change(mail);
        self.digest ^= mix(mail.digest, 2 * actor as u64 + 2);
        result
    }

    /// Adds a step that needed no decision.
    pub(super) fn note(&self, trace: &mut Trace, task: TaskId, op: &'static Operation, access: Access) {
        trace.push(self.step(task, Variant::Ready, op, access, 0));
    }

    pub(super) fn step(
        &self,
        task: TaskId,
        variant: Variant,
        op: &'static Operation,
        access: Access,
        alternatives: u32,
    ) -> Step {
        Step {
            task,
            variant,
            op,
            access,
            found: None,
            left: None,
            hold: Hold::Unchanged,
            wants: None,
            site: self.code.site,
            alternatives,
            more: 0,
        }
    }

    fn take(&mut self, action: Action, trace: &mut Trace) {
        let actor = index(action.task);
        let alternatives = u32::try_from(self.actions.len()).expect("raddle bug: more than 2^32 actions");
        let own = access(self.head(actor), Effect::Change, Role::Plain);
        trace.push(self.step(action.task, action.variant, action.op, own, alternatives));
        let number = match action.variant {
            Variant::Message(number) => Some(number),
            Variant::Ready => None,
            _ => return self.crash(actor, trace),
        };
        let delivery = self.delivery();
        let (letter, parcel) = self.change_mail(actor, |mail| mail.take(delivery, number));
        trace.touch(access(letter.object(), Effect::Change, Role::Takes));
        let receiver = self.actors[actor].body.party.name;
        trace.receive(letter.receipt(StepIx::next_of(trace.len() - 1), receiver));
        trace.last_mut().expect("pushed just now").found = Some(Word(letter.name));
        if delivery == Delivery::Causal {
            self.change_body(actor, |body| body.party.read(&letter, delivery));
        } else {
            self.own_body(actor).party.read(&letter, delivery);
        }
        self.handle(actor, parcel, Vec::new(), trace);
    }

    /// Finds out what can happen next.
    pub(super) fn reach_point(&mut self) {
        if matches!(self.stop, Stop::Draw { .. } | Stop::Fate { .. } | Stop::End(_)) {
            return;
        }
        if let Some(outcome) = self.check(&self.code.always) {
            self.stop = Stop::End(outcome);
            return;
        }
        self.list_actions();
        // Nobody has to crash.
        if self.actions.iter().all(|action| action.variant == Variant::Spurious) {
            let late = self.monitors.iter().find_map(|monitor| Some((monitor.name(), monitor.at_quiet().err()?)));
            let late = late.map(|(monitor, message)| {
                Failure::Violation { task: TaskId::MAIN, monitor: monitor.to_owned(), message }.into()
            });
            let outcome = late.or_else(|| self.check(&self.code.finally));
            self.stop = Stop::End(outcome.unwrap_or(Outcome::Completed));
        }
    }

    fn check(&self, checks: &[super::Check]) -> Option<Outcome> {
        checks.iter().find_map(|check| {
            let result = panic::catch_unwind(AssertUnwindSafe(|| check(&View(self))));
            let message = panics::message(&*result.err()?);
            Some(Failure::Panic { task: TaskId::MAIN, message, place: None }.into())
        })
    }

    fn list_actions(&mut self) {
        self.actions.clear();
        let delivery = self.delivery();
        for (actor, slot) in self.actors.iter().enumerate() {
            if slot.body.actor.is_none() {
                continue;
            }
            let object = ObjectId::next_of(FIRST_MONITOR + self.monitors.len() + 2 * actor);
            let (task, site) = (task(actor), self.code.site);
            let act =
                |variant, op| Action { task, variant, op, object, effect: Effect::Change, role: Role::Plain, site };
            let queue = &slot.mail.queue;
            if delivery == Delivery::Arrival {
                self.actions.extend((!queue.is_empty()).then(|| act(Variant::Ready, &RECEIVE)));
            } else {
                let letters = || queue.iter().map(|mail| &mail.0);
                let can = letters().enumerate().filter(|(at, letter)| delivery.lets(letters(), *at, letter));
                self.actions.extend(can.map(|(_, letter)| act(Variant::Message(letter.number), &RECEIVE)));
            }
            self.odd |= !slot.mail.timers.is_empty() || (self.faults.crash > 0 && slot.card.may_crash);
            let timers = slot.mail.timers.iter().map(|timer| act(Variant::Message(timer.1.number), &RECEIVE));
            self.actions.extend(timers);
            if self.faults.crash > 0 && slot.card.may_crash {
                self.actions.push(act(Variant::Spurious, &CRASH));
            }
        }
    }

    fn name(&self, task: TaskId) -> Vec<u32> {
        if task == TaskId::MAIN {
            return Vec::new();
        }
        let card = &self.actors[index(task)].card;
        let mut path = self.name(card.parent);
        path.push(card.ordinal);
        path
    }

    fn waiting(&self) -> impl Iterator<Item = (Action, bool)> + '_ {
        self.actors.iter().enumerate().filter(|(_, slot)| slot.body.actor.is_some()).map(|(actor, slot)| {
            let ready = !slot.mail.queue.is_empty() || !slot.mail.timers.is_empty();
            let action = Action {
                task: task(actor),
                variant: Variant::Ready,
                op: &RECEIVE,
                object: self.head(actor),
                effect: Effect::Change,
                role: Role::Plain,
                site: self.code.site,
            };
            (action, ready)
        })
    }
}

pub(super) fn access(object: ObjectId, effect: Effect, role: Role) -> Access {
    Access { object, effect, role, ordered: Ordered::RELAXED }
}

impl System for Run {
    fn point(&self) -> Point<'_> {
        match &self.stop {
            Stop::Actions => Point::Actions(&self.actions),
            Stop::Draw { actor, choices, .. } => {
                Point::Data { task: task(*actor), choices: *choices, site: self.code.site }
            }
            Stop::Fate { actor, fates, .. } => {
                let choices = u32::try_from(fates.len()).expect("there are four fates");
                Point::Data { task: task(*actor), choices, site: self.code.site }
            }
            Stop::End(outcome) => Point::End(outcome),
        }
    }

    fn advance(&mut self, choice: Choice, trace: &mut Trace) {
        match std::mem::replace(&mut self.stop, Stop::Actions) {
            Stop::Actions => self.take(self.actions[choice.index()], trace),
            Stop::Draw { actor, parcel, draws, choices } => self.draw(actor, parcel, draws, (choice, choices), trace),
            Stop::Fate { actor, fates, send, rest } => self.suffer(actor, &fates, send, rest, choice, trace),
            Stop::End(_) => panic!("raddle bug: an execution that has ended was to go on"),
        }
        self.reach_point();
    }

    fn task_name(&self, task: TaskId) -> TaskName {
        TaskName(self.name(task))
    }

    fn cast(&self) -> Cast {
        let main = TaskCard { name: TaskName::default(), label: Some("setup".to_owned()), finished: true };
        let actors = self.actors.iter().enumerate().map(|(actor, slot)| TaskCard {
            name: self.task_name(task(actor)),
            label: Some(if slot.card.external {
                format!("{} (external)", slot.card.who)
            } else {
                slot.card.who.to_string()
            }),
            finished: slot.body.actor.is_none(),
        });
        let card = |noun| ObjectCard { noun, made: None, show: |word| format!("{:08x}", word.0) };
        let monitors = self.monitors.iter().map(|monitor| card(monitor.name()));
        let mailboxes = self.actors.iter().flat_map(|_| ["mailbox", "end of mailbox"]).map(card);
        Cast {
            tasks: std::iter::once(main).chain(actors).collect(),
            objects: ["roster", "faults"].map(card).into_iter().chain(monitors).chain(mailboxes).collect(),
            ..Cast::default()
        }
    }

    fn unfinished(&self, _: &Trace) -> Vec<Waiting> {
        let busy = self.waiting().filter(|(_, ready)| *ready).map(|(action, _)| action);
        let waits = |a: Action| Waiting { task: a.task, op: a.op, object: a.object, site: a.site, held_by: Vec::new() };
        busy.map(waits).collect()
    }

    fn pending(&self) -> Vec<Pending> {
        self.waiting().map(|(action, ready)| Pending { action, ready, clock: ObjectId::NONE }).collect()
    }

    fn irreducible(&self) -> bool {
        self.odd
    }

    fn fork(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn fingerprint(&self) -> Option<u64> {
        let Faults { drop, duplicate, delay, crash } = self.faults;
        let faults = mix(u64::from(drop) << 32 | u64::from(duplicate), u64::from(delay) << 32 | u64::from(crash));
        let monitors = self.monitors.iter().fold(faults, |hash, monitor| mix(hash, monitor.digest()));
        let stop = match &self.stop {
            Stop::Draw { actor, parcel, draws, .. } => {
                draws.iter().fold(mix(*actor as u64 + 1, parcel.digest), |hash, draw| mix(hash, u64::from(*draw)))
            }
            // Each of these is met once, on the way out of a step.
            Stop::Fate { actor, rest, .. } => mix(*actor as u64, rest.len() as u64 + 1),
            Stop::Actions | Stop::End(_) => 0,
        };
        Some(mix(self.digest ^ monitors, stop))
    }
}
