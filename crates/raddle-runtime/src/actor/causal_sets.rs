//! Causal order in untraced runs: which tasks know of which waiting messages.
//!
//! A message is [held back](Delivery::holds_back) by messages in the same mailbox that its sender knew of. A message that was received holds
//! back nothing any more, so only waiting messages matter: each has a slot, and sets of slots replace vector clocks. A sender attaches a copy
//! of its own set to a message, and adds the message to its set. A receiver adds the attached set to its own.
//!
//! A slot whose message is gone stays in the sets that it is in, and is not used again. When none is left, the slots of all messages that
//! are gone are removed from all sets at once. When too many messages wait, the execution [goes on with clocks](Mailboxes::go_by_clocks), in
//! mailboxes like those of traced runs.

use raddle_engine::ids::TaskId;

use crate::actor::actor_mailbox::{MessageForm, Named};
use crate::actor::delivery::Delivery;
use crate::actor::envelope::Envelope;
use crate::actor::mailboxes::Mailboxes;
use crate::actor::store::StoreSlot;
use crate::mailbox::{MessageSet, Slotted};

/// What the tasks of an execution know of the messages that wait.
#[derive(Default)]
pub(crate) struct CausalSets {
    /// The run is untraced, and there have never been too many messages.
    in_use: bool,
    /// By task, the messages that it knows of.
    known: Vec<MessageSet>,
    /// The slots of messages that wait.
    waiting: MessageSet,
    /// Slots that no set has.
    fresh: MessageSet,
    /// By slot, the message that has it.
    sent: Vec<Sent>,
    /// How many messages have had a slot.
    count: u32,
}

/// How a message was sent.
#[derive(Clone, Copy)]
struct Sent {
    mail: u32,
    sender: TaskId,
    /// How many messages had a slot before.
    ordinal: u32,
}

impl CausalSets {
    /// Removes all messages.
    pub(crate) fn begin(&mut self, untraced: bool) {
        self.known.clear();
        self.sent.resize(MessageSet::SLOTS, Sent { mail: 0, sender: TaskId::MAIN, ordinal: 0 });
        (self.in_use, self.waiting, self.fresh, self.count) = (untraced, MessageSet::default(), MessageSet::ALL, 0);
    }

    /// Whether messages in causal order have slots.
    pub(super) fn are_in_use(&self) -> bool {
        self.in_use
    }

    /// The set of this task.
    #[inline]
    fn known(&mut self, task: TaskId) -> &mut MessageSet {
        if self.known.len() <= task.index() {
            self.known.resize(task.index() + 1, MessageSet::default());
        }
        &mut self.known[task.index()]
    }

    /// A task sends a message to a mailbox. There has to be a slot, see [`Mailboxes::make_room`].
    #[inline]
    pub(super) fn send(&mut self, mail: usize, StoreSlot(place): StoreSlot, sender: TaskId, delayed: bool) -> Slotted {
        let slot = self.fresh.take_lowest().expect("raddle bug: a message without a slot");
        self.waiting.insert(slot);
        self.sent[slot as usize] = Sent { mail: mail as u32, sender, ordinal: self.count };
        self.count += 1;
        let own = self.known(sender);
        let known = *own;
        own.insert(slot);
        Slotted { place, slot, sender, delayed, known }
    }

    /// A task has received a message. Returns the place of its contents.
    #[inline]
    pub(super) fn receive(&mut self, message: &Slotted, receiver: TaskId) -> StoreSlot {
        self.known(receiver).add_all(&message.known);
        self.discard(message)
    }

    /// A message is gone, and no task has received it. Returns the place of its contents.
    #[inline]
    pub(super) fn discard(&mut self, message: &Slotted) -> StoreSlot {
        self.waiting.remove(message.slot);
        StoreSlot(message.place)
    }

    /// A new actor knows what its creator knows.
    pub(super) fn create(&mut self, creator: TaskId, created: TaskId) {
        if self.in_use {
            *self.known(created) = *self.known(creator);
        }
    }

    /// The clock of a task that knows of these messages. A task that knows of a message also knows of all that its sender had sent before, so
    /// the last one of each sender is enough.
    fn clock(&self, mut set: MessageSet) -> Vec<u32> {
        let mut clock = Vec::new();
        set.retain(&self.waiting);
        for slot in set.iter() {
            let Sent { sender, ordinal, .. } = self.sent[slot as usize];
            if clock.len() <= sender.index() {
                clock.resize(sender.index() + 1, 0);
            }
            clock[sender.index()] = clock[sender.index()].max(ordinal + 1);
        }
        clock
    }

    /// The same message with a clock.
    fn named(&self, message: &Slotted) -> Named {
        let &Slotted { place, slot, sender, delayed, known } = message;
        let ordinal = self.sent[slot as usize].ordinal;
        Named {
            envelope: Envelope::knowing(self.clock(known), sender, (place, ordinal), delayed),
            place: StoreSlot(place),
        }
    }
}

impl Mailboxes {
    /// Makes sure that there is a slot for another message in this order, if such messages have slots.
    #[inline]
    pub(super) fn make_room(&mut self, delivery: Delivery) {
        if delivery == Delivery::Causal && self.sets.in_use && self.sets.fresh.is_empty() && !self.free_slots() {
            self.go_by_clocks();
        }
    }

    /// Removes the slots of messages that are gone from all sets; they can be used again. Returns false if half of the slots are still in
    /// use: then clocks are cheaper.
    #[cold]
    fn free_slots(&mut self) -> bool {
        let CausalSets { known, waiting, fresh, sent, .. } = &mut self.sets;
        known.iter_mut().for_each(|known| known.retain(waiting));
        let mut mails: Vec<u32> = waiting.iter().map(|slot| sent[slot as usize].mail).collect();
        mails.sort_unstable();
        mails.dedup();
        for mail in mails {
            self.mailboxes[mail as usize].slotted.change_known(|known| known.retain(waiting));
        }
        *fresh = waiting.complement();
        waiting.len() * 2 < MessageSet::SLOTS
    }

    /// Replaces the sets by clocks.
    #[cold]
    fn go_by_clocks(&mut self) {
        self.sets.in_use = false;
        for mailbox in self.mailboxes.iter_mut().filter(|mailbox| mailbox.form == MessageForm::Slotted) {
            mailbox.form = MessageForm::Named;
            for message in mailbox.slotted.take_all() {
                mailbox.named.append(Delivery::Causal, self.sets.named(&message));
            }
        }
        for task in 0..self.members.len().max(self.sets.known.len()) {
            let known = self.sets.known.get(task).copied().unwrap_or_default();
            let (clock, count) = (self.sets.clock(known), self.sets.count);
            self.clock(TaskId::next_of(task)).go_by_clock(clock, count);
        }
    }
}
