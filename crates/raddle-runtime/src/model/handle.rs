//! Runs handlers: for a message, at the start of an actor, and again with a value that was drawn for it.

use std::mem;
use std::rc::Rc;

use raddle_engine::ids::ObjectId;
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Choice, Variant};
use raddle_engine::trace::{Class, Effect as Touches, Operation, Role, Trace, Word};

use crate::actor::{Fate, Roster, Who};
use crate::model::Code;
use crate::model::apply::Stop;
use crate::model::handler::{self, Handler, own};
use crate::model::handling::{ModelHandling, Payload};
use crate::model::scratch::Scratch;
use crate::model::slot::{ActorInfo, Body};
use crate::model::step::{FAULTS, ModelState, access, task};
use crate::panics::{self, Panicked};

static CHOOSE: Operation = Operation { verb: "choose", class: Class::Choice };

/// The result of a handler, before it is applied to the state.
pub(super) struct Ran {
    /// The actor afterwards, and its hash; `None` if there was a panic.
    pub(super) state: Option<Rc<dyn Handler>>,
    pub(super) digest: u64,
    pub(super) panicked: Option<Box<Panicked>>,
    /// What it did.
    pub(super) handling: Box<ModelHandling>,
}

/// The result of a handler, without the new state of its actor.
pub(super) struct Handled {
    pub(super) handling: Box<ModelHandling>,
    pub(super) panicked: Option<Box<Panicked>>,
    /// The actor as it was.
    pub(super) before: Option<Rc<dyn Handler>>,
}

impl Scratch {
    /// Memory for a handler to [begin](ModelHandling::begin) in.
    #[inline]
    pub(super) fn lend_handling(&mut self, code: &Code, roster: &Rc<Roster>, who: Who) -> Box<ModelHandling> {
        let new = || Box::new(ModelHandling::new(who, code.actor_types.clone(), roster.clone(), Vec::new(), 0));
        self.handling.take().unwrap_or_else(new)
    }

    /// Runs a handler with the values that were drawn for it so far, on a copy of its actor.
    pub(super) fn run_handler(
        &mut self,
        code: &Code,
        roster: &Rc<Roster>,
        info: &ActorInfo,
        body: &Body,
        payload: &Payload,
        draws: Vec<u32>,
    ) -> Ran {
        let mut handling = self.lend_handling(code, roster, info.who);
        handling.begin(info.who, roster, draws, body.next_timer);
        handling.hashed = !self.unhashed;
        let state = body.actor.as_ref().expect("raddle bug: an actor that has stopped receives");
        let spare = self.spare.take().or_else(|| code.spare_slots.actor(info.who.index as usize));
        let handler::HandlerResult { state, digest, panicked } = state.handle(payload, &mut handling, spare);
        Ran { state, digest, panicked, handling }
    }
}

impl ModelState {
    fn handling(&self, actor: usize, draws: Vec<u32>) -> ModelHandling {
        let (who, next_timer) = (self.infos[actor].who, self.actors[actor].body.next_timer);
        ModelHandling::new(who, self.code.actor_types.clone(), self.roster.clone(), draws, next_timer)
    }

    /// Starts an actor, for the first time or after a restart.
    pub(super) fn start(&mut self, actor: usize, trace: &mut Trace) {
        let mut handling = self.handling(actor, Vec::new());
        let started = self.change_body(actor, |body| {
            let state = own(body.actor.as_mut().expect("it was created just now"));
            panics::catch(|| state.start(&mut handling))
        });
        if let Err(Panicked { message, place }) = started {
            return self.fail(Failure::Panic { task: task(actor), message, place });
        }
        if handling.wants.is_some() {
            let message = format!("raddle: {} draws a value when it starts; do so in a handler", handling.who);
            return self.fail(Failure::Panic { task: task(actor), message, place: None });
        }
        self.set_next_timer(actor, handling.next_timer);
        // Messages that an actor sends as it starts are never faulty, so that its creator need not wait for a decision.
        for (effect, site) in handling.effects {
            if !matches!(self.stop, Stop::End(_)) {
                self.here = site;
                self.apply_one(actor, effect, Fate::Arrives, trace);
            }
        }
    }

