//! Applies the effects of a handler to the state, one after another.

use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::rc::Rc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Choice, Variant};
use raddle_engine::trace::{Access, Class, Effect as Touches, Note, Offer, Operation, Role, Site, Step, Trace, Word};

use crate::actor::{Delivery, Envelope, Fate, Faults, Timer, Who, mix, short_name};
use crate::model::handler::Handler;
use crate::model::handling::{Effect, Payload};
use crate::model::step::{FAULTS, ModelState, ROSTER, access, task};
use crate::panics::{self, Panicked};

pub(super) static SEND: Operation = Operation { verb: "send", class: Class::Send };
static DEAD_LETTER: Operation = Operation { verb: "send in vain", class: Class::Send };
static DROP: Operation = Operation { verb: "lose a message", class: Class::Send };
static SET_TIMER: Operation = Operation { verb: "set a timer", class: Class::Send };
static SPAWN: Operation = Operation { verb: "spawn", class: Class::Spawn };
static ANNOUNCE: Operation = Operation { verb: "announce", class: Class::Update };

static FAULT: Operation = Operation { verb: "does a fault happen?", class: Class::Choice };

/// Where an execution is paused.
#[derive(Clone)]
pub(super) enum Stop {
    Actions,
    /// A handler has asked for a value: it is run again once that is drawn.
    Draw {
        actor: usize,
        payload: Payload,
        draws: Vec<u32>,
        choices: u32,
        site: Site,
    },
    /// A message may be faulty.
    Fate {
        actor: usize,
        fates: Vec<Fate>,
        send: (Effect, Site),
        rest: VecDeque<(Effect, Site)>,
    },
    End(Outcome),
}

/// Whether the budget of faults for messages is used up.
fn spares_messages(faults: Faults) -> bool {
    (faults.drop, faults.duplicate, faults.delay) == (0, 0, 0)
}

impl ModelState {
    pub(super) fn fail(&mut self, failure: Failure) {
        self.stop = Stop::End(failure.into());
    }

    /// Applies what a handler did, and keeps the memory it was written to.
    pub(super) fn apply_all(&mut self, actor: usize, mut effects: Vec<(Effect, Site)>, trace: &mut Trace) {
        if spares_messages(self.faults) {
            for (effect, site) in effects.drain(..) {
                self.here = site;
                self.apply_one(actor, effect, Fate::Arrives, trace);
                if matches!(self.stop, Stop::End(_)) {
                    break;
                }
            }
            if let Some(handling) = &mut self.scratch.handling {
                handling.effects = effects;
            }
        } else {
            self.apply(actor, effects.into(), trace);
        }
    }

    fn apply(&mut self, actor: usize, mut effects: VecDeque<(Effect, Site)>, trace: &mut Trace) {
        while let Some((effect, site)) = effects.pop_front() {
            if matches!(effect, Effect::Send { .. }) && !spares_messages(self.faults) {
                let fates = self.faults.fates(true).collect();
                self.stop = Stop::Fate { actor, fates, send: (effect, site), rest: effects };
                return;
            }
            self.here = site;
            self.apply_one(actor, effect, Fate::Arrives, trace);
            if matches!(self.stop, Stop::End(_)) {
                return;
            }
        }
    }

    /// Applies the fault that was chosen for a message, or delivers it.
    pub(super) fn suffer(
        &mut self,
        actor: usize,
        fates: &[Fate],
        (send, site): (Effect, Site),
        rest: VecDeque<(Effect, Site)>,
        choice: Choice,
        trace: &mut Trace,
    ) {
        let fate = fates[choice.index()];
        self.here = site;
        let effect = if fate == Fate::Arrives { Touches::Read } else { Touches::Change };
        let of = u32::try_from(fates.len()).expect("there are four fates");
        trace.push(self.account(task(actor), Variant::Ready, &FAULT, access(FAULTS, effect, Role::Plain), of));
        trace.found(Word(u64::from(choice.0)));
        self.faults.spend(fate);
        self.apply_one(actor, send, fate, trace);
        if !matches!(self.stop, Stop::End(_)) {
            self.apply(actor, rest, trace);
        }
    }

