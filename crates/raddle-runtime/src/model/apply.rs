//! What a handler did takes effect, one thing after another.

use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Choice, Variant};
use raddle_engine::trace::{Access, Class, Effect as Touches, Offer, Operation, Role, Trace, Word};

use crate::actor::{Delivery, Fate, Letter, Party, Timer, Who, digest, mix, short_name};
use crate::model::handler::Handler;
use crate::model::handling::{Effect, Handling, Parcel};
use crate::model::slot::{Body, Card, Factory, Mail, Slot};
use crate::model::step::{FAULTS, ROSTER, Run, access, task};
use crate::panics;

static SEND: Operation = Operation { verb: "send", class: Class::Send };
static DEAD_LETTER: Operation = Operation { verb: "send in vain", class: Class::Send };
static DROP: Operation = Operation { verb: "lose a message", class: Class::Send };
static SET_TIMER: Operation = Operation { verb: "set a timer", class: Class::Send };
static SPAWN: Operation = Operation { verb: "spawn", class: Class::Spawn };
static ANNOUNCE: Operation = Operation { verb: "announce", class: Class::Update };
static CHOOSE: Operation = Operation { verb: "choose", class: Class::Choice };
static FAULT: Operation = Operation { verb: "choose a fault", class: Class::Choice };

/// Where an execution is paused.
#[derive(Clone)]
pub(super) enum Stop {
    Actions,
    /// A handler has asked for a value: it is run again once that is drawn.
    Draw {
        actor: usize,
        parcel: Parcel,
        draws: Vec<u32>,
        choices: u32,
    },
    /// A message may be faulty.
    Fate {
        actor: usize,
        fates: Vec<Fate>,
        send: Effect,
        rest: VecDeque<Effect>,
    },
    End(Outcome),
}

impl Run {
    pub(super) fn add(
        &mut self,
        who: Who,
        (parent, ordinal): (TaskId, u32),
        actor: Box<dyn Handler>,
        party: Party,
        factory: Option<Factory>,
        external: bool,
    ) {
        let card = Card { who, parent, ordinal, external, may_crash: false, factory };
        let mut mail = Mail::default();
        mail.refresh(self.delivery());
        let slot = Slot { card: Arc::new(card), body: Arc::new(Body::new(actor, party)), mail: Arc::new(mail) };
        let at = self.actors.len();
        assert_eq!(at, who.index as usize, "raddle bug: actors are not numbered in order");
        self.digest ^= mix(slot.body.digest, 2 * at as u64 + 1) ^ mix(slot.mail.digest, 2 * at as u64 + 2);
        self.actors.push(Arc::new(slot));
    }

    pub(super) fn let_crash(&mut self, actor: usize) {
        let slot = Arc::make_mut(&mut self.actors[actor]);
        let Card { who, parent, ordinal, external, factory, .. } = &*slot.card;
        let (who, parent, ordinal, external, factory) = (*who, *parent, *ordinal, *external, factory.clone());
        slot.card = Arc::new(Card { who, parent, ordinal, external, factory, may_crash: true });
    }

    pub(super) fn add_monitor(&mut self, monitor: Box<dyn super::monitors::Watcher>) {
        self.monitors.push(Arc::new(monitor));
    }

    /// A message of the setup's.
    pub(super) fn put_first(&mut self, main: &mut Party, to: usize, label: &'static str, parcel: Parcel) {
        let letter = main.write(TaskId::MAIN, self.delivery(), label, mix(digest(label), parcel.variant));
        let (delivery, object) = (self.delivery(), letter.object());
        let message = self.change_mail(to, |mail| mail.put(delivery, letter, parcel));
        let step = self.step(TaskId::MAIN, Variant::Ready, &SEND, self.sending(to, message), 0);
        Arc::make_mut(&mut self.first_steps).push((step, access(object, Touches::Change, Role::Gives)));
    }

    fn handling(&self, actor: usize, draws: Vec<u32>) -> Handling {
        let slot = &self.actors[actor];
        Handling::new(slot.card.who, self.code.known.clone(), self.roster.clone(), draws, slot.body.next_timer)
    }

