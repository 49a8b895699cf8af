//! A mailbox with causal deliveries while lots are drawn and few messages wait in all: its letters are not written, but for the row of their
//! slots.

use raddle_engine::ids::TaskId;

use super::{FEW, News, WORD, add, has, slots};
use crate::actor::queue::Queue;
use crate::actor::row::Row;

type Set = [u64; FEW];

impl News {
    /// Begins to take notes of a mailbox; says whether few enough messages wait.
    pub(in crate::actor) fn take_notes(&mut self, mail: usize, notes: &mut Row, queue: &Queue) -> bool {
        notes.clear();
        if self.width > FEW {
            return false;
        }
        self.holds.resize(self.holds.len().max((mail + 1) * FEW), 0);
        let holds = set(&mut self.holds, mail);
        *holds = Set::default();
        for waiting in queue.letters() {
            let slot = waiting.letter.number;
            self.letters[slot as usize] = waiting.letter;
            notes.push(slot);
            // What is delayed as well: nobody knows of it.
            add(holds, slot);
        }
        true
    }

    /// Writes letters again.
    pub(in crate::actor) fn write_letters(&mut self, notes: &Row, queue: &mut Queue) {
        let mut holds = Set::default();
        queue.empty();
        for slot in notes.iter() {
            let told = set(&mut self.told, slot as usize);
            let held = slots(told).filter(|&slot| has(&holds, slot)).count() as u32;
            add(&mut holds, slot);
            queue.put_held(self.letters[slot as usize], held);
        }
    }

    /// Puts a message into a mailbox behind the others, after it was seen that there [is room](Self::has_room); says whether it can be
    /// received.
    #[inline]
    pub(in crate::actor) fn note(&mut self, mail: usize, notes: &mut Row, sender: TaskId) -> bool {
        let letter = self.number(sender, false);
        self.meet(sender);
        let (known, holds) = (set(&mut self.known, sender.index()), set(&mut self.holds, mail));
        let open = is_apart(known, holds);
        *set(&mut self.told, letter.number as usize) = *known;
        let (at, slot) = place(letter.number);
        known[at] |= slot;
        holds[at] |= slot;
        notes.push(letter.number);
        self.letters[letter.number as usize] = letter;
        open
    }

    /// The message is received that comes after so many others that can be, of which there are `open`; says where it was, and how many there
    /// are then.
    #[inline]
    pub(in crate::actor) fn take_note(
        &mut self,
        mail: usize,
        notes: &mut Row,
        (nth, open): (u32, u32),
        receiver: TaskId,
    ) -> (usize, u32) {
        self.meet(receiver);
        let (known, holds) = (set(&mut self.known, receiver.index()), set(&mut self.holds, mail));
        let told = self.told.as_chunks::<FEW>().0;
        let is_open = |slot: u32, holds: &Set| is_apart(&told[slot as usize], holds);
        // What came first is held up by nobody.
        let from = match nth {
            0 => 0,
            _ => {
                let mut open = notes.iter().enumerate().filter(|note| is_open(note.1, holds));
                open.nth(nth as usize).expect("raddle bug: fewer messages can be received than were counted").0
            }
        };
        let slot = notes.remove(from);
        let (at, bit) = place(slot);
        holds[at] &= !bit;
        // Unless all that are left can be received as it is.
        let left = match notes.len() < open as usize {
            true => open - 1,
            false => notes.iter().map(|slot| u32::from(is_open(slot, holds))).sum(),
        };
        for (known, told) in known.iter_mut().zip(&told[slot as usize]) {
            *known |= told;
        }
        self.forget(slot);
        (from, left)
    }
}

/// The set of one of many.
#[inline]
fn set(sets: &mut [u64], of: usize) -> &mut Set {
    &mut sets.as_chunks_mut().0[of]
}

/// Where a slot is in a set.
#[inline]
fn place(slot: u32) -> (usize, u64) {
    (slot as usize / WORD % FEW, 1 << (slot as usize % WORD))
}

/// Whether two sets have nothing in common.
#[inline]
fn is_apart(one: &Set, other: &Set) -> bool {
    (0..FEW).fold(0, |common, word| common | one[word] & other[word]) == 0
}
