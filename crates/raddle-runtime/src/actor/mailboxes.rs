//! The mailboxes of the running execution, and the tasks that send to them.
//!
//! The contents of messages are in [stores](crate::actor::store). An execution is on one OS thread, so no lock is needed. Destructors of user
//! messages may perform operations, so no message is dropped here.

use std::mem;
use std::ops::Range;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Access, Effect, Note, Ordered, Role, Word};

use crate::actor::actor_mailbox::{ActorMailbox, MessageForm, Named, Taken};
use crate::actor::address::Who;
use crate::actor::causal_sets::CausalSets;
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::envelope::{CausalClock, Envelope};
use crate::actor::labels::Labels;
use crate::actor::rules::{Faults, Rules};
use crate::actor::store::{StoreSlot, Stores};
use crate::actor::tell::shorten;
use crate::actor::untraced::Supply;
use crate::execution::{Moment, Progress, State};

/// All mailboxes of an execution, by number.
#[derive(Default)]
pub(crate) struct Mailboxes {
    pub(crate) mailboxes: Vec<ActorMailbox>,
    /// The contents of their messages.
    pub(crate) stores: Stores,
    /// The systems that they belong to, by number.
    pub(crate) systems: Vec<ActorSystem>,
    /// By task.
    pub(super) members: Vec<Member>,
    /// Which tasks know of which messages, for causal order in untraced runs.
    pub(crate) sets: CausalSets,
    /// In untraced runs: how many messages can be received, by mailbox.
    pub(crate) supply: Supply,
    /// The mailboxes that have changed since the enabled actions were last listed.
    pub(crate) changed: Vec<u32>,
    pub(crate) labels: Labels,
    pub(crate) somebody_waits_for_quiet: bool,
    /// The current task checks a condition; no other task runs meanwhile.
    pub(crate) checks_condition: bool,
}

/// What mailboxes need to know about their system of actors.
pub(crate) struct ActorSystem {
    pub(crate) rules: Rules,
    /// How many faults may still happen.
    pub(crate) faults: Faults,
}

/// A task that sends or receives.
#[derive(Default)]
pub(super) struct Member {
    pub(super) clock: Option<CausalClock>,
    /// Its mailbox, if it is an actor.
    mail: Option<u32>,
}

impl Mailboxes {
    /// Removes all mailboxes. Actors that are still in them belong to abandoned tasks and are not dropped.
    pub(crate) fn clear(&mut self) {
        for mailbox in self.mailboxes.drain(..) {
            mem::forget(mailbox.actor);
        }
        self.stores.clear();
        self.systems.clear();
        self.members.clear();
        self.changed.clear();
        self.supply.clear();
        self.somebody_waits_for_quiet = false;
        self.checks_condition = false;
    }

    /// Lists what can be received from a mailbox.
    #[inline]
    pub(crate) fn list_receives(&mut self, mail: u32, actions: &mut Vec<Action>, action: impl Fn(Variant) -> Action) {
        let mailbox = &self.mailboxes[mail as usize];
        if mailbox.count_open() == 0 {
            return;
        }
        if mailbox.delivery == Delivery::Arrival {
            return actions.push(action(Variant::Ready));
        }
        mailbox.each_open(|number| actions.push(action(Variant::Message(number))));
    }

    /// Replaces a part of the list of actions by what can be received now.
    #[inline]
    pub(crate) fn relist(
        &mut self,
        mail: u32,
        actions: &mut Vec<Action>,
        listed: Range<usize>,
        action: impl Fn(Variant) -> Action,
    ) {
        let mailbox = &self.mailboxes[mail as usize];
        let open = mailbox.count_open();
        let only = match open {
            0 => None,
            _ if mailbox.delivery == Delivery::Arrival => Some(Variant::Ready),
            // Nothing holds back the first message.
            1 => mailbox.first_number().map(Variant::Message),
            _ => None,
        };
        let mut at = listed.start;
        match only {
            Some(variant) if listed.len() == 1 => return actions[at] = action(variant),
            Some(variant) if listed.is_empty() => return actions.insert(at, action(variant)),
            None if open == 0 => {}
            _ => mailbox.each_open(|number| {
                let action = action(only.unwrap_or(Variant::Message(number)));
                if at < listed.end {
                    actions[at] = action
                } else {
                    actions.insert(at, action)
                }
                at += 1;
            }),
        }
        for gone in (at..listed.end).rev() {
            actions.remove(gone);
        }
    }

    #[inline]
    fn member(&mut self, task: TaskId) -> &mut Member {
        if self.members.len() <= task.index() {
            self.members.resize_with(task.index() + 1, Member::default);
        }
        &mut self.members[task.index()]
    }

    /// The clock of a task that sends or creates actors. A thread that is no actor is named by its number.
    #[inline]
    pub(crate) fn clock(&mut self, task: TaskId) -> &mut CausalClock {
        self.member(task).clock.get_or_insert_with(|| match task {
            TaskId::MAIN => CausalClock::default(),
            thread => CausalClock::new(u64::from(thread.number())),
        })
    }