    pub(super) fn apply_one(&mut self, actor: usize, effect: Effect, fate: Fate, trace: &mut Trace) {
        if self.tells() {
            self.tell_effect(actor, &effect, trace);
        }
        match effect {
            Effect::Send { to, label, payload } => self.send(actor, to, label, payload, fate, trace),
            Effect::Spawn { who, actor: child } => self.spawn(actor, who, child, trace),
            Effect::Timer { timer, label, payload } => self.set_timer(actor, timer, label, payload, trace),
            Effect::Cancel(timer) => {
                self.change_mail(actor, |mail| mail.retain_timers(|set| set != timer));
            }
            Effect::Hint(value) => trace.note(Note::Hint(value)),
            Effect::Announce { kind, called, event } => self.announce(actor, kind, called, &*event, trace),
            Effect::Becomes(_) => trace.change_behaviour(self.actors[actor].body.clock.name),
            Effect::Unhandled(label) => {
                self.unhandled += 1;
                if self.code.rules.fail_on_unhandled {
                    let who = self.infos[actor].who;
                    let message = format!("{who} does not handle a {} now", short_name(label));
                    self.fail(Failure::Unhandled { task: task(actor), message });
                }
            }
            Effect::Stop => self.stop_actor(actor),
        }
    }

    /// Discards the messages of an actor that stops.
    fn stop_actor(&mut self, actor: usize) {
        self.stopped = true;
        self.change_body(actor, |body| body.actor = None);
        let delivery = self.delivery();
        let left = self.change_mail(actor, |mail| mail.clear(delivery));
        for (envelope, _) in left {
            self.bury(envelope.sender, actor, envelope.label);
        }
    }

    fn bury(&mut self, sender: TaskId, to: usize, label: &'static str) {
        self.dead_letters += 1;
        if self.code.rules.fail_on_dead_letters {
            let message = format!("a {} was sent to {}, which has stopped", short_name(label), self.infos[to].who);
            self.fail(Failure::DeadLetter { task: sender, message });
        }
    }

    fn write(&mut self, actor: usize, label: &'static str, payload: &Payload) -> Envelope {
        let (delivery, kind) = (self.delivery(), mix(self.code.labels.digest(label), payload.variant));
        if delivery == Delivery::Causal {
            return self.change_body(actor, |body| body.clock.write(task(actor), delivery, label, kind));
        }
        self.own_body(actor).clock.write(task(actor), delivery, label, kind)
    }

    fn send(&mut self, actor: usize, to: u32, label: &'static str, payload: Payload, fate: Fate, trace: &mut Trace) {
        if fate == Fate::Duplicated {
            self.send_once(actor, to as usize, label, payload.clone(), Fate::Arrives, trace);
        }
        self.send_once(actor, to as usize, label, payload, fate, trace);
    }

    fn send_once(
        &mut self,
        actor: usize,
        to: usize,
        label: &'static str,
        payload: Payload,
        fate: Fate,
        trace: &mut Trace,
    ) {
        let mut envelope = self.write(actor, label, &payload);
        envelope.delayed = fate == Fate::Delayed;
        // Reduction has lost traces with a delayed message where messages come in order of arrival, and where there are other faults as well.
        self.reduction_unproven |= envelope.delayed && self.delivery() == Delivery::Arrival;
        self.reduction_unproven |= self.faults.delay_among_others();
        let words = if self.tells() { Some(self.words_for_sent(to, label, &payload)) } else { None };
        let mut stopped = false;
        if fate == Fate::Dropped {
            self.note(trace, task(actor), &DROP, access(ObjectId::NONE, Touches::Read, Role::Plain));
        } else {
            stopped = self.put(actor, to, envelope, payload, trace);
        }
        if let Some(words) = words {
            self.tell_sent(task(actor), &words, stopped, trace);
            self.tell_fate(actor, &words, fate, trace);
        }
        if self.code.rules.faults != Default::default() {
            trace.touch(access(FAULTS, Touches::Read, Role::Plain));
        }
    }

