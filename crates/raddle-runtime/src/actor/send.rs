//! Sending a message to a mailbox inside an execution.
//!
//! What a handler sends, creates and announces is part of the step in which it received its message. There is one exception: in order of
//! arrival, or if a monitor watches, a send is a step of its own if the handler has taken another step before it (a lock, say), or if a
//! thread sends while other tasks run.

use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Offer, Operation, Ordered, Role, Site};

use crate::actor::actor_mailbox::ActorMailbox;
use crate::actor::address::Who;
use crate::actor::delivery::Delivery;
use crate::actor::mailbox_handle::MailboxHandle;
use crate::actor::rules::Fate;
use crate::coroutine::current;
use crate::execution::{Ask, Execution, Moment, Progress, State, here};

static SEND: Operation = Operation { verb: "send to", class: Class::Send };
static DEAD_LETTER: Operation = Operation { verb: "send in vain to", class: Class::Send };
static FAULT: Operation = Operation { verb: "does a fault happen?", class: Class::Choice };

/// How a message is sent.
enum Way {
    /// In an untraced run: the message is only put into the mailbox.
    Blindly,
    /// As part of a recorded step.
    Noted,
    /// A send that may be faulty, is reported, is a step of its own, or goes to an actor that has stopped.
    WithCare,
}

