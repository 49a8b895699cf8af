//! What handlers did before: the same message to the same actor in the same state does the same again.
//!
//! A search peeks where a message leads from every state in which it waits, and most of these differ in other actors only. So what a
//! handler adds to the hash of the state is remembered by the hashes of its actor and its message, and it need not run again. A table of fixed
//! size: what comes later takes the place of what was there.

use std::cell::{Cell, OnceCell};

/// What handlers did before. Shared by all executions of a model; a copy of the model begins with nothing.
#[derive(Default)]
pub(super) struct Memo {
    places: OnceCell<Box<[MemoEntry]>>,
}

/// A key, and what was done there.
type MemoEntry = Cell<(u64, Done)>;

/// What a handler did that only changed its own actor and sent messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// What its actor and the messages add to the hash of the state.
    pub(super) adds: u64,
    pub(super) sent: u32,
}

/// The logarithm of how many are remembered.
const BITS: u32 = 11;

impl Memo {
    /// What was done where the key was the same. Keys are hashes, with all bits as good as random, and not 0 but by chance.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Done> {
        let (known, done) = self.places.get()?[place(key)].get();
        (known == key).then_some(done)
    }

    /// Remembers what was done.
    pub(super) fn put(&self, key: u64, done: Done) {
        let places = self.places.get_or_init(|| (0..1 << BITS).map(|_| MemoEntry::default()).collect());
        places[place(key)].set((key, done));
    }
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[inline]
fn place(key: u64) -> usize {
    (key >> (u64::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_until_something_takes_its_place() {
        let memo = Memo::default();
        let done = |adds| Done { adds, sent: 2 };
        assert_eq!(memo.get(7), None);
        memo.put(7, done(1));
        memo.put(7 << 60, done(2));
        assert_eq!([memo.get(7), memo.get(7 << 60), memo.get(8)], [Some(done(1)), Some(done(2)), None]);
        memo.put(8, done(3));
        assert_eq!([memo.get(7), memo.get(8)], [None, Some(done(3))]);
        assert_eq!(memo.clone().get(8), None);
    }
}
