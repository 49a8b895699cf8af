//! A slab in shards. A thread that owns a shard inserts there without asking anyone. Everyone may read values through guards and
//! remove them; the slot is freed by the last who has to do with it, and goes back to the shard by way of a stack.

use super::shared::Shared;
use super::types::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The end of a stack of free slots.
const NONE: usize = usize::MAX;

/// What a slot's word says: the state below, above it how many guards there are, above that the generation.
const FREE: usize = 0;
const PRESENT: usize = 1;
/// To be freed when the last guard goes.
const REMOVED: usize = 2;
const STATE: usize = 3;
const ONE_GUARD: usize = 4;
const GUARDS: usize = 0xfffc;
const ONE_GENERATION: usize = 0x1_0000;

fn generation(word: usize) -> usize {
    word / ONE_GENERATION
}

struct Slot<T> {
    word: AtomicUsize,
    value: Shared<Option<T>>,
    /// The next free slot.
    next: AtomicUsize,
}

struct Shard<T> {
    slots: Vec<Slot<T>>,
    /// The first slot that was freed and has not gone back to the owner.
    freed: AtomicUsize,
}

pub struct Slab<T, const PLANTED: bool> {
    shards: Vec<Shard<T>>,
}

/// Where a value is. No other value ever has the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    shard: usize,
    slot: usize,
    generation: usize,
}

impl<T> Shard<T> {
    fn new(slots: usize) -> Self {
        let slot = |_| Slot { word: AtomicUsize::new(FREE), value: Shared::new(None), next: AtomicUsize::new(NONE) };
        Shard { slots: (0..slots).map(slot).collect(), freed: AtomicUsize::new(NONE) }
    }

    /// Called by the one who made the slot's word say that it is removed and has no guard.
    fn free(&self, key: Key) {
        let slot = &self.slots[key.slot];
        drop(slot.value.write(Option::take));
        slot.word.store(((key.generation + 1) * ONE_GENERATION) | FREE, Release);
        let mut first = self.freed.load(Relaxed);
        loop {
            slot.next.store(first, Relaxed);
            match self.freed.compare_exchange(first, key.slot, AcqRel, Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }
}

impl<T, const PLANTED: bool> Slab<T, PLANTED> {
    pub fn new(shards: usize, slots: usize) -> Self {
        Slab { shards: (0..shards).map(|_| Shard::new(slots)).collect() }
    }

    /// At most one for each shard.
    pub fn owner(&self, shard: usize) -> Owner<'_, T> {
        let owned = &self.shards[shard];
        Owner { shard: owned, number: shard, free: (0..owned.slots.len()).collect() }
    }

    /// Changes the word of the key's slot, as long as the change allows it. Returns the word from before.
    fn change(&self, key: Key, change: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let word = &self.shards[key.shard].slots[key.slot].word;
        let mut before = word.load(Acquire);
        while generation(before) == key.generation
            && let Some(after) = change(before)
        {
            match word.compare_exchange(before, after, AcqRel, Acquire) {
                Ok(_) => return Some(before),
                Err(now) => before = now,
            }
        }
        None
    }

    pub fn get(&self, key: Key) -> Option<Guard<'_, T, PLANTED>> {
        let is_present = |word: usize| (word & STATE == PRESENT).then_some(word + ONE_GUARD);
        self.change(key, is_present).map(|_| Guard { slab: self, key })
    }

    /// Whether there was such a value.
    pub fn remove(&self, key: Key) -> bool {
        let mark = |word: usize| (word & STATE == PRESENT).then_some(word & !STATE | REMOVED);
        let Some(before) = self.change(key, mark) else { return false };
        // The planted bug: nobody looks whether there are guards.
        if PLANTED || before & GUARDS == 0 {
            self.shards[key.shard].free(key);
        }
        true
    }
}

/// Inserts into one shard.
pub struct Owner<'a, T> {
    shard: &'a Shard<T>,
    number: usize,
    free: Vec<usize>,
}

impl<T> Owner<'_, T> {
    /// `None` if the shard is full.
    pub fn insert(&mut self, value: T) -> Option<Key> {
        if self.free.is_empty() {
            self.fetch_freed();
        }
        let at = self.free.pop()?;
        let slot = &self.shard.slots[at];
        let generation = generation(slot.word.load(Acquire));
        slot.value.write(|place| *place = Some(value));
        slot.word.store((generation * ONE_GENERATION) | PRESENT, Release);
        Some(Key { shard: self.number, slot: at, generation })
    }

    fn fetch_freed(&mut self) {
        let mut next = self.shard.freed.swap(NONE, Acquire);
        while next != NONE {
            self.free.push(next);
            next = self.shard.slots[next].next.load(Relaxed);
        }
    }
}

/// Keeps a value where it is.
pub struct Guard<'a, T, const PLANTED: bool> {
    slab: &'a Slab<T, PLANTED>,
    key: Key,
}

impl<T, const PLANTED: bool> Guard<'_, T, PLANTED> {
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let slot = &self.slab.shards[self.key.shard].slots[self.key.slot];
        slot.value.read(|value| look(value.as_ref().expect("a value with a guard is not removed")))
    }
}

impl<T, const PLANTED: bool> Drop for Guard<'_, T, PLANTED> {
    fn drop(&mut self) {
        let before = self.slab.change(self.key, |word| Some(word - ONE_GUARD));
        // With the bug, the word may be that of another value by now.
        let Some(before) = before else { return };
        if before & STATE == REMOVED && before & GUARDS == ONE_GUARD && !PLANTED {
            self.slab.shards[self.key.shard].free(self.key);
        }
    }
}