    /// Adds the mailbox of a new actor.
    pub(crate) fn add(&mut self, mailbox: ActorMailbox, clock: CausalClock, creator: TaskId) {
        self.sets.create(creator, mailbox.task);
        let mail = u32::try_from(self.mailboxes.len()).expect("raddle bug: more than 2^32 actors");
        *self.member(mailbox.task) = Member { clock: Some(clock), mail: Some(mail) };
        self.mailboxes.push(mailbox);
    }

    /// The mailbox of the actor that is this task.
    #[inline]
    pub(crate) fn of(&self, task: TaskId) -> Option<&ActorMailbox> {
        Some(&self.mailboxes[self.members.get(task.index())?.mail? as usize])
    }

    /// The system that a mailbox belongs to.
    #[inline]
    pub(crate) fn system(&self, mail: usize) -> &ActorSystem {
        &self.systems[self.mailboxes[mail].system as usize]
    }

    /// Whether the actor of this mailbox may crash instead of receiving.
    pub(crate) fn may_crash(&self, mail: usize) -> bool {
        self.mailboxes[mail].may_crash && self.system(mail).faults.crash > 0
    }
}

impl Drop for Mailboxes {
    fn drop(&mut self) {
        self.clear();
    }
}

impl State {
    /// Whether what the current task does now is part of its latest step. So it is if the task is an actor that has taken no step since it
    /// received, or if there are no tasks yet but main and actors.
    pub(crate) fn is_one_step(&self) -> bool {
        let begun = self.turns > 0 || self.tasks.len() > self.actors.mailboxes.len() + 1;
        let untraced = self.actors.supply.latest == Some((self.current, self.turns));
        !begun || untraced || self.actors.of(self.current).is_some_and(|mailbox| mailbox.since == self.turns)
    }

    /// The form of the messages of a new mailbox.
    pub(super) fn form_of_messages(&self, delivery: Delivery) -> MessageForm {
        match delivery {
            _ if !self.discards_steps => MessageForm::Named,
            Delivery::Causal if self.actors.sets.are_in_use() => MessageForm::Slotted,
            Delivery::Causal => MessageForm::Named,
            Delivery::Unordered | Delivery::PerSender | Delivery::Arrival => MessageForm::Blank,
        }
    }

    /// Records an access of the latest step to an object that nobody waits for.
    #[inline]
    pub(crate) fn also_touch(&mut self, object: ObjectId, effect: Effect, role: Role, ordered: Ordered) {
        self.trace.touch(Access { object, effect, role, ordered });
    }

    /// A new object for a message that the current task sends through a channel.
    pub(crate) fn next_message(&mut self) -> ObjectId {
        let task = self.current;
        self.actors.clock(task).next_message(task)
    }

    /// Makes the envelope of the next message that the current task sends to a mailbox.
    #[inline]
    pub(crate) fn write_envelope<M>(&mut self, mail: usize, msg: &M, label: &'static str) -> Envelope {
        let (task, delivery) = (self.current, self.actors.mailboxes[mail].delivery);
        if self.discards_steps {
            return self.write_blank_envelope(mail);
        }
        let kind = self.actors.labels.type_of_message(msg, label);
        let mut envelope = self.actors.clock(task).write(task, delivery, label, kind);
        if delivery.offered().is_some() {
            envelope.number = self.actors.mailboxes[mail].free_number(envelope.number);
        }
        envelope
    }

    /// The same for untraced runs, which need no names.
    #[inline]
    pub(super) fn write_blank_envelope(&mut self, mail: usize) -> Envelope {
        let (task, delivery) = (self.current, self.actors.mailboxes[mail].delivery);
        self.actors.make_room(delivery);
        if self.actors.mailboxes[mail].form != MessageForm::Named {
            return Envelope::blank(task, 0);
        }
        self.actors.clock(task).write_blank(task, delivery, 0)
    }

    /// Puts a message into a mailbox. Its contents are already in the store, at `place`.
    #[inline]
    pub(crate) fn put_message(&mut self, mail: usize, mut envelope: Envelope, place: StoreSlot) {
        let Mailboxes { mailboxes, supply, sets, changed, .. } = &mut self.actors;
        let mailbox = &mut mailboxes[mail];
        self.trace.note(Note::Sent(mailbox.task));
        match mailbox.form {
            MessageForm::Named => {
                if self.discards_steps {
                    envelope.number = place.0;
                }
                mailbox.named.put(mailbox.delivery, Named { envelope, place });
            }
            MessageForm::Blank => mailbox.put_blank(place, envelope.sender, envelope.delayed),
            MessageForm::Slotted => {
                let message = sets.send(mail, place, envelope.sender, envelope.delayed);
                mailbox.slotted.put(mailbox.delivery, message);
            }
        }
        if supply.counts_on() {
            supply.count(mail, mailbox);
        } else {
            self.objects[mailbox.head.index()].word = mailbox.len() as u64;
            changed.push(mail as u32);
        }
    }
}

