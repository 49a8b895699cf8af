//! A cache of the results of handlers: the same message to the same actor in the same state has the same result.
//!
//! A search peeks at a message in every state in which it waits, and most of these states differ only in other actors. So the cache stores
//! what a handler adds to the hash of the state, by the hashes of its actor and its message, and the handler need not run again. The table
//! has a fixed size, and later entries replace earlier ones.

use std::cell::{Cell, OnceCell};

/// Results of handlers. All executions of a model share it; a copy of the model starts with an empty one.
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

/// The logarithm of the number of entries.
const BITS: u32 = 11;

impl Memo {
    /// The result for this key. Keys are hashes, so all their bits are as good as random, and 0 hardly ever occurs.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Done> {
        let (known, done) = self.places.get()?[place(key)].get();
        (known == key).then_some(done)
    }

    /// Stores a result.
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