    /// An actor starts, for the first time or anew.
    pub(super) fn start(&mut self, actor: usize, trace: &mut Trace) {
        let mut handling = self.handling(actor, Vec::new());
        let started = self.change_body(actor, |body| {
            let state = body.actor.as_mut().expect("it was created just now");
            panic::catch_unwind(AssertUnwindSafe(|| state.start(&mut handling)))
        });
        if let Err(payload) = started {
            return self.fail(Failure::Panic { task: task(actor), message: panics::message(&*payload), place: None });
        }
        if handling.wants.is_some() {
            let message = format!("raddle: {} draws a value when it starts; do so in a handler", handling.who);
            return self.fail(Failure::Panic { task: task(actor), message, place: None });
        }
        self.set_next_timer(actor, handling.next_timer);
        // What is sent on starting up is safe, so that whoever created the actor can go on.
        for effect in handling.effects {
            if !matches!(self.stop, Stop::End(_)) {
                self.apply_one(actor, effect, Fate::Arrives, trace);
            }
        }
    }

    fn set_next_timer(&mut self, actor: usize, next_timer: u32) {
        if self.actors[actor].body.next_timer != next_timer {
            self.own_body(actor).next_timer = next_timer;
        }
    }

    /// For changes that are no part of the state that is hashed.
    pub(super) fn own_body(&mut self, actor: usize) -> &mut Body {
        Arc::make_mut(&mut Arc::make_mut(&mut self.actors[actor]).body)
    }

    /// Runs a handler with the values that were drawn for it so far.
    pub(super) fn handle(&mut self, actor: usize, parcel: Parcel, draws: Vec<u32>, trace: &mut Trace) {
        let mut handling = self.handling(actor, draws.clone());
        let (before, digest) = (self.actors[actor].body.clone(), self.digest);
        let handled = self.change_body(actor, |body| {
            let state = body.actor.as_mut().expect("raddle bug: an actor that has stopped receives");
            panic::catch_unwind(AssertUnwindSafe(|| state.handle(parcel.clone(), &mut handling)))
        });
        if let Some(choices) = handling.wants {
            Arc::make_mut(&mut self.actors[actor]).body = before;
            self.digest = digest;
            self.stop = Stop::Draw { actor, parcel, draws, choices };
            return;
        }
        drop(before);
        match handled {
            Ok(()) => {
                self.set_next_timer(actor, handling.next_timer);
                self.apply(actor, handling.effects.into(), trace);
            }
            Err(payload) => self.supervise(actor, panics::message(&*payload), trace),
        }
    }

    pub(super) fn draw(
        &mut self,
        actor: usize,
        parcel: Parcel,
        mut draws: Vec<u32>,
        (choice, of): (Choice, u32),
        trace: &mut Trace,
    ) {
        let nothing = access(ObjectId::NONE, Touches::Read, Role::Plain);
        trace.push(self.step(task(actor), Variant::Ready, &CHOOSE, nothing, of));
        trace.last_mut().expect("pushed just now").found = Some(Word(u64::from(choice.0)));
        draws.push(choice.0);
        self.handle(actor, parcel, draws, trace);
    }

    /// What to do about an actor that has panicked.
    fn supervise(&mut self, actor: usize, message: String, trace: &mut Trace) {
        let slot = &self.actors[actor];
        let may = self.code.rules.restarts.is_some_and(|most| slot.body.restarts < most);
        match slot.card.factory.clone().filter(|_| may) {
            Some(make) => {
                self.change_body(actor, |body| {
                    body.actor = Some(make());
                    body.restarts += 1;
                });
                self.start(actor, trace);
            }
            None => self.fail(Failure::Panic { task: task(actor), message, place: None }),
        }
    }

