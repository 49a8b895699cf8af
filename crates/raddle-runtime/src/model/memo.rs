//! What handlers did before: the same message to the same actor in the same state does the same again.
//!
//! A search foresees where a message leads from every state in which it waits, and most of these differ in other actors only. So what a
//! handler adds to the hash of the state is remembered by the hashes of its actor and its message, and it need not run again. A table of fixed
//! size: what comes later takes the place of what was there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What handlers did before. Shared by all executions of a model; a copy of the model begins with nothing.
#[derive(Default)]
pub(super) struct Memo {
    places: OnceLock<Box<[Place]>>,
}

/// What a handler did that only changed its own actor and sent messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// What its actor and the messages add to the hash of the state.
    pub(super) adds: u64,
    pub(super) sent: u32,
}

/// The key, mixed with the rest, and the rest. Nobody waits: one that is read while it is written is not taken for any.
#[derive(Default)]
struct Place([AtomicU64; 3]);

/// The logarithm of how many are remembered.
const BITS: u32 = 11;

impl Memo {
    /// What was done where the key was the same. Keys are hashes, with all bits as good as random.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Done> {
        let Place(words) = &self.places.get()?[place(key)];
        let [mixed, adds, sent] = words.each_ref().map(|word| word.load(Relaxed));
        (mix(key, adds, sent) == mixed).then_some(Done { adds, sent: sent as u32 })
    }

    /// Remembers what was done.
    pub(super) fn put(&self, key: u64, done: Done) {
        let places = self.places.get_or_init(|| (0..1 << BITS).map(|_| Place::default()).collect());
        let (adds, sent) = (done.adds, u64::from(done.sent));
        let words = [mix(key, adds, sent), adds, sent];
        for (place, word) in places[place(key)].0.iter().zip(words) {
            place.store(word, Relaxed);
        }
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

/// Never 0 but by chance, so that nothing is found where nothing was put.
#[inline]
fn mix(key: u64, adds: u64, sent: u64) -> u64 {
    !(key ^ adds.rotate_left(32) ^ sent)
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

    #[test]
    fn what_is_half_written_is_not_found() {
        let memo = Memo::default();
        memo.put(7, Done { adds: 5, sent: 1 });
        memo.places.get().expect("something was put")[0].0[1].store(6, Relaxed);
        assert_eq!(memo.get(7), None);
    }
}
