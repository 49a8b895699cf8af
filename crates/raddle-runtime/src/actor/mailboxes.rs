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
use smallvec::SmallVec;

use crate::actor::address::Who;
use crate::actor::causal_sets::{CausalSets, SlotMailbox};
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::envelope::{CausalClock, Envelope};
use crate::actor::labels::Labels;
use crate::actor::resident::Resident;
use crate::actor::rules::{Faults, Rules};
use crate::actor::store::{StoreId, StoreSlot, Stores};
use crate::actor::tell::shorten;
use crate::actor::untraced::Supply;
use crate::execution::{Moment, Progress, State};
use crate::mailbox::{Blank, DeliveryInfo, Mailbox, Message};

/// All mailboxes of an execution, by number.
#[derive(Default)]
pub(crate) struct Mailboxes {
    pub(crate) mailboxes: Vec<ActorMailbox>,
    /// What is in them.
    pub(crate) stores: Stores,
    /// By number, the systems they belong to.
    pub(crate) systems: Vec<ActorSystem>,
    /// By task.
    pub(super) members: Vec<Member>,
    /// Who knows of which messages, for causal order in untraced runs.
    pub(crate) sets: CausalSets,
    /// How much there is to receive, where nobody wants to know what.
    pub(crate) supply: Supply,
    /// The mailboxes that have changed since what can happen was last listed.
    pub(crate) changed: Vec<u32>,
    pub(crate) labels: Labels,
    pub(crate) somebody_waits_for_quiet: bool,
    /// The current task looks at actors without anything happening meanwhile.
    pub(crate) checks_condition: bool,
}

/// A system of actors, as far as its mailboxes have to know.
pub(crate) struct ActorSystem {
    pub(crate) rules: Rules,
    /// What is left of the faults that may happen.
    pub(crate) faults: Faults,
}

/// A task that sends or receives.
#[derive(Default)]
pub(super) struct Member {
    pub(super) clock: Option<CausalClock>,
    /// Its mailbox, if it is an actor.
    mail: Option<u32>,
}

/// A mailbox. What is needed where choices are drawn comes first, on one line of memory: where there are many mailboxes, to fetch these is
/// most of what a step takes.
#[repr(C, align(64))]
pub(crate) struct ActorMailbox {
    /// The actor at [home](crate::actor::life::Home), while it handles nothing and nobody looks at it.
    pub(crate) actor: Option<Box<dyn Resident>>,
    /// How many messages were received since choices are drawn.
    pub(super) received: u32,
    pub(crate) task: TaskId,
    /// Where its messages lie.
    pub(crate) store: StoreId,
    pub(crate) delivery: Delivery,
    /// Which of the mailboxes below its messages are in.
    pub(super) kind: MessageForm,
    /// Nothing but a message can come: no timer is set, and it may not crash.
    pub(crate) plain: bool,
    /// Its actor has not begun yet, or waits for something else in the middle of a handler.
    pub(super) away: bool,
    /// True in an untraced run, if what is sent to this mailbox arrives at once.
    pub(super) at_once: bool,
    pub(super) blank: Mailbox<Blank>,
    pub(super) slots: SlotMailbox,
    pub(super) named: Mailbox<Named>,
    /// How many messages there were when choices began to be drawn.
    pub(super) began_with: usize,
    pub(crate) timers: Vec<(Timer, u64, Envelope)>,
    /// What the timers are set for.
    pub(crate) timed: Vec<(Timer, StoreSlot)>,
    /// How many decisions had been taken when its actor last received or began, not counting what it received in untraced runs.
    pub(crate) since: u64,
    pub(crate) may_crash: bool,
    pub(crate) stopped: bool,
    pub(crate) system: u32,
    /// What its receives change.
    pub(crate) head: ObjectId,
    /// What sends to it change, where their order matters.
    pub(crate) tail: ObjectId,
    /// What is touched by all receives of a system.
    pub(crate) activity: ObjectId,
    pub(crate) faults: ObjectId,
}

// The first messages are still on the first line.
const _: () = assert!(mem::offset_of!(ActorMailbox, blank) == 32);

/// How the messages of a mailbox are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageForm {
    /// With all that is known of them: where steps are kept, or what senders knew is kept in clocks.
    Named,
    /// In untraced runs, unless deliveries are causal.
    Blank,
    /// In untraced runs, where deliveries are causal and what senders know is kept in [sets](CausalSets).
    Slots,
}

/// A message that has a name.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) envelope: Envelope,
    pub(super) place: StoreSlot,
}

impl Message for Named {
    type Few = SmallVec<[Self; 1]>;

    #[inline]
    fn delivery_info(&self) -> DeliveryInfo<'_> {
        self.envelope.delivery_info()
    }

    fn arrive_in_time(&mut self) {
        self.envelope.delayed = false;
    }
}

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The message in this slot of its store.
    Message(StoreSlot),
    /// What this timer was set for.
    Timer(Timer),
    /// Nothing: it crashes.
    Crash,
}