    pub(super) fn crash(&mut self, actor: usize, trace: &mut Trace) {
        trace.touch(access(FAULTS, Touches::Change, Role::Plain));
        self.faults.crash -= 1;
        let anew = self.actors[actor].card.factory.as_ref().map(|make| make());
        let restarts = anew.is_some();
        self.change_body(actor, |body| body.actor = anew);
        let delivery = self.delivery();
        self.change_mail(actor, |mail| {
            mail.timers.clear();
            mail.refresh(delivery);
        });
        if restarts {
            self.start(actor, trace);
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.stop = Stop::End(failure.into());
    }

    fn apply(&mut self, actor: usize, mut effects: VecDeque<Effect>, trace: &mut Trace) {
        while let Some(effect) = effects.pop_front() {
            if let Effect::Send { .. } = effect {
                let fates: Vec<Fate> = self.faults.fates(true).collect();
                if fates.len() > 1 {
                    self.stop = Stop::Fate { actor, fates, send: effect, rest: effects };
                    return;
                }
            }
            self.apply_one(actor, effect, Fate::Arrives, trace);
            if matches!(self.stop, Stop::End(_)) {
                return;
            }
        }
    }

    /// It was decided what becomes of a message.
    pub(super) fn suffer(
        &mut self,
        actor: usize,
        fates: &[Fate],
        send: Effect,
        rest: VecDeque<Effect>,
        choice: Choice,
        trace: &mut Trace,
    ) {
        let fate = fates[choice.index()];
        let effect = if fate == Fate::Arrives { Touches::Read } else { Touches::Change };
        let of = u32::try_from(fates.len()).expect("there are four fates");
        trace.push(self.step(task(actor), Variant::Ready, &FAULT, access(FAULTS, effect, Role::Plain), of));
        trace.last_mut().expect("pushed just now").found = Some(Word(u64::from(choice.0)));
        self.faults.spend(fate);
        self.apply_one(actor, send, fate, trace);
        if !matches!(self.stop, Stop::End(_)) {
            self.apply(actor, rest, trace);
        }
    }

    fn apply_one(&mut self, actor: usize, effect: Effect, fate: Fate, trace: &mut Trace) {
        match effect {
            Effect::Send { to, label, parcel } => self.send(actor, to, label, parcel, fate, trace),
            Effect::Spawn { who, actor: child } => self.spawn(actor, who, child, trace),
            Effect::Timer { timer, label, parcel } => self.set_timer(actor, timer, label, parcel, trace),
            Effect::Cancel(timer) => {
                let delivery = self.delivery();
                self.change_mail(actor, |mail| {
                    mail.timers.retain(|set| set.0 != timer);
                    mail.refresh(delivery);
                });
            }
            Effect::Announce { kind, event } => self.announce(actor, kind, &*event, trace),
            Effect::Becomes => trace.change_behaviour(self.actors[actor].body.party.name),
            Effect::Unhandled(label) => {
                self.unhandled += 1;
                if self.code.rules.fail_on_unhandled {
                    let who = self.actors[actor].card.who;
                    let message = format!("{who} does not handle a {} now", short_name(label));
                    self.fail(Failure::Unhandled { task: task(actor), message });
                }
            }
            Effect::Stop => self.stop_actor(actor),
        }
    }

    /// What still waits for an actor that stops is never received.
    fn stop_actor(&mut self, actor: usize) {
        self.change_body(actor, |body| body.actor = None);
        let delivery = self.delivery();
        let left = self.change_mail(actor, |mail| {
            mail.timers.clear();
            let left = mem::take(&mut mail.queue);
            mail.refresh(delivery);
            left
        });
        for (letter, _) in left {
            self.bury(letter.sender, actor, letter.label);
        }
    }

    fn bury(&mut self, sender: TaskId, to: usize, label: &'static str) {
        self.dead_letters += 1;
        if self.code.rules.fail_on_dead_letters {
            let message =
                format!("a {} was sent to {}, which has stopped", short_name(label), self.actors[to].card.who);
            self.fail(Failure::DeadLetter { task: sender, message });
        }
    }

    fn write(&mut self, actor: usize, label: &'static str, parcel: &Parcel) -> Letter {
        let (delivery, kind) = (self.delivery(), mix(digest(label), parcel.variant));
        if delivery == Delivery::Causal {
            return self.change_body(actor, |body| body.party.write(task(actor), delivery, label, kind));
        }
        self.own_body(actor).party.write(task(actor), delivery, label, kind)
    }

    fn send(&mut self, actor: usize, to: Who, label: &'static str, parcel: Parcel, fate: Fate, trace: &mut Trace) {
        let (to, times) = (to.index as usize, if fate == Fate::Duplicated { 2 } else { 1 });
        for _ in 0..times {
            let mut letter = self.write(actor, label, &parcel);
            letter.delayed = fate == Fate::Delayed;
            if fate == Fate::Dropped {
                self.note(trace, task(actor), &DROP, access(ObjectId::NONE, Touches::Read, Role::Plain));
            } else {
                self.put(actor, to, letter, parcel.clone(), trace);
            }
            if self.code.rules.faults != Default::default() {
                trace.touch(access(FAULTS, Touches::Read, Role::Plain));
            }
        }
    }

    fn put(&mut self, actor: usize, to: usize, letter: Letter, parcel: Parcel, trace: &mut Trace) {
        let (delivery, object, label) = (self.delivery(), letter.object(), letter.label);
        let stopped = self.actors[to].body.actor.is_none();
        // One who has stopped might have waited for this message instead of another, so it is offered all the same.
        let message =
            if stopped { letter.number } else { self.change_mail(to, |mail| mail.put(delivery, letter, parcel)) };
        let op = if stopped { &DEAD_LETTER } else { &SEND };
        self.note(trace, task(actor), op, self.sending(to, message));
        trace.touch(access(object, Touches::Change, Role::Gives));
        if stopped {
            self.bury(task(actor), to, label);
        }
    }

    /// What a send does to a mailbox.
    fn sending(&self, to: usize, message: u32) -> Access {
        match self.delivery().offered() {
            Some(delivery) => access(self.head(to), Touches::Read, Role::Offers(Offer { message, delivery })),
            None => access(self.tail(to), Touches::Change, Role::Plain),
        }
    }

    fn set_timer(&mut self, actor: usize, timer: Timer, label: &'static str, parcel: Parcel, trace: &mut Trace) {
        let letter = self.write(actor, label, &parcel);
        let (delivery, object) = (self.delivery(), letter.object());
        let message = self.change_mail(actor, |mail| mail.set_timer(delivery, timer, letter, parcel));
        let offer = Offer { message, delivery: raddle_engine::trace::Delivery::Unordered };
        self.note(trace, task(actor), &SET_TIMER, access(self.head(actor), Touches::Read, Role::Offers(offer)));
        trace.touch(access(object, Touches::Change, Role::Gives));
    }

    fn spawn(&mut self, parent: usize, who: Who, child: Box<dyn Handler>, trace: &mut Trace) {
        let known = Arc::make_mut(&mut self.roster).next(who.world, who.kind);
        assert_eq!(known, who, "raddle bug: actors are not numbered in order");
        let body = self.own_body(parent);
        body.children += 1;
        let (party, ordinal) = (body.party.create(who.kind), body.children);
        self.note(trace, task(parent), &SPAWN, access(ROSTER, Touches::Change, Role::Plain));
        let number = task(who.index as usize).number();
        trace.last_mut().expect("pushed just now").found = Some(Word(u64::from(number)));
        self.add(who, (task(parent), ordinal), child, party, None, false);
        self.start(who.index as usize, trace);
    }

    fn announce(&mut self, actor: usize, kind: TypeId, event: &dyn Any, trace: &mut Trace) {
        for monitor in 0..self.monitors.len() {
            if self.monitors[monitor].hears() != kind {
                continue;
            }
            self.note(trace, task(actor), &ANNOUNCE, access(self.monitor(monitor), Touches::Change, Role::Plain));
            let watcher = Arc::make_mut(&mut self.monitors[monitor]);
            if let Err(message) = watcher.observe(event) {
                let name = watcher.name().to_owned();
                return self.fail(Failure::Violation { task: task(actor), monitor: name, message });
            }
        }
    }
}