impl<M: Send + 'static> MailboxHandle<M> {
    /// Sends a message as the current task.
    #[track_caller]
    pub(crate) fn send(&self, who: &Who, msg: M) {
        let here = current::with(|execution| execution.state.borrow().number == self.execution);
        assert!(here == Some(true), "{}", not_here(who));
        self.send_beside(who, self.mail as u32, msg);
    }

    /// Sends a message to an actor that is known to belong to the running execution. A handler of an untraced run only puts the message into
    /// the mailbox.
    #[inline]
    #[track_caller]
    pub(crate) fn send_beside(&self, who: &Who, mail: u32, msg: M) {
        let mut msg = Some(msg);
        current::with(|execution| execution.state.borrow_mut().send_untraced(mail as usize, &mut msg));
        if msg.is_some() {
            self.send_by_another_way(who, &mut msg);
        }
    }

    /// Sends a message that cannot be sent untraced.
    #[track_caller]
    fn send_by_another_way(&self, who: &Who, msg: &mut Option<M>) {
        let way = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let way = self.route(&state);
            if let Way::Blindly = way {
                let place = state.actors.store(self.mail, msg);
                state.send_blindly(self.mail, place);
            }
            way
        });
        let Some(way) = way else { panic!("{}", not_here(who)) };
        if let Some(msg) = msg.take() {
            self.send_noted(*who, msg, matches!(way, Way::WithCare), here());
        }
    }

    /// Decides how a message is sent.
    #[inline]
    fn route(&self, state: &State) -> Way {
        let mailbox = &state.actors.mailboxes[self.mail];
        let faulty = state.actors.systems[mailbox.system as usize].faults.befall_messages();
        let at_once = !mailbox.stopped && (mailbox.delivery != Delivery::Arrival || state.is_one_step());
        if faulty || state.tells() || !at_once {
            return Way::WithCare;
        }
        // After the end of an execution, steps are not counted any more.
        let counted = state.discards_steps && !state.over;
        if counted { Way::Blindly } else { Way::Noted }
    }

    /// Sends a message as part of a recorded step, or with care.
    #[inline(never)]
    fn send_noted(&self, who: Who, msg: M, careful: bool, site: Site) {
        let label = self.label(&msg);
        current::with(|execution| {
            if careful {
                self.send_with_care(execution, who, msg, label, site);
            } else {
                self.arrive_at_once(&mut execution.state.borrow_mut(), msg, label, site);
            }
        });
    }

    /// Sends a message for which [`Way::WithCare`] is needed.
    fn send_with_care(&self, execution: &Execution, who: Who, msg: M, label: &'static str, site: Site) {
        let tells = execution.state.borrow().tells();
        let text = tells.then(|| (self.message_fns.describe)(&msg));
        let fate = self.fate(execution, &msg, site);
        if tells {
            tell_fate(execution, fate, text.as_deref().unwrap_or_default(), who, site);
        }
        let copy = if fate == Fate::Duplicated { (self.message_fns.duplicate)(&msg) } else { None };
        if fate != Fate::Dropped {
            self.put(execution, who, (msg, label), fate == Fate::Delayed, text.clone(), site);
            if let Some(copy) = copy {
                self.put(execution, who, (copy, label), false, text, site);
            }
        }
    }

    /// The ordinary case of [`put`](Self::put): the sender does not wait. The recorded step is the same.
    #[inline]
    fn arrive_at_once(&self, state: &mut State, msg: M, label: &'static str, site: Site) {
        let envelope = state.write_envelope(self.mail, &msg, label);
        let (object, effect, role) = match state.actors.mailboxes[self.mail].delivery.offered() {
            Some(delivery) => {
                (self.head, Effect::Read, Role::Offers(Offer { message: envelope.number, delivery, late: false }))
            }
            None => (state.actors.mailboxes[self.mail].tail, Effect::Change, Role::Plain),
        };
        let ask = Ask { role, posts: true, ..Ask::new(&SEND, object, effect, site) };
        let (name, message) = (envelope.name, envelope.object());
        state.record(&ask, Variant::Ready, |moment| {
            moment.progress(Progress::Changed);
            moment.left(name);
            moment.state.also_touch(message, Effect::Change, Role::Gives, Ordered::RELEASE);
            let place = moment.state.actors.store(self.mail, &mut Some(msg));
            moment.state.put_message(self.mail, envelope, place);
        });
    }

    /// Lets the strategy choose whether a message between actors is lost, duplicated or delayed.
    fn fate(&self, execution: &Execution, msg: &M, site: Site) -> Fate {
        let fates: Vec<Fate> = {
            let state = execution.state.borrow();
            let left = state.actors.system(self.mail).faults;
            if !left.befall_messages() || state.actors.of(state.current).is_none() {
                return Fate::Arrives;
            }
            drop(state);
            left.fates(left.duplicate > 0 && (self.message_fns.duplicate)(msg).is_some()).collect()
        };
        let choices = u32::try_from(fates.len()).expect("there are four fates");
        let fate = fates[execution.choose(choices, site, &FAULT) as usize];
        let mut state = execution.state.borrow_mut();
        let ActorMailbox { system, faults, .. } = state.actors.mailboxes[self.mail];
        state.actors.systems[system as usize].faults.spend(fate);
        let effect = if fate == Fate::Arrives { Effect::Read } else { Effect::Change };
        state.also_touch(faults, effect, Role::Plain, Ordered::RELAXED);
        fate
    }

    fn put(
        &self,
        execution: &Execution,
        who: Who,
        (msg, label): (M, &'static str),
        delayed: bool,
        text: Option<String>,
        site: Site,
    ) {
        let mut state = execution.state.borrow_mut();
        let mut envelope = state.write_envelope(self.mail, &msg, label);
        envelope.delayed = delayed;
        let offered = state.actors.mailboxes[self.mail].delivery.offered();
        // Reduction has lost traces with a delayed message where messages come in order of arrival, and where there are other faults as well.
        let system = state.actors.mailboxes[self.mail].system as usize;
        let among_others = state.actors.systems[system].faults.delay_among_others();
        state.caveats.reduction_unproven |= delayed && offered.is_none() || among_others;
        let mailbox = &state.actors.mailboxes[self.mail];
        let op = if mailbox.stopped { &DEAD_LETTER } else { &SEND };
        let ask = match offered {
            Some(delivery) => {
                let offer = Offer { message: envelope.number, delivery, late: delayed };
                Ask { role: Role::Offers(offer), posts: true, ..Ask::new(op, self.head, Effect::Read, site) }
            }
            None => Ask { posts: true, ..Ask::new(op, mailbox.tail, Effect::Change, site) },
        };
        let mut payload = Some((envelope, msg));
        let send = |moment: &mut Moment<'_>| self.arrive(moment, &mut payload, who, text);
        if offered.is_some() || state.is_one_step() {
            state.record(&ask, Variant::Ready, send);
            drop(state);
        } else {
            drop(state);
            execution.step(ask, send);
        }
        // A message that is still here did not arrive.
        if let Some((envelope, msg)) = payload {
            self.bury(envelope.sender, who, msg);
        }
    }

    /// Puts a message into the mailbox, unless the actor has stopped, which may have happened while the sender waited.
    fn arrive(
        &self,
        moment: &mut Moment<'_>,
        payload: &mut Option<(crate::actor::Envelope, M)>,
        who: Who,
        text: Option<String>,
    ) {
        moment.progress(Progress::Changed);
        let stopped = moment.state.actors.mailboxes[self.mail].stopped;
        let (name, object) =
            payload.as_ref().map(|(envelope, _)| (envelope.name, envelope.object())).expect("it is sent once");
        moment.left(name);
        moment.state.also_touch(object, Effect::Change, Role::Gives, Ordered::RELEASE);
        if let Some(text) = text {
            moment.state.tell_sent(name, text, who, stopped);
        }
        if stopped {
            return;
        }
        let Some((envelope, msg)) = payload.take() else { return };
        let place = moment.state.actors.store(self.mail, &mut Some(msg));
        moment.state.put_message(self.mail, envelope, place);
    }
}

fn not_here(who: &Who) -> String {
    if !current::inside() {
        crate::uncontrolled::note("an actor", None);
    }
    format!("raddle: {who} belongs to an execution that is over, or to another test's")
}

/// Adds a row to the report if a message is lost, duplicated or delayed.
#[cold]
fn tell_fate(execution: &Execution, fate: Fate, text: &str, to: Who, site: Site) {
    let text = match fate {
        Fate::Arrives => return,
        Fate::Dropped => format!("{text} to {to} is lost (fault)"),
        Fate::Duplicated => format!("{text} to {to} arrives twice (fault)"),
        Fate::Delayed => format!("{text} to {to} is delayed (fault)"),
    };
    execution.state.borrow_mut().tell(text, site);
}
