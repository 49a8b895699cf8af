//! Untraced runs of actors: random choices of the next receive, while nothing else can happen and no trace is wanted.
//!
//! Only the number of messages that can be received from each mailbox is needed: nothing is listed, named or recorded. Handlers run one
//! after another on one stack that they borrow. A handler that performs another operation keeps that stack until it has ended. Then its
//! task [takes over](After) on its own stack, as it does after a panic or to stop.
//!
//! The pending receive of an actor stays as it is during an untraced run.

mod counts;
mod supply;

use std::any::Any;
use std::mem;

use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::TaskId;
use raddle_engine::system::Action;

pub(crate) use self::counts::Counts;
pub(crate) use self::supply::Supply;
use crate::actor::actor_mailbox::{ActorMailbox, MessageForm, Named};
use crate::actor::delivery::Delivery;
use crate::actor::mailboxes::{Mailboxes, Member};
use crate::actor::resident::Resident;
use crate::actor::store::StoreSlot;
use crate::execution::{Execution, State};

/// How a handler ended, if it ran on another stack than that of its task.
pub(crate) enum After {
    /// It returned.
    Done,
    /// It panicked.
    Panicked(Box<dyn Any + Send>),
}

impl State {
    /// Begins an untraced run, if all enabled actions are receives and steps are only counted. Returns whether it did.
    #[inline]
    pub(crate) fn begin_supply(&mut self, actions: &[Action]) -> bool {
        self.discards_steps
            && self.plain_list
            && !self.actors.mailboxes.is_empty()
            && self.begin_supply_of_mail(actions)
    }

    fn begin_supply_of_mail(&mut self, actions: &[Action]) -> bool {
        if self.contexts.is_some() || self.story.is_some() {
            return false;
        }
        let Mailboxes { mailboxes, systems, supply, .. } = &mut self.actors;
        let mail = |task: TaskId| self.tasks[task.index()].asks.as_ref().and_then(|ask| ask.mail);
        // An actor that `with` looks at cannot receive. A task that waits for the next message must see each.
        let waited_for = |mailbox: &ActorMailbox| self.objects[mailbox.activity.index()].waiting_unseen > 0;
        let at_home =
            |mailbox: &ActorMailbox| mail(mailbox.task).is_none() || mailbox.actor.is_some() && !waited_for(mailbox);
        // Also empty mailboxes: actors may send to them during the untraced run.
        if !actions.iter().all(|action| mail(action.task).is_some()) || !mailboxes.iter().all(at_home) {
            return false;
        }
        supply.begin(mailboxes.len());
        for action in actions {
            supply.add(mail(action.task).map_or(0, |mail| mail as usize));
        }
        for mailbox in mailboxes.iter_mut() {
            let faulty = systems[mailbox.system as usize].faults.befall_messages();
            mailbox.at_once = !mailbox.stopped && !faulty && mailbox.form != MessageForm::Named;
            mailbox.away = mail(mailbox.task).is_none();
            mailbox.began_with = mailbox.len();
        }
        // An actor that receives has a decision of its own before it does anything else, so the task that released it before does not
        // matter.
        for ActorMailbox { task, .. } in &self.actors.mailboxes {
            self.tasks[task.index()].let_go &=
                self.tasks[task.index()].asks.as_ref().is_none_or(|ask| ask.mail.is_none());
        }
        true
    }

    /// Ends the untraced run: enabled actions are listed again.
    #[cold]
    pub(crate) fn end_supply(&mut self) {
        let Mailboxes { mailboxes, supply, .. } = &mut self.actors;
        let counted = mem::take(&mut supply.counts_on);
        supply.ended += 1;
        for mailbox in mailboxes {
            mailbox.at_once = false;
            let head = &mut self.objects[mailbox.head.index()];
            head.word = mailbox.len() as u64;
            if counted {
                let received = mem::take(&mut mailbox.received);
                let sent = (received as usize + mailbox.len()).saturating_sub(mailbox.began_with) as u32;
                head.version += if mailbox.delivery == Delivery::Arrival { received } else { received + sent };
                self.objects[mailbox.activity.index()].word += u64::from(received);
            }
        }
    }

    /// Returns how a handler ended that ran on another stack, and its actor. The current task continues from there.
    pub(super) fn take_over(&mut self, mail: usize) -> Option<(After, Box<dyn Resident>)> {
        let after = self.actors.supply.after.take()?;
        self.take_back_ask();
        self.task().act = None;
        let home = self.actors.mailboxes[mail].actor.take();
        Some((after, home.expect("raddle bug: a handler ended without its actor")))
    }

    /// Whether the current task has to take over, on its own stack.
    pub(crate) fn has_to_take_over(&self) -> bool {
        self.actors.supply.after.is_some()
    }

    /// Whether the untraced run can go on: nothing but a receive can happen next.
    #[inline]
    pub(crate) fn still_counts(&self) -> bool {
        let odd = self.stale | self.unsettled | self.cells_touched | self.outcome.is_some();
        !odd && self.actors.supply.total() > 0
    }

