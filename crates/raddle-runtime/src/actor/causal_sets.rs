//! Causal order in untraced runs: which tasks know of which waiting messages.
//!
//! A message is held back by the messages in the same mailbox that its sender knew of. A message that was received holds back nothing any
//! more, so only waiting messages matter: each has a slot, and sets of slots replace vector clocks. A sender attaches a copy of its own set
//! to a message, and adds the message to its set. A receiver adds the attached set to its own.
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
use crate::mailbox::Row;

/// Slots in a word.
const WORD: usize = u64::BITS as usize;

/// The words of a set.
const WORDS: usize = 4;

/// If half of the slots are in use, clocks are cheaper.
const SLOTS: usize = WORDS * WORD;

type Set = [u64; WORDS];

/// What the tasks of an execution know of the messages that wait.
#[derive(Default)]
pub(crate) struct CausalSets {
    /// Sets are kept: the run is untraced, and there have never been too many messages.
    kept: bool,
    /// By task, the messages that it knows of.
    known: Vec<Set>,
    /// By slot, the messages that the sender knew of before.
    told: Vec<Set>,
    /// The slots of messages that wait.
    waiting: Set,
    /// By mailbox, the messages in it.
    holds: Vec<Set>,
    /// By slot.
    messages: Vec<SlotMessage>,
    /// Slots that no set has.
    fresh: Set,
    /// How many messages have had a slot.
    sent: u32,
}

/// A message that has a slot.
#[derive(Clone, Copy)]
struct SlotMessage {
    place: StoreSlot,
    sender: TaskId,
    ordinal: u32,
    delayed: bool,
}

impl SlotMessage {
    const NONE: Self = Self { place: StoreSlot(0), sender: TaskId::MAIN, ordinal: 0, delayed: false };
}

/// A mailbox whose messages have slots.
#[derive(Default)]
pub(super) struct SlotMailbox {
    /// In order of arrival.
    slots: Row,
    /// How many can be received.
    open: u32,
}

impl SlotMailbox {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(super) fn count_open(&self) -> u32 {
        self.open
    }
}

impl CausalSets {
    /// Removes all messages.
    pub(crate) fn begin(&mut self, untraced: bool) {
        self.known.clear();
        self.holds.clear();
        (self.kept, self.waiting, self.fresh, self.sent) = (untraced, Set::default(), [!0; WORDS], 0);
    }

    /// Whether messages in causal order have slots.
    pub(super) fn are_kept(&self) -> bool {
        self.kept
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.fresh != Set::default()
    }

    /// Puts a message into a mailbox behind the others. There has to be a slot, see [`Mailboxes::make_room`].
    #[inline]
    pub(super) fn put(
        &mut self,
        mail: usize,
        mailbox: &mut SlotMailbox,
        place: StoreSlot,
        (sender, delayed): (TaskId, bool),
    ) {
        let slot = self.take_slot();
        self.meet(sender);
        if self.holds.len() <= mail {
            self.holds.resize(mail + 1, Set::default());
        }
        let (known, holds) = (&mut self.known[sender.index()], &mut self.holds[mail]);
        mailbox.open += u32::from(is_apart(known, holds));
        self.told[slot as usize] = *known;
        // A delayed message holds back no other, so it is in no set.
        if !delayed {
            add(known, slot);
        }
        add(holds, slot);
        mailbox.slots.push(slot);
        self.messages[slot as usize] = SlotMessage { place, sender, ordinal: self.sent, delayed };
        self.sent += 1;
    }

    #[inline]
    fn take_slot(&mut self) -> u32 {
        let word = self.fresh.iter().position(|&word| word != 0).expect("raddle bug: a message without a slot");
        let bit = self.fresh[word].trailing_zeros();
        self.fresh[word] &= self.fresh[word] - 1;
        self.waiting[word] |= 1 << bit;
        if self.told.is_empty() {
            self.told.resize(SLOTS, Set::default());
            self.messages.resize(SLOTS, SlotMessage::NONE);
        }
        (word * WORD) as u32 + bit
    }