impl Mailboxes {
    /// As before the first actor. What is still in mailboxes belongs to tasks that were left behind, and is left with them.
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
        mailbox.each_open(mail as usize, &self.sets, |number| actions.push(action(Variant::Message(number))));
    }

    /// Lists them in the place of what was listed there.
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
            1 => mailbox.first_number(&self.sets).map(Variant::Message),
            _ => None,
        };
        let mut at = listed.start;
        match only {
            Some(variant) if listed.len() == 1 => return actions[at] = action(variant),
            Some(variant) if listed.is_empty() => return actions.insert(at, action(variant)),
            None if open == 0 => {}
            _ => mailbox.each_open(mail as usize, &self.sets, |number| {
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

    /// One who sends and creates; threads are named by how they came to be numbered.
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

    /// The rules that a mailbox is under.
    #[inline]
    pub(crate) fn system(&self, mail: usize) -> &ActorSystem {
        &self.systems[self.mailboxes[mail].system as usize]
    }

    /// Whether whoever receives from this mailbox may crash instead.
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
    /// Whether what the current task does now is one with its latest step: it is an actor that has taken no other since it received,
    /// or nothing has begun yet.
    pub(crate) fn is_one_step(&self) -> bool {
        let begun = self.turns > 0 || self.tasks.len() > self.actors.mailboxes.len() + 1;
        let untraced = self.actors.supply.latest == Some((self.current, self.turns));
        !begun || untraced || self.actors.of(self.current).is_some_and(|mailbox| mailbox.since == self.turns)
    }

    /// How the messages of a new mailbox are kept.
    pub(super) fn kind_of_mailbox(&self, delivery: Delivery) -> MessageForm {
        match delivery {
            _ if !self.discards_steps => MessageForm::Named,
            Delivery::Causal if self.actors.sets.are_kept() => MessageForm::Slots,
            Delivery::Causal => MessageForm::Named,
            Delivery::Unordered | Delivery::PerSender | Delivery::Arrival => MessageForm::Blank,
        }
    }

    /// Keeps an access of the latest step to something that nobody waits for.
    #[inline]
    pub(crate) fn also_touch(&mut self, object: ObjectId, effect: Effect, role: Role, ordered: Ordered) {
        self.trace.touch(Access { object, effect, role, ordered });
    }

    /// A new object of the current task that is given and taken, such as a message to a channel.
    pub(crate) fn next_message(&mut self) -> ObjectId {
        let task = self.current;
        self.actors.clock(task).next_message(task)
    }

    /// Writes the next message of the current task to a mailbox.
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

    /// The same where steps are only counted, so that nobody asks for names.
    #[inline]
    pub(super) fn write_blank_envelope(&mut self, mail: usize) -> Envelope {
        let (task, delivery) = (self.current, self.actors.mailboxes[mail].delivery);
        self.actors.make_room(delivery);
        if self.actors.mailboxes[mail].kind != MessageForm::Named {
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
        match mailbox.kind {
            MessageForm::Named => {
                if self.discards_steps {
                    envelope.number = place.0;
                }
                mailbox.named.put(mailbox.delivery, Named { envelope, place });
            }
            MessageForm::Blank => mailbox.put_blank(place, envelope.sender, envelope.delayed),
            MessageForm::Slots => sets.put(mail, &mut mailbox.slots, place, (envelope.sender, envelope.delayed)),
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
    /// The receive of a mailbox takes effect; `contents` is told what is received.
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
            Variant::Ready => mailbox.take(mail, sets, None),
            Variant::Message(number) => mailbox.take(mail, sets, Some(number)),
            Variant::TimedOut => mailbox.take_timer(),
            Variant::Spurious => {
                systems[mailbox.system as usize].faults.crash -= 1;
                (Taken::Crash, None)
            }
        };
        let (faults, tail) = (mailbox.faults, mailbox.tail);
        // What was received may have been late, or have overtaken what was: another that comes first makes a difference.
        let looks_behind = delivery == Delivery::Arrival && systems[mailbox.system as usize].rules.faults.delay > 0;
        self.state.objects[mailbox.head.index()].word = mailbox.len() as u64;
        changed.push(mail as u32);
        let object = &mut self.state.objects[activity.index()];
        object.word += 1;
        self.state.unsettled |= object.waiting_unseen > 0;
        if self.state.trace.discards_steps() {
            if let Some(envelope) =
                envelope.filter(|_| delivery == Delivery::Causal && !self.state.actors.sets.are_kept())
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

    /// Takes out all messages of a mailbox, but for those of timers; says by whom each was sent.
    pub(crate) fn take_all<M: Send + 'static>(&mut self, mail: usize) -> Vec<(TaskId, M)> {
        let mailbox = &mut self.mailboxes[mail];
        debug_assert!(!self.supply.counts_on(), "raddle bug: a mailbox is cleared while choices are drawn");
        let store = self.stores.get(mailbox.store);
        let all = mailbox.take_all(mail, &mut self.sets).into_iter();
        all.map(|(sender, place)| (sender, store.take(place))).collect()
    }

    /// Keeps what a timer is set for.
    pub(crate) fn put_timed<M: Send + 'static>(&mut self, mail: usize, timer: Timer, msg: M) {
        let mailbox = &mut self.mailboxes[mail];
        mailbox.timed.push((timer, self.stores.get(mailbox.store).put(msg)));
    }

    /// Takes out what these timers of a mailbox are set for.
    pub(crate) fn take_timed<M: Send + 'static>(&mut self, mail: usize, is_one: impl Fn(Timer) -> bool) -> Vec<M> {
        let mailbox = &mut self.mailboxes[mail];
        let store = self.stores.get(mailbox.store);
        mailbox.timed.extract_if(.., |timed| is_one(timed.0)).map(|(_, place)| store.take(place)).collect()
    }
}

impl ActorMailbox {
    /// How many messages wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self.kind {
            MessageForm::Named => self.named.len(),
            MessageForm::Blank => self.blank.len(),
            MessageForm::Slots => self.slots.len(),
        }
    }

    /// How many messages can be received.
    #[inline]
    pub(super) fn count_open(&self) -> u32 {
        match self.kind {
            MessageForm::Named => self.named.count_open(),
            MessageForm::Blank => self.blank.count_open(),
            MessageForm::Slots => self.slots.count_open(),
        }
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    #[inline]
    fn each_open(&self, mail: usize, sets: &CausalSets, list: impl FnMut(u32)) {
        match self.kind {
            MessageForm::Named => self.named.each_open(self.delivery, list),
            MessageForm::Blank => self.blank.each_open(self.delivery, list),
            MessageForm::Slots => sets.each_open(mail, &self.slots, list),
        }
    }

    /// The number of the oldest message.
    #[inline]
    fn first_number(&self, sets: &CausalSets) -> Option<u32> {
        match self.kind {
            MessageForm::Named => self.named.first_number(),
            MessageForm::Blank => self.blank.first_number(),
            MessageForm::Slots => sets.first_number(&self.slots),
        }
    }

    /// A number that no message has: this one, or one of the next.
    #[inline]
    fn free_number(&self, mut number: u32) -> u32 {
        while self.named.has(number) {
            number = number.wrapping_add(1);
        }
        number
    }

    #[inline(always)]
    pub(super) fn put_blank(&mut self, place: StoreSlot, sender: TaskId, delayed: bool) {
        // In other orders it makes no difference who sent it.
        let sender = (self.delivery == Delivery::PerSender).then_some(sender);
        self.blank.put(self.delivery, Blank { place: place.0, sender, delayed });
    }

    /// The message with this number is received, or the oldest.
    #[inline]
    fn take(&mut self, mail: usize, sets: &mut CausalSets, number: Option<u32>) -> (Taken, Option<Envelope>) {
        const GONE: &str = "raddle bug: the message is gone";
        let (place, envelope) = match self.kind {
            MessageForm::Named => {
                let Named { envelope, place } = self.named.take(self.delivery, number).expect(GONE);
                (place, Some(envelope))
            }
            MessageForm::Blank => (StoreSlot(self.blank.take(self.delivery, number).expect(GONE).place), None),
            MessageForm::Slots => {
                let number = number.or_else(|| sets.first_number(&self.slots)).expect(GONE);
                (sets.take(mail, &mut self.slots, number, self.task), None)
            }
        };
        (Taken::Message(place), envelope)
    }

    /// Takes everything out: by whom each message was sent, and where it lies.
    fn take_all(&mut self, mail: usize, sets: &mut CausalSets) -> Vec<(TaskId, StoreSlot)> {
        match self.kind {
            MessageForm::Named => {
                self.named.take_all().into_iter().map(|named| (named.envelope.sender, named.place)).collect()
            }
            MessageForm::Blank => {
                let blank = |blank: Blank| (blank.sender.unwrap_or(TaskId::MAIN), StoreSlot(blank.place));
                self.blank.take_all().into_iter().map(blank).collect()
            }
            MessageForm::Slots => sets.take_all(mail, &mut self.slots),
        }
    }

    /// The first of its timers goes off.
    #[cold]
    fn take_timer(&mut self) -> (Taken, Option<Envelope>) {
        let due = self.timers.iter().enumerate().min_by_key(|(_, timer)| timer.1).map(|(at, _)| at);
        let due = due.expect("raddle bug: a timer went off that is not set");
        let (timer, _, envelope) = self.change_timers(|timers| timers.remove(due));
        (Taken::Timer(timer), Some(envelope))
    }

    /// Sets timers, or takes some away.
    pub(crate) fn change_timers<R>(&mut self, change: impl FnOnce(&mut Vec<(Timer, u64, Envelope)>) -> R) -> R {
        let changed = change(&mut self.timers);
        self.plain = self.timers.is_empty() && !self.may_crash;
        changed
    }

    /// When the first of its timers goes off.
    #[inline]
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.timers.iter().map(|timer| timer.1).min()
    }
}

/// What is said of a message to an actor that has stopped.
pub(crate) fn dead_letter(task: TaskId, to: Who, text: &str) -> Failure {
    Failure::DeadLetter { task, message: format!("{} was sent to {to}, which has stopped", shorten(text)) }
}

/// Shows a message by its name.
pub(crate) fn show_name(Word(name): Word) -> String {
    format!("{:08x}", name as u32)
}
