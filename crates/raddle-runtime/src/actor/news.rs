//! Who knows of which messages that wait, where deliveries are causal and steps are only counted.
//!
//! A message is held up by those in the same mailbox that its sender knew of. One that was received holds up nobody any more, so
//! nothing has to be known of the past: each message that waits has a slot, and sets of slots take the place of clocks. Whoever sends
//! gives a copy of the own set along and knows of one message more; whoever receives adds what came along.
//!
//! A slot whose message is gone stays in the sets that it is in, and is not used again. When none is left, those of all messages that are
//! gone are taken out of all sets at once. While few messages wait and lots are drawn, [notes](notes) of a mailbox stand for its letters;
//! where too many wait for sets to be worth it, [clocks](clocks) go on from there.

mod clocks;
mod notes;

use raddle_engine::ids::TaskId;

use self::notes::Note;
use crate::actor::delivery::Delivery;
use crate::actor::letter::{Envelope, Letter};
use crate::actor::post::Posts;
use crate::actor::queue::{Queue, Waiting};

/// Slots in a word.
const WORD: usize = u64::BITS as usize;

/// The words of a set while few messages wait.
const FEW: usize = 4;

/// A set has at most so many words; if more than half as many messages wait as there are slots then, clocks are cheaper.
const WIDEST: usize = 64;

/// What the parties of an execution know of the messages that wait.
#[derive(Default)]
pub(crate) struct News {
    /// They are kept: steps are only counted, and there have never been too many messages.
    kept: bool,
    /// How many words a set has.
    width: usize,
    /// By task, the messages that it knows of.
    known: Vec<u64>,
    /// By slot, the messages that the sender knew of before.
    told: Vec<u64>,
    /// The slots of messages that wait.
    waiting: Vec<u64>,
    /// By mailbox, while there are [notes](notes) of it, the messages in it that hold up others.
    holds: Vec<u64>,
    /// By slot, the messages of such mailboxes.
    notes: Vec<Note>,
    /// Slots that no set has; none before the word `at`.
    fresh: Vec<u64>,
    at: usize,
    /// How many messages have had a slot.
    sent: u32,
}

impl News {
    /// As before the first message.
    pub(crate) fn begin(&mut self, discards_steps: bool) {
        let Self { known, told, waiting, holds, fresh, .. } = self;
        [known, told, waiting, holds, fresh].into_iter().for_each(Vec::clear);
        (self.kept, self.width, self.at, self.sent) = (discards_steps, 0, 0, 0);
    }

    /// Whether what holds up the messages of such a mailbox is kept here.
    #[inline]
    pub(super) fn keeps(&self, delivery: Delivery) -> bool {
        self.kept && delivery == Delivery::Causal
    }

