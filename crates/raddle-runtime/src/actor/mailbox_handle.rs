//! Handles to the mailboxes of actors inside an execution, as addresses have them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::trace::{Effect, Ordered, Role, Site};

use crate::actor::actor_mailbox::ActorMailbox;
use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::Actor;
use crate::actor::life::{Home, Life};
use crate::actor::mailboxes::dead_letter;
use crate::actor::resident::Resident;
use crate::actor::system::{HEAD, Make, System, TAIL, lock};
use crate::coroutine::current;
use crate::execution::Execution;
use crate::thread::{Builder, run_task};

/// A handle to the mailbox of an actor. The messages and the actor are stored in the execution.
pub(crate) struct MailboxHandle<M> {
    pub(crate) system: System,
    pub(super) execution: u64,
    /// Its number among the mailboxes of the execution.
    pub(crate) mail: usize,
    pub(crate) head: ObjectId,
    pub(crate) message_fns: MessageFns<M>,
}

/// The functions by which an actor describes its messages.
pub(crate) struct MessageFns<M> {
    pub(crate) label: fn(&M) -> &'static str,
    pub(crate) describe: fn(&M) -> String,
    pub(crate) duplicate: fn(&M) -> Option<M>,
}

impl<M> MessageFns<M> {
    pub(crate) fn of<A: Actor<Msg = M>>() -> Self {
        Self { label: A::label, describe: A::describe, duplicate: A::duplicate }
    }
}

/// Creates an actor as a task.
pub(crate) fn spawn<A: Actor>(
    system: &System,
    actor: A,
    make: Option<Make<A>>,
    kind: &'static str,
    site: Site,
) -> Address<A::Msg> {
    let inside = system.inner.inside.expect("raddle bug: a task outside an execution");
    let who = lock(&system.inner.roster).next(system.inner.world, kind);
    let made = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        if state.number != inside.execution {
            return None;
        }
        let (head, tail) = (state.add_object(&HEAD, 0), state.add_object(&TAIL, 0));
        let creator = state.current;
        let clock = state.actors.clock(creator).create(kind);
        Some((state.actors.mailboxes.len(), head, tail, clock))
    });
    let (mail, head, tail, clock) =
        made.flatten().expect("raddle: this system of actors belongs to an execution that is over");
    let message_fns = MessageFns::of::<A>();
    let mailbox =
        Arc::new(MailboxHandle { system: system.clone(), execution: inside.execution, mail, head, message_fns });
    let address = Address { who, route: Route::Task { mail: mail as u32, mailbox: mailbox.clone() } };
    let home = Box::new(Home::new(actor, system.clone(), address.clone()));
    let life = Life::new(mailbox, address.clone(), make);
    let builder = Builder::new().name(who.to_string());
    let task = builder.start(Box::new(move || run_task(move || life.live())), site).task();
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        state.also_touch(inside.roster, Effect::Change, Role::Plain, Ordered::RELAXED);
        let delivery = state.actors.systems[inside.system as usize].rules.delivery;
        let form = state.form_of_messages(delivery);
        let mailbox = ActorMailbox {
            task,
            system: inside.system,
            head,
            tail,
            activity: inside.activity,
            faults: inside.faults,
            delivery,
            may_crash: false,
            stopped: false,
            plain: true,
            received: 0,
            form,
            away: true,
            at_once: false,
            store: state.actors.stores.for_type::<A::Msg>(),
            blank: Default::default(),
            slotted: Default::default(),
            named: Default::default(),
            began_with: 0,
            timers: Vec::new(),
            timed: Vec::new(),
            since: state.turns,
            actor: Some(home),
        };
        let creator = state.current;
        state.actors.add(mailbox, clock, creator);
    });
    address
}

impl<M: Send + 'static> MailboxHandle<M> {
    pub(crate) fn label(&self, msg: &M) -> &'static str {
        (self.message_fns.label)(msg)
    }

    /// Takes everything out that belongs to the user, so that it is dropped while nothing of the execution is borrowed. If a destructor
    /// sends to this actor later, the message is a dead letter: the actor has stopped.
    pub(crate) fn vacate(&self) -> impl Sized + use<M> {
        let take = |execution: &Execution| {
            let mut state = execution.state.borrow_mut();
            if state.number != self.execution {
                return None;
            }
            let mailbox = state.actors.mailboxes.get_mut(self.mail)?;
            mailbox.stopped = true;
            let actor = mailbox.actor.take();
            Some((actor, state.actors.take_all::<M>(self.mail), state.actors.take_timed::<M>(self.mail, |_| true)))
        };
        current::with(take).flatten()
    }

    /// A message that nobody will receive is dropped before the failure is reported: its destructor may report something as well. After the
    /// end of the execution, a dead letter is no failure.
    pub(crate) fn bury(&self, sender: TaskId, who: Who, msg: M) {
        self.system.inner.dead_letters.fetch_add(1, Ordering::SeqCst);
        let over = current::with(|execution| execution.state.borrow().over).unwrap_or(true);
        let fails = lock(&self.system.inner.rules).fail_on_dead_letters && !over;
        let failure = fails.then(|| dead_letter(sender, who, &(self.message_fns.describe)(&msg)));
        drop(msg);
        if let Some(failure) = failure {
            current::with(|execution| execution.fail(failure));
        }
    }
}

impl<M> MailboxHandle<M> {
    pub(crate) fn let_crash(&self) {
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let mailbox = &mut state.actors.mailboxes[self.mail];
            (mailbox.may_crash, mailbox.plain) = (true, false);
        });
    }

    /// The task of the actor.
    pub(crate) fn task(&self) -> Option<TaskId> {
        current::with(|execution| {
            let state = execution.state.borrow();
            (state.number == self.execution).then(|| state.actors.mailboxes[self.mail].task)
        })
        .flatten()
    }

    /// Takes the actor out of its mailbox; `None` if it is in a handler or has stopped.
    pub(crate) fn take_actor(&self) -> Option<Box<dyn Resident>> {
        let take = |execution: &Execution| {
            let mut state = execution.state.borrow_mut();
            if state.number != self.execution {
                return None;
            }
            state.actors.mailboxes.get_mut(self.mail)?.actor.take()
        };
        current::with(take).flatten()
    }

    /// Puts the actor back.
    pub(crate) fn put_actor(&self, actor: Box<dyn Resident>) {
        current::with(|execution| execution.state.borrow_mut().actors.mailboxes[self.mail].actor = Some(actor));
    }

    /// Whether the actor has stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        current::with(|execution| execution.state.borrow().actors.mailboxes[self.mail].stopped).unwrap_or(true)
    }
}