    fn set_next_timer(&mut self, actor: usize, next_timer: u32) {
        if self.actors[actor].body.next_timer != next_timer {
            self.own_body(actor).next_timer = next_timer;
        }
    }

    /// Marks a change that is not part of the fingerprint.
    pub(super) fn own_body(&mut self, actor: usize) -> &mut Body {
        &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).body
    }

    /// An actor handles a message, with the values that were drawn for it so far.
    pub(super) fn handle(&mut self, actor: usize, payload: Payload, draws: Vec<u32>, trace: &mut Trace) {
        let (info, body) = (&self.infos[actor], &self.actors[actor].body);
        let ran = self.scratch.run_handler(&self.code, &self.roster, info, body, &payload, draws);
        if ran.handling.wants.is_some() {
            return self.ask(actor, payload, ran);
        }
        let body = &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).body;
        let without = self.digest.wrapping_sub(body.digest);
        let handled = body.set(ran);
        self.digest = without.wrapping_add(body.digest);
        self.follow(actor, handled, trace);
    }

    /// The handler asked for a value that has not been drawn. Its effects are discarded, and it runs again with the value.
    pub(super) fn ask(&mut self, actor: usize, payload: Payload, mut ran: Ran) {
        let (choices, site) = ran.handling.wants.expect("raddle bug: nothing was asked for");
        self.stop = Stop::Draw { actor, payload, draws: ran.handling.take_draws(), choices, site };
    }

    /// Applies the effects of a handler, except the change of its actor.
    pub(super) fn follow(&mut self, actor: usize, handled: Handled, trace: &mut Trace) {
        let Handled { mut handling, panicked, before } = handled;
        if let Some(panicked) = panicked {
            return self.supervise(actor, *panicked, trace);
        }
        let effects = mem::take(&mut handling.effects);
        self.scratch.keep_memory(handling, before);
        self.apply_all(actor, effects, trace);
    }

    pub(super) fn draw(
        &mut self,
        actor: usize,
        payload: Payload,
        mut draws: Vec<u32>,
        (choice, of): (Choice, u32),
        trace: &mut Trace,
    ) {
        let nothing = access(ObjectId::NONE, Touches::Read, Role::Plain);
        trace.push(self.account(task(actor), Variant::Ready, &CHOOSE, nothing, of));
        trace.found(Word(u64::from(choice.0)));
        draws.push(choice.0);
        self.handle(actor, payload, draws, trace);
    }

    /// Restarts an actor that has panicked, or fails.
    pub(super) fn supervise(&mut self, actor: usize, Panicked { message, place }: Panicked, trace: &mut Trace) {
        let body = &self.actors[actor].body;
        let may = self.code.rules.restarts.is_some_and(|most| body.restarts < most);
        match self.infos[actor].factory.clone().filter(|_| may) {
            Some(make) => {
                if self.tells() {
                    self.tell_restart(actor, &message, trace);
                }
                self.change_body(actor, |body| {
                    body.actor = Some(make());
                    body.restarts += 1;
                });
                self.start(actor, trace);
            }
            None => self.fail(Failure::Panic { task: task(actor), message, place }),
        }
    }

    pub(super) fn crash(&mut self, actor: usize, trace: &mut Trace) {
        trace.touch(access(FAULTS, Touches::Change, Role::Plain));
        self.faults.crash -= 1;
        let anew = self.infos[actor].factory.as_ref().map(|make| make());
        let restarts = anew.is_some();
        if self.tells() {
            self.tell_crash(actor, restarts, trace);
        }
        self.stopped |= !restarts;
        self.change_body(actor, |body| body.actor = anew);
        self.change_mail(actor, |mail| mail.retain_timers(|_| false));
        if restarts {
            self.start(actor, trace);
        }
    }
}