    /// Whether no message of the mailbox holds this one back.
    #[inline]
    fn is_open(&self, mail: usize, slot: u32) -> bool {
        is_apart(&self.told[slot as usize], &self.holds[mail])
    }

    /// Its place is the number of a message, as in other untraced mailboxes: it stays the same when clocks take over.
    fn number(&self, slot: u32) -> u32 {
        self.messages[slot as usize].place.0
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    pub(super) fn each_open(&self, mail: usize, mailbox: &SlotMailbox, list: impl FnMut(u32)) {
        let open = mailbox.slots.iter().filter(|&slot| self.is_open(mail, slot));
        open.map(|slot| self.number(slot)).for_each(list);
    }

    /// The number of the oldest message.
    pub(super) fn first_number(&self, mailbox: &SlotMailbox) -> Option<u32> {
        (mailbox.len() > 0).then(|| self.number(mailbox.slots.get(0)))
    }

    /// The task receives the n-th message that can be received. Returns its place in the store.
    #[inline]
    pub(super) fn take_open(
        &mut self,
        mail: usize,
        mailbox: &mut SlotMailbox,
        nth: u32,
        receiver: TaskId,
    ) -> StoreSlot {
        let at = match nth {
            // Nothing holds back the first message.
            0 => 0,
            _ => {
                let mut open = (0..mailbox.len()).filter(|&at| self.is_open(mail, mailbox.slots.get(at)));
                open.nth(nth as usize).expect("raddle bug: fewer messages can be received than were counted")
            }
        };
        self.take_at(mail, mailbox, at, receiver)
    }

    /// The task receives the message with this number. Returns its place in the store.
    pub(super) fn take(&mut self, mail: usize, mailbox: &mut SlotMailbox, number: u32, receiver: TaskId) -> StoreSlot {
        let at = mailbox.slots.iter().position(|slot| self.number(slot) == number);
        let at = at.expect("raddle bug: the message is gone");
        self.take_at(mail, mailbox, at, receiver)
    }

    #[inline]
    fn take_at(&mut self, mail: usize, mailbox: &mut SlotMailbox, at: usize, receiver: TaskId) -> StoreSlot {
        self.meet(receiver);
        let slot = mailbox.slots.remove(at);
        remove(&mut self.holds[mail], slot);
        // Where all could be received, nothing waited for this one.
        mailbox.open = match mailbox.len() < mailbox.open as usize {
            true => mailbox.open - 1,
            false => mailbox.slots.iter().map(|slot| u32::from(self.is_open(mail, slot))).sum(),
        };
        for (known, told) in self.known[receiver.index()].iter_mut().zip(&self.told[slot as usize]) {
            *known |= told;
        }
        remove(&mut self.waiting, slot);
        self.messages[slot as usize].place
    }

    /// Takes out all messages: the sender of each, and its place in the store.
    pub(super) fn take_all(&mut self, mail: usize, mailbox: &mut SlotMailbox) -> Vec<(TaskId, StoreSlot)> {
        mailbox.open = 0;
        let slots = mailbox.slots.take_all();
        for &slot in &slots {
            remove(&mut self.holds[mail], slot);
            remove(&mut self.waiting, slot);
        }
        let message = |slot: u32| self.messages[slot as usize];
        slots.into_iter().map(message).map(|message| (message.sender, message.place)).collect()
    }

    /// A new actor knows what its creator knows.
    pub(super) fn create(&mut self, creator: TaskId, created: TaskId) {
        if self.kept {
            self.meet(creator);
            self.meet(created);
            self.known[created.index()] = self.known[creator.index()];
        }
    }

    /// Makes sure that there is a set for this task.
    #[inline]
    fn meet(&mut self, task: TaskId) {
        if self.known.len() <= task.index() {
            self.known.resize(task.index() + 1, Set::default());
        }
    }

    /// Removes the slots of messages that are gone from all sets; they can be used again. Says whether these are enough.
    #[cold]
    fn sweep(&mut self) -> bool {
        let Self { known, told, waiting, fresh, .. } = self;
        known.iter_mut().for_each(|known| keep(known, waiting));
        slots(waiting).for_each(|slot| keep(&mut told[slot as usize], waiting));
        *fresh = waiting.map(|word| !word);
        let in_use: u32 = waiting.iter().map(|word| word.count_ones()).sum();
        in_use as usize * 2 < SLOTS
    }

    /// The clock of one who knows of these messages. Whoever knows of a message knows of all that its sender had sent before, so the
    /// last one of each sender says it all.
    fn clock(&self, set: &Set) -> Vec<u32> {
        let mut clock = Vec::new();
        let mut set = *set;
        keep(&mut set, &self.waiting);
        for slot in slots(&set) {
            let SlotMessage { sender, ordinal, .. } = self.messages[slot as usize];
            if clock.len() <= sender.index() {
                clock.resize(sender.index() + 1, 0);
            }
            clock[sender.index()] = clock[sender.index()].max(ordinal + 1);
        }
        clock
    }

    /// The same message with a clock.
    fn named(&self, slot: u32) -> Named {
        let SlotMessage { place, sender, ordinal, delayed } = self.messages[slot as usize];
        let envelope = Envelope::knowing(self.clock(&self.told[slot as usize]), sender, (place.0, ordinal), delayed);
        Named { envelope, place }
    }
}

impl Mailboxes {
    /// Makes sure that there is a slot for another message of such a mailbox, if it is one whose messages have slots.
    #[inline]
    pub(super) fn make_room(&mut self, delivery: Delivery) {
        if delivery == Delivery::Causal && self.sets.kept && !self.sets.has_room() && !self.sets.sweep() {
            self.go_by_clocks();
        }
    }