    /// Receives the message that is drawn. Returns its receiver, the mailbox, and where the contents are stored.
    #[inline]
    fn receive_at_random(&mut self, choices: &mut ForwardChoices) -> Option<(Box<dyn Resident>, usize, StoreSlot)> {
        if !choices.go_on(self.trace.len()) {
            return None;
        }
        let Mailboxes { mailboxes, members, supply, sets, .. } = &mut self.actors;
        let alternatives = supply.total();
        let (mail, nth) = supply.find(choices.draw(alternatives).0);
        let mailbox = &mut mailboxes[mail];
        let place = match mailbox.form {
            MessageForm::Blank => {
                let place = StoreSlot(mailbox.blank.take_open(mailbox.delivery, nth).place);
                supply.set(mail, mailbox.away, mailbox.blank.count_open());
                place
            }
            MessageForm::Slotted => {
                let message = mailbox.slotted.take_open(Delivery::Causal, nth);
                let place = sets.receive(&message, mailbox.task);
                supply.set(mail, mailbox.away, mailbox.slotted.count_open());
                place
            }
            MessageForm::Named => {
                let place = take_named(members, mailbox, nth);
                supply.count(mail, mailbox);
                place
            }
        };
        mailbox.received += 1;
        let (task, home) = (mailbox.task, mailbox.actor.take());
        supply.latest = Some((task, self.turns + 1));
        self.begin_turn(task, alternatives);
        self.note_change();
        self.trace.count();
        Some((home.expect("raddle bug: a message without a receiver"), mail, place))
    }

    /// Sends a message whose contents are in this slot, in a step that is counted and not recorded.
    pub(crate) fn send_blindly(&mut self, mail: usize, place: StoreSlot) {
        self.note_change();
        self.trace.count();
        let envelope = self.write_blank_envelope(mail);
        let ActorMailbox { head, delivery, .. } = self.actors.mailboxes[mail];
        if delivery != Delivery::Arrival && !self.actors.supply.counts_on() {
            // A task that polls the mailbox sees the change, as it does in a traced run.
            let head = &mut self.objects[head.index()];
            head.version += 1;
            self.stale |= head.watched;
        }
        self.put_message(mail, envelope, place);
    }

    /// Sends a message in a handler of an untraced run. Does nothing if the run is traced, or if the message needs more than that.
    #[inline(always)]
    pub(crate) fn send_untraced<M: Send + 'static>(&mut self, mail: usize, msg: &mut Option<M>) {
        let Mailboxes { mailboxes, stores, supply, .. } = &mut self.actors;
        let mailbox = &mut mailboxes[mail];
        if !mailbox.at_once {
            return;
        }
        if mailbox.form != MessageForm::Blank {
            return self.send_causally_untraced(mail, msg);
        }
        let place = stores.get(mailbox.store).put_from(msg);
        mailbox.put_blank(place, self.current, false);
        supply.set(mail, mailbox.away, mailbox.blank.count_open());
        self.note_change();
        self.trace.count();
    }

    /// The same in causal order. Does nothing if too many messages wait.
    fn send_causally_untraced<M: Send + 'static>(&mut self, mail: usize, msg: &mut Option<M>) {
        self.actors.make_room(Delivery::Causal);
        let Mailboxes { mailboxes, stores, supply, sets, .. } = &mut self.actors;
        let mailbox = &mut mailboxes[mail];
        if mailbox.form == MessageForm::Named {
            return;
        }
        let place = stores.get(mailbox.store).put_from(msg);
        mailbox.slotted.put(Delivery::Causal, sets.send(mail, place, self.current, false));
        supply.set(mail, mailbox.away, mailbox.slotted.count_open());
        self.note_change();
        self.trace.count();
    }
}

impl Execution {
    /// Runs handlers of randomly chosen receives on the stack of the caller, until something else has to be decided.
    pub(crate) fn draw_receive(&self) {
        let mut state = self.state.borrow_mut();
        loop {
            // The borrow of the choices ends before the handler runs, which may keep this stack.
            let received = state.receive_at_random(&mut self.drawing.borrow_mut().choices);
            let Some((home, mail, place)) = received else { return };
            self.handles.set(state.current);
            match home.handle_untraced(self, state, mail, place) {
                Some(again) => state = again,
                None => return,
            }
        }
    }
}

/// Takes a message out of a mailbox whose messages have clocks. Its receiver then knows what the sender knew.
#[cold]
fn take_named(members: &mut [Member], mailbox: &mut ActorMailbox, nth: u32) -> StoreSlot {
    let Named { envelope, place } = mailbox.named.take_open(mailbox.delivery, nth);
    if let Some(clock) = members.get_mut(mailbox.task.index()).and_then(|member| member.clock.as_mut()) {
        clock.read(&envelope, mailbox.delivery);
    }
    place
}