    /// Whether there is a slot for another message.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        self.fresh.get(self.at).is_some_and(|&fresh| fresh != 0) || self.look_further()
    }

    #[cold]
    fn look_further(&mut self) -> bool {
        let further = self.fresh.iter().skip(self.at).position(|&fresh| fresh != 0);
        self.at += further.unwrap_or(0);
        further.is_some()
    }

    /// Puts a message into a mailbox, after it was seen that there [is room](Self::has_room); says where, and whether it can be
    /// received.
    pub(super) fn put(&mut self, queue: &mut Queue, sender: TaskId, delayed: bool) -> (usize, bool) {
        let letter = self.number(sender, delayed);
        self.meet(sender);
        let known = row(&mut self.known, self.width, sender.index());
        row(&mut self.told, self.width, letter.number as usize).copy_from_slice(known);
        let held = queue.letters().filter(|waiting| has(known, waiting.letter.number)).count() as u32;
        // What is delayed holds up nobody, so nobody has to know of it.
        if !delayed {
            add(known, letter.number);
        }
        (queue.put_held(letter, held), held == 0)
    }

    /// The next message.
    #[inline]
    fn number(&mut self, sender: TaskId, delayed: bool) -> Envelope {
        let fresh = &mut self.fresh[self.at];
        assert!(*fresh != 0, "raddle bug: a message without a slot");
        let number = (self.at * WORD) as u32 + fresh.trailing_zeros();
        self.waiting[self.at] |= *fresh & fresh.wrapping_neg();
        *fresh &= fresh.wrapping_sub(1);
        self.sent += 1;
        Envelope { number, sender, ordinal: self.sent - 1, delayed }
    }

    /// The message with this slot was received by the task.
    pub(super) fn receive(&mut self, slot: u32, receiver: TaskId) {
        self.meet(receiver);
        let told = row(&mut self.told, self.width, slot as usize);
        let known = row(&mut self.known, self.width, receiver.index());
        known.iter_mut().zip(told).for_each(|(known, told)| *known |= *told);
        self.forget(slot);
    }

    /// The message with this slot holds up nobody in its mailbox any more; says how many are held up by none now who were before.
    pub(super) fn let_go(&mut self, queue: &mut Queue, slot: u32) -> u32 {
        let mut opened = 0;
        for Waiting { letter, held, .. } in queue.letters_mut().filter(|waiting| waiting.held > 0) {
            *held -= u32::from(has(row(&mut self.told, self.width, letter.number as usize), slot));
            opened += u32::from(*held == 0);
        }
        opened
    }

    /// Whoever is created knows what its creator knows.
    pub(super) fn create(&mut self, creator: TaskId, created: TaskId) {
        if self.kept {
            self.meet(creator);
            self.meet(created);
            for word in 0..self.width {
                self.known[created.index() * self.width + word] = self.known[creator.index() * self.width + word];
            }
        }
    }

    /// Messages of such a mailbox will not be received any more.
    pub(super) fn bury(&mut self, delivery: Delivery, letters: &[Letter]) {
        if self.keeps(delivery) {
            letters.iter().for_each(|letter| self.forget(letter.number));
        }
    }

    /// The message with this slot does not wait any more.
    fn forget(&mut self, slot: u32) {
        self.waiting[slot as usize / WORD] &= !(1 << (slot as usize % WORD));
    }

    /// There is a set for this task.
    #[inline]
    fn meet(&mut self, task: TaskId) {
        let end = (task.index() + 1) * self.width;
        if self.known.len() < end {
            self.known.resize(end, 0);
        }
    }

    /// Takes the slots of messages that are gone out of all sets.
    fn sweep(&mut self) {
        let Self { width, known, told, waiting, .. } = self;
        if *width > 0 {
            known.chunks_exact_mut(*width).for_each(|known| keep(known, waiting));
            slots(waiting).for_each(|slot| keep(row(told, *width, slot as usize), waiting));
        }
    }

    /// Whether at least half of the slots are in use.
    fn is_crowded(&self) -> bool {
        let in_use: u32 = self.waiting.iter().map(|word| word.count_ones()).sum();
        in_use as usize * 2 >= self.width * WORD
    }

    /// Makes twice as many slots.
    fn widen(&mut self) {
        let (before, width) = (self.width, (self.width * 2).max(FEW));
        let rows = |sets: &[u64], many: usize| {
            let mut wider = vec![0; many * width];
            for (to, from) in wider.chunks_exact_mut(width).zip(sets.chunks_exact(before.max(1))) {
                to[..before].copy_from_slice(from);
            }
            wider
        };
        self.known = rows(&self.known, self.known.len() / before.max(1));
        self.told = rows(&self.told, width * WORD);
        self.waiting.resize(width, 0);
        self.width = width;
        self.notes.resize(FEW * WORD, Note::NONE);
    }

    /// All slots without a message can be used, after they were taken out of all sets.
    fn refill(&mut self) {
        self.fresh.clear();
        self.fresh.extend(self.waiting.iter().map(|word| !word));
        self.at = 0;
        self.look_further();
    }
}

impl Posts {
    /// Whether [news](News) say what holds up the messages of such a mailbox, also with another one.
    #[inline]
    pub(super) fn has_news(&mut self, delivery: Delivery) -> bool {
        if self.news.keeps(delivery) && !self.news.has_room() {
            self.make_room();
        }
        self.news.keeps(delivery)
    }

    /// No slot is left that no set has.
    #[cold]
    fn make_room(&mut self) {
        self.news.sweep();
        if self.news.is_crowded() {
            if self.news.width == FEW {
                self.write_causal_letters();
            }
            if self.news.width == WIDEST {
                return self.go_by_clocks();
            }
            self.news.widen();
        }
        self.news.refill();
    }

    /// Too many messages wait for [notes](notes).
    fn write_causal_letters(&mut self) {
        for post in self.posts.iter_mut().filter(|post| post.delivery == Delivery::Causal) {
            if post.tray.leave_notes() {
                self.news.write_letters(&post.row, &mut post.queue);
                self.news.leave_notes(&mut post.row);
            }
        }
    }
}

/// The set of one of many.
#[inline]
fn row(sets: &mut [u64], width: usize, of: usize) -> &mut [u64] {
    &mut sets[of * width..][..width]
}

/// The slots that are in a set.
fn slots(set: &[u64]) -> impl Iterator<Item = u32> {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let rest = |&left: &u64| Some(left & left.wrapping_sub(1));
        let lefts = std::iter::successors(Some(word), rest).take_while(|&left| left != 0);
        lefts.map(move |left| (at * WORD) as u32 + left.trailing_zeros())
    })
}

#[inline]
fn has(set: &[u64], slot: u32) -> bool {
    set[slot as usize / WORD] >> (slot as usize % WORD) & 1 == 1
}

#[inline]
fn add(set: &mut [u64], slot: u32) {
    set[slot as usize / WORD] |= 1 << (slot as usize % WORD);
}

/// Takes out what is not in the other.
fn keep(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(set, other)| *set &= other);
}