    /// Replaces the sets by clocks.
    #[cold]
    fn go_by_clocks(&mut self) {
        self.sets.kept = false;
        for mailbox in self.mailboxes.iter_mut().filter(|mailbox| mailbox.kind == MessageForm::Slots) {
            mailbox.kind = MessageForm::Named;
            for slot in mailbox.slots.slots.take_all() {
                mailbox.named.append(Delivery::Causal, self.sets.named(slot));
            }
        }
        for task in 0..self.members.len().max(self.sets.known.len()) {
            let known = self.sets.known.get(task).copied().unwrap_or_default();
            let (clock, count) = (self.sets.clock(&known), self.sets.sent);
            self.clock(TaskId::next_of(task)).go_by_clock(clock, count);
        }
    }
}

/// The slots of a set.
fn slots(set: &Set) -> impl Iterator<Item = u32> {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let rest = |&left: &u64| Some(left & left.wrapping_sub(1));
        let lefts = std::iter::successors(Some(word), rest).take_while(|&left| left != 0);
        lefts.map(move |left| (at * WORD) as u32 + left.trailing_zeros())
    })
}

/// The word and the bit of a slot.
#[inline]
fn bit(slot: u32) -> (usize, u64) {
    (slot as usize / WORD % WORDS, 1 << (slot as usize % WORD))
}

#[inline]
fn add(set: &mut Set, slot: u32) {
    let (at, bit) = bit(slot);
    set[at] |= bit;
}

#[inline]
fn remove(set: &mut Set, slot: u32) {
    let (at, bit) = bit(slot);
    set[at] &= !bit;
}

/// Removes the slots that are not in the other set.
fn keep(set: &mut Set, other: &Set) {
    set.iter_mut().zip(other).for_each(|(set, other)| *set &= other);
}

/// Whether two sets are disjoint.
#[inline]
fn is_apart(one: &Set, other: &Set) -> bool {
    (0..WORDS).fold(0, |common, word| common | one[word] & other[word]) == 0
}
