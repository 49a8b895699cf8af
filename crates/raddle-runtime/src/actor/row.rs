//! The messages of one mailbox in the order of its letters: who sent each, and where it lies in its [store](super::store).
//!
//! The first few are kept in the row itself, so that a mailbox with no more than that needs no memory elsewhere.

use std::collections::VecDeque;

use raddle_engine::ids::TaskId;

use crate::actor::store::Place;

/// How many are kept in the row itself.
const FEW: usize = 8;

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) sender: TaskId,
}

/// Messages in order of arrival. How many there are comes first, beside those that are received next.
#[repr(C)]
pub(crate) struct Row {
    len: u32,
    first: [Entry; FEW],
    /// What comes after them.
    rest: VecDeque<Entry>,
}

impl Row {
    /// One without messages.
    pub(crate) fn new() -> Self {
        let nobody = Entry { place: Place::default(), sender: TaskId::MAIN };
        Self { len: 0, first: [nobody; FEW], rest: VecDeque::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The one that comes first.
    #[inline]
    pub(crate) fn front(&self) -> Option<Entry> {
        (self.len > 0).then_some(self.first[0])
    }

    /// All of them, in order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.first[..self.len().min(FEW)].iter().chain(&self.rest).copied()
    }

    /// Adds one at the end.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        let len = self.len();
        match self.first.get_mut(len) {
            Some(free) => *free = entry,
            None => self.rest.push_back(entry),
        }
        self.len += 1;
    }

    /// Adds one at this place, before the one that is there.
    #[inline]
    pub(crate) fn insert(&mut self, at: usize, entry: Entry) {
        if at >= self.len() {
            return self.push(entry);
        }
        if at >= FEW {
            self.rest.insert(at - FEW, entry);
        } else {
            if self.len() >= FEW {
                self.rest.push_front(self.first[FEW - 1]);
            }
            self.first.copy_within(at..FEW - 1, at + 1);
            self.first[at] = entry;
        }
        self.len += 1;
    }

    /// Takes out the one at this place.
    #[inline]
    pub(crate) fn remove(&mut self, at: usize) -> Entry {
        assert!(at < self.len(), "raddle bug: a message is gone");
        let entry = self.first[at % FEW];
        self.len -= 1;
        if at == self.len() && at < FEW {
            return entry;
        }
        self.close_up(at).unwrap_or(entry)
    }

    /// Those after this place move up, one fewer than before. Says which was there, if it was not among the first.
    fn close_up(&mut self, at: usize) -> Option<Entry> {
        if at >= FEW {
            return self.rest.remove(at - FEW);
        }
        let end = FEW.min(self.len() + 1);
        self.first.copy_within(at + 1..end, at);
        if let Some(next) = self.rest.pop_front() {
            self.first[FEW - 1] = next;
        }
        None
    }

    /// Takes all of them out.
    pub(crate) fn take_all(&mut self) -> Vec<Entry> {
        let all = self.iter().collect();
        self.len = 0;
        self.rest.clear();
        all
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;
    use crate::actor::store::Stores;

    #[test]
    fn a_row_is_like_a_list() {
        let mut stores = Stores::default();
        let store = stores.for_type::<u32>();
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut row, mut plain) = (Row::new(), Vec::new());
            // Some stay short and some grow long.
            let growth = 2 + rng.below(3);
            for n in 0..200 {
                let len = plain.len() as u32;
                if len == 0 || rng.below(5) < growth && len < 40 {
                    let place = stores.get::<u32>(store).put(n);
                    let entry = Entry { place, sender: TaskId::next_of(rng.below(9) as usize) };
                    let at = if rng.below(3) == 0 { rng.below(len + 1) } else { len } as usize;
                    plain.insert(at, entry);
                    if at == len as usize && rng.below(2) == 0 { row.push(entry) } else { row.insert(at, entry) }
                } else {
                    let at = rng.below(len) as usize;
                    assert_eq!(row.remove(at), plain.remove(at), "seed {seed}, step {n}, {at} of {len}");
                }
                assert_eq!(row.len(), plain.len(), "seed {seed}, step {n}");
                assert_eq!(row.front(), plain.first().copied(), "seed {seed}, step {n}");
                assert!(row.iter().eq(plain.iter().copied()), "seed {seed}, step {n}");
            }
            assert_eq!(row.take_all(), plain, "seed {seed}");
            assert_eq!((row.len(), row.iter().count()), (0, 0));
        }
    }
}
