//! A mailbox with causal deliveries while lots are drawn and few messages wait in all: its letters are not written, and its row is one of slots,
//! by which it is known where the messages lie.

use raddle_engine::ids::TaskId;

use super::{FEW, News, WORD, add, has, slots};
use crate::actor::letter::Envelope;
use crate::actor::queue::Queue;
use crate::actor::row::Row;
use crate::actor::store::Place;

type Set = [u64; FEW];

/// A message.
#[derive(Clone, Copy)]
pub(super) struct Note {
    place: Place,
    sender: TaskId,
    ordinal: u32,
    delayed: bool,
}

impl Note {
    pub(super) const NONE: Self = Self { place: Place(0), sender: TaskId::MAIN, ordinal: 0, delayed: false };

    fn of(Envelope { sender, ordinal, delayed, .. }: Envelope, place: Place) -> Self {
        Self { place, sender, ordinal, delayed }
    }

    fn letter(self, number: u32) -> Envelope {
        let Self { sender, ordinal, delayed, .. } = self;
        Envelope { number, sender, ordinal, delayed }
    }
}

impl News {
    /// Begins to take notes of a mailbox; says whether few enough messages wait.
    pub(in crate::actor) fn take_notes(&mut self, mail: usize, row: &mut Row, queue: &Queue) -> bool {
        if self.width > FEW {
            return false;
        }
        self.holds.resize(self.holds.len().max((mail + 1) * FEW), 0);
        let holds = set(&mut self.holds, mail);
        *holds = Set::default();
        for (waiting, place) in queue.letters().zip(row.take_all()) {
            let slot = waiting.letter.number;
            self.notes[slot as usize] = Note::of(waiting.letter, Place(place));
            row.push(slot);
            // What is delayed as well: nobody knows of it.
            add(holds, slot);
        }
        true
    }

    /// There are no notes of a mailbox any more: its row is again one of places.
    pub(in crate::actor) fn leave_notes(&self, row: &mut Row) {
        row.take_all().into_iter().for_each(|slot| row.push(self.notes[slot as usize].place.0));
    }

    /// Writes the letters that there are notes of.
    pub(in crate::actor) fn write_letters(&mut self, row: &Row, queue: &mut Queue) {
        let mut holds = Set::default();
        queue.empty();
        for slot in row.iter() {
            let told = set(&mut self.told, slot as usize);
            let held = slots(told).filter(|&slot| has(&holds, slot)).count() as u32;
            add(&mut holds, slot);
            queue.put_held(self.notes[slot as usize].letter(slot), held);
        }
    }

    /// Puts a message into a mailbox behind the others, after it was seen that there [is room](Self::has_room); says whether it can be
    /// received.
    #[inline]
    pub(in crate::actor) fn note(&mut self, mail: usize, row: &mut Row, place: Place, sender: TaskId) -> bool {
        let letter = self.number(sender, false);
        self.meet(sender);
        let (known, holds) = (set(&mut self.known, sender.index()), set(&mut self.holds, mail));
        let open = is_apart(known, holds);
        *set(&mut self.told, letter.number as usize) = *known;
        let (at, bit) = bit(letter.number);
        known[at] |= bit;
        holds[at] |= bit;
        row.push(letter.number);
        self.notes[letter.number as usize] = Note::of(letter, place);
        open
    }

    /// The message is received that comes after so many others that can be, of which there are `open`; says where it lies, and how many there
    /// are then.
    #[inline]
    pub(in crate::actor) fn take_note(
        &mut self,
        mail: usize,
        row: &mut Row,
        (nth, open): (u32, u32),
        receiver: TaskId,
    ) -> (Place, u32) {
        self.meet(receiver);
        let (known, holds) = (set(&mut self.known, receiver.index()), set(&mut self.holds, mail));
        let told = self.told.as_chunks::<FEW>().0;
        let is_open = |slot: u32, holds: &Set| is_apart(&told[slot as usize], holds);
        // What came first is held up by nobody.
        let from = match nth {
            0 => 0,
            _ => {
                let mut open = row.iter().enumerate().filter(|slot| is_open(slot.1, holds));
                open.nth(nth as usize).expect("raddle bug: fewer messages can be received than were counted").0
            }
        };
        let slot = row.remove(from);
        let (at, bit) = bit(slot);
        holds[at] &= !bit;
        // Unless all that are left can be received as it is.
        let left = match row.len() < open as usize {
            true => open - 1,
            false => row.iter().map(|slot| u32::from(is_open(slot, holds))).sum(),
        };
        for (known, told) in known.iter_mut().zip(&told[slot as usize]) {
            *known |= told;
        }
        self.forget(slot);
        (self.notes[slot as usize].place, left)
    }
}

/// The set of one of many.
#[inline]
fn set(sets: &mut [u64], of: usize) -> &mut Set {
    &mut sets.as_chunks_mut().0[of]
}

/// Where a slot is in a set.
#[inline]
fn bit(slot: u32) -> (usize, u64) {
    (slot as usize / WORD % FEW, 1 << (slot as usize % WORD))
}

/// Whether two sets have nothing in common.
#[inline]
fn is_apart(one: &Set, other: &Set) -> bool {
    (0..FEW).fold(0, |common, word| common | one[word] & other[word]) == 0
}