impl Moment<'_> {
    /// Takes what the chosen receive says out of a mailbox, records it, and calls `contents` with it.
    #[inline]
    pub(crate) fn receive<R>(&mut self, mail: usize, contents: impl FnOnce(&mut State, Taken) -> R) -> R {
        self.progress(Progress::Changed);
        let (variant, turns) = (self.variant(), self.state.turns);
        let Mailboxes { mailboxes, systems, changed, sets, .. } = &mut self.state.actors;
        let mailbox = &mut mailboxes[mail];
        let delivery = mailbox.delivery;
        mailbox.since = turns;
        let (activity, task) = (mailbox.activity, mailbox.task);
        let (taken, envelope) = match variant {
            Variant::Ready => mailbox.take(sets, None),
            Variant::Message(number) => mailbox.take(sets, Some(number)),
            Variant::TimedOut => mailbox.take_timer(),
            Variant::Spurious => {
                systems[mailbox.system as usize].faults.crash -= 1;
                (Taken::Crash, None)
            }
        };
        let (faults, tail) = (mailbox.faults, mailbox.tail);
        // The message may have been delayed, or have overtaken a delayed one. Then a send that comes first makes a difference.
        let looks_behind = delivery == Delivery::Arrival && systems[mailbox.system as usize].rules.faults.delay > 0;
        self.state.objects[mailbox.head.index()].word = mailbox.len() as u64;
        changed.push(mail as u32);
        let object = &mut self.state.objects[activity.index()];
        object.word += 1;
        self.state.unsettled |= object.waiting_unseen > 0;
        if self.state.trace.discards_steps() {
            if let Some(envelope) =
                envelope.filter(|_| delivery == Delivery::Causal && !self.state.actors.sets.are_in_use())
            {
                self.state.actors.clock(task).read(&envelope, Delivery::Causal);
            }
            return contents(self.state, taken);
        }
        self.state.also_touch(activity, Effect::Read, Role::Gives, Ordered::BOTH);
        if looks_behind {
            self.state.also_touch(tail, Effect::Read, Role::Plain, Ordered::RELAXED);
        }
        match envelope {
            Some(envelope) => {
                self.found(envelope.name);
                self.state.also_touch(envelope.object(), Effect::Change, Role::Takes, Ordered::ACQUIRE);
                let receiver = self.state.actors.clock(task);
                receiver.read(&envelope, delivery);
                let step = StepIx::next_of(self.state.trace.len() - 1);
                let receipt = envelope.receipt(step, receiver.name);
                self.state.trace.receive(receipt);
            }
            None => self.state.also_touch(faults, Effect::Change, Role::Plain, Ordered::RELAXED),
        }
        contents(self.state, taken)
    }
}

impl Mailboxes {
    /// Puts the contents of a message to a mailbox into its store.
    #[inline]
    pub(crate) fn store<M: Send + 'static>(&mut self, mail: usize, msg: &mut Option<M>) -> StoreSlot {
        self.stores.get(self.mailboxes[mail].store).put_from(msg)
    }

    /// Takes a message of a mailbox out of its store.
    #[inline]
    pub(crate) fn take_out<M: Send + 'static>(&mut self, mail: usize, place: StoreSlot) -> M {
        self.stores.get(self.mailboxes[mail].store).take(place)
    }

    /// Takes out all messages of a mailbox, with their senders. Messages of timers stay.
    pub(crate) fn take_all<M: Send + 'static>(&mut self, mail: usize) -> Vec<(TaskId, M)> {
        let mailbox = &mut self.mailboxes[mail];
        debug_assert!(!self.supply.counts_on(), "raddle bug: a mailbox is cleared while choices are drawn");
        let store = self.stores.get(mailbox.store);
        let all = mailbox.take_all(&mut self.sets).into_iter();
        all.map(|(sender, place)| (sender, store.take(place))).collect()
    }

    /// Stores the message of a timer.
    pub(crate) fn put_timed<M: Send + 'static>(&mut self, mail: usize, timer: Timer, msg: M) {
        let mailbox = &mut self.mailboxes[mail];
        mailbox.timed.push((timer, self.stores.get(mailbox.store).put(msg)));
    }

    /// Takes out the messages of these timers of a mailbox.
    pub(crate) fn take_timed<M: Send + 'static>(&mut self, mail: usize, is_one: impl Fn(Timer) -> bool) -> Vec<M> {
        let mailbox = &mut self.mailboxes[mail];
        let store = self.stores.get(mailbox.store);
        mailbox.timed.extract_if(.., |timed| is_one(timed.0)).map(|(_, place)| store.take(place)).collect()
    }
}

/// The failure for a message to an actor that has stopped.
pub(crate) fn dead_letter(task: TaskId, to: Who, text: &str) -> Failure {
    Failure::DeadLetter { task, message: format!("{} was sent to {to}, which has stopped", shorten(text)) }
}

/// Shows a message by its name.
pub(crate) fn show_name(Word(name): Word) -> String {
    format!("{:08x}", name as u32)
}