    /// Puts a message into a mailbox. Returns true if the receiver has stopped.
    fn put(&mut self, actor: usize, to: usize, envelope: Envelope, payload: Payload, trace: &mut Trace) -> bool {
        let (delivery, object, label, name) = (self.delivery(), envelope.object(), envelope.label, envelope.name);
        let late = envelope.delayed;
        let stopped = self.actors[to].body.actor.is_none();
        // One who has stopped might have waited for this message instead of another, so it is offered all the same.
        let message =
            if stopped { envelope.number } else { self.change_mail(to, |mail| mail.put(delivery, envelope, payload)) };
        let op = if stopped { &DEAD_LETTER } else { &SEND };
        let step = self.account(task(actor), Variant::Ready, op, self.sending(to, message, late), 0);
        trace.push(Step { left: Some(Word(name)), ..step });
        trace.touch(access(object, Touches::Change, Role::Gives));
        if !stopped {
            trace.note(Note::Sent(task(to)));
        }
        if stopped {
            self.bury(task(actor), to, label);
        }
        stopped
    }

    /// The access of a send to the mailbox.
    pub(super) fn sending(&self, to: usize, message: u32, late: bool) -> Access {
        match self.delivery().offered() {
            Some(delivery) => access(self.head(to), Touches::Read, Role::Offers(Offer { message, delivery, late })),
            None => access(self.tail(to), Touches::Change, Role::Plain),
        }
    }

    fn set_timer(&mut self, actor: usize, timer: Timer, label: &'static str, payload: Payload, trace: &mut Trace) {
        let envelope = self.write(actor, label, &payload);
        let says = if self.tells() { Some(self.says(actor, label, &payload)) } else { None };
        let object = envelope.object();
        let message = self.change_mail(actor, |mail| mail.set_timer(timer, envelope, payload));
        let offer = Offer { message, delivery: raddle_engine::trace::Delivery::Unordered, late: false };
        self.note(trace, task(actor), &SET_TIMER, access(self.head(actor), Touches::Read, Role::Offers(offer)));
        trace.touch(access(object, Touches::Change, Role::Gives));
        if let Some(says) = says {
            self.tell_timer(actor, &says, trace);
        }
    }

    fn spawn(&mut self, parent: usize, who: Who, child: Rc<dyn Handler>, trace: &mut Trace) {
        let known = Rc::make_mut(&mut self.roster).next(who.world, who.kind);
        assert_eq!(known, who, "raddle bug: actors are not numbered in order");
        let body = self.own_body(parent);
        body.children += 1;
        let (clock, ordinal) = (body.clock.create(who.kind), body.children);
        self.note(trace, task(parent), &SPAWN, access(ROSTER, Touches::Change, Role::Plain));
        let number = task(who.index as usize).number();
        trace.found(Word(u64::from(number)));
        self.add(who, (task(parent), ordinal), child, clock, None, false);
        self.start(who.index as usize, trace);
    }

    fn announce(&mut self, actor: usize, kind: TypeId, called: &'static str, event: &dyn Any, trace: &mut Trace) {
        for monitor in 0..self.monitors.len() {
            if self.monitors[monitor].hears() != kind {
                continue;
            }
            self.note(trace, task(actor), &ANNOUNCE, access(self.monitor(monitor), Touches::Change, Role::Plain));
            if self.tells() {
                self.tell_announced(actor, called, monitor, trace);
            }
            let watcher = Rc::make_mut(&mut self.monitors[monitor]);
            match panics::catch(|| watcher.observe(event)) {
                Ok(Ok(())) => {}
                Ok(Err(message)) => {
                    let name = watcher.name().to_owned();
                    return self.fail(Failure::Violation { task: task(actor), monitor: name, message });
                }
                Err(Panicked { message, place }) => {
                    return self.fail(Failure::Panic { task: task(actor), message, place });
                }
            }
        }
    }
}
