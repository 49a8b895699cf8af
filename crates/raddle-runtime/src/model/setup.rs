//! The setup of a model.

use std::hash::Hash;
use std::rc::Rc;

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Effect as Touches, Role, Trace};

use crate::actor::{Address, CausalClock, Delivery, Faults, Monitor, Route, Rules, Who, digest, mix};
use crate::execution::here;
use crate::model::apply::SEND;
use crate::model::handler::{Handler, address};
use crate::model::handling::Payload;
use crate::model::monitors::ModelMonitor;
use crate::model::slot::{ActorInfo, Body, Factory, Mail, Slot};
use crate::model::step::{ModelState, access};
use crate::model::{Code, FirstStep, ModelActor};

/// The first actors and messages of a [model](crate::model::Model), and its rules.
pub struct Setup {
    run: ModelState,
    main: CausalClock,
    created: u32,
}

impl Setup {
    pub(super) fn new(code: Code) -> Self {
        Self { run: ModelState::new(code), main: CausalClock::default(), created: 0 }
    }

    pub(super) fn finish(mut self) -> ModelState {
        let Rules { delivery, faults, .. } = self.run.code.rules;
        self.code().plain = delivery != Delivery::Causal && faults == Faults::default();
        self.run
    }

    fn code(&mut self) -> &mut Code {
        Rc::make_mut(&mut self.run.code)
    }

    /// Sets the order in which messages can be received. Call this before any message is sent.
    #[track_caller]
    pub fn delivery(&mut self, delivery: Delivery) {
        assert!(self.main.sent == 0, "raddle: set the delivery order of a model before its first message");
        self.code().rules.delivery = delivery;
    }

    /// Makes actors that panic anew, up to so often each, instead of calling it a failure; only those made
    /// [by a factory](Self::spawn_with).
    pub fn restart(&mut self, most: u32) {
        self.code().rules.restarts = Some(most);
    }

    /// Whether a message to an actor that has stopped is a failure.
    pub fn fail_on_dead_letters(&mut self, fail: bool) {
        self.code().rules.fail_on_dead_letters = fail;
    }

    /// Whether a message that its receiver [does not handle](crate::actor::Context::unhandled) is a failure.
    pub fn fail_on_unhandled(&mut self, fail: bool) {
        self.code().rules.fail_on_unhandled = fail;
    }

    /// How many faults may happen.
    pub fn faults(&mut self, faults: Faults) {
        self.code().rules.faults = faults;
        self.run.faults = faults;
    }

    /// Allows handlers to create actors of this type.
    pub fn knows<A: ModelActor>(&mut self) {
        self.code().actor_types.add::<A>();
    }

    /// Creates an actor. Handlers can then create others of its type.
    pub fn spawn<A: ModelActor>(&mut self, actor: A) -> Address<A::Msg> {
        self.add(actor, None, false)
    }

    /// Creates an actor that can be restarted: `make` is called again.
    pub fn spawn_with<A: ModelActor>(&mut self, make: impl Fn() -> A + 'static) -> Address<A::Msg> {
        let actor = make();
        self.add(actor, Some(Rc::new(move || Rc::new(make()) as Rc<dyn Handler>)), false)
    }

    /// Creates an actor that stands for something outside the program, such as a user or a socket. Reports call it external.
    pub fn external<A: ModelActor>(&mut self, actor: A) -> Address<A::Msg> {
        self.add(actor, None, true)
    }

    fn add<A: ModelActor>(&mut self, actor: A, factory: Option<Factory>, external: bool) -> Address<A::Msg> {
        self.knows::<A>();
        let who = Rc::make_mut(&mut self.run.roster).next(self.run.code.world, actor.kind());
        let clock = self.main.create(actor.kind());
        self.created += 1;
        self.run.add(who, (TaskId::MAIN, self.created), Rc::new(actor), clock, factory, external);
        // What an actor does when it starts is part of the setup, and not shown in reports.
        self.run.start(who.index as usize, &mut Trace::default());
        address::<A>(who)
    }

    /// Allows an actor to [crash](Faults::crash).
    pub fn may_crash<M>(&mut self, who: &Address<M>) {
        self.run.let_crash(who.who.index as usize);
    }

    /// Puts a message into an actor's mailbox.
    ///
    /// # Panics
    ///
    /// If the actor belongs to another system.
    #[track_caller]
    pub fn send<M>(&mut self, to: &Address<M>, msg: M) {
        let Route::Model { pack, label } = &to.route else { panic!("raddle: {to:?} does not live in this model") };
        assert!(to.who.world == self.run.code.world, "raddle: {to:?} does not live in this model");
        let label = label(&msg);
        let payload: Payload = pack(msg, None, true);
        self.run.here = here();
        self.run.put_first(&mut self.main, to.who.index as usize, label, payload);
    }

    /// Adds a monitor. Call this before any actor is created.
    #[track_caller]
    pub fn monitor<W: Monitor + Clone + Hash>(&mut self, monitor: W) {
        assert!(self.run.actors.is_empty(), "raddle: add the monitors of a model before its first actor");
        self.run.add_monitor(Box::new(monitor));
    }
}

impl ModelState {
    pub(super) fn add(
        &mut self,
        who: Who,
        (parent, ordinal): (TaskId, u32),
        actor: Rc<dyn Handler>,
        clock: CausalClock,
        factory: Option<Factory>,
        external: bool,
    ) {
        let info = ActorInfo { who, parent, ordinal, external, may_crash: false, factory };
        let mail = Mail::new(who.index, self.delivery());
        let slot = Slot { body: Body::new(who.index, actor, clock), mail };
        let at = self.actors.len();
        assert_eq!(at, who.index as usize, "raddle bug: actors are not numbered in order");
        self.digest = self.digest.wrapping_add(slot.body.digest).wrapping_add(slot.mail.digest);
        self.actors.push(Rc::new(slot));
        Rc::make_mut(&mut self.infos).push(info);
    }

    pub(super) fn let_crash(&mut self, actor: usize) {
        Rc::make_mut(&mut self.infos)[actor].may_crash = true;
    }

    pub(super) fn add_monitor(&mut self, monitor: Box<dyn ModelMonitor>) {
        self.monitors.push(Rc::new(monitor));
    }

    /// Sends a message of the setup.
    pub(super) fn put_first(&mut self, main: &mut CausalClock, to: usize, label: &'static str, payload: Payload) {
        let envelope = main.write(TaskId::MAIN, self.delivery(), label, mix(digest(label), payload.variant));
        let (delivery, object) = (self.delivery(), envelope.object());
        let number = self.change_mail(to, |mail| mail.put(delivery, envelope, payload));
        let step = self.account(TaskId::MAIN, Variant::Ready, &SEND, self.sending(to, number, false), 0);
        let message = access(object, Touches::Change, Role::Gives);
        Rc::make_mut(&mut self.code).first_steps.push(FirstStep { step, message, to, number });
    }
}
