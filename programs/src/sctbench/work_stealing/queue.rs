//! The queue and its locks.
//!
//! Head and tail count items and index the slots modulo their number, a power of two. Only thieves change the head, one at a time by
//! the lock; only the owner changes the tail. Where both might be after the same item, the owner takes the lock too.
//!
//! A thief moves the head before it has read the item. So the owner must leave a slot free, or it overwrites what is just being
//! stolen: `spare` is 1 in a sound queue, and 0 in the one with the bug.

use raddle::hint;
use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Mutex, MutexGuard};

/// What keeps thieves apart.
pub(super) trait Lock: Default + Sync {
    type Held<'a>
    where
        Self: 'a;

    /// Waits until it is free.
    fn lock(&self) -> Self::Held<'_>;
}

#[derive(Default)]
pub(super) struct MutexLock(Mutex<()>);

impl Lock for MutexLock {
    type Held<'a> = MutexGuard<'a, ()>;

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap()
    }
}

#[derive(Default)]
pub(super) struct SpinLock(AtomicBool);

pub(super) struct Spun<'a>(&'a SpinLock);

impl Lock for SpinLock {
    type Held<'a> = Spun<'a>;

    fn lock(&self) -> Spun<'_> {
        while self.0.swap(true, SeqCst) {
            hint::spin_loop();
        }
        Spun(self)
    }
}

impl Drop for Spun<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, SeqCst);
    }
}

/// A queue of numbers.
pub(super) struct WorkStealQueue<L> {
    lock: L,
    head: AtomicUsize,
    tail: AtomicUsize,
    /// Slots for each number of slots the queue may grow to.
    tables: [Vec<AtomicUsize>; 3],
    /// Which table is in use. Changed by the owner, under the lock.
    table: AtomicUsize,
    spare: usize,
}

impl<L: Lock> WorkStealQueue<L> {
    /// An empty queue with two slots at first.
    pub(super) fn new(spare: usize) -> Self {
        let tables = [2, 4, 8].map(|slots| (0..slots).map(|_| AtomicUsize::new(0)).collect());
        // Indices begin away from zero, so that the owner may look one below.
        let start = || AtomicUsize::new(START);
        Self { lock: L::default(), head: start(), tail: start(), tables, table: AtomicUsize::new(0), spare }
    }

    fn slots(&self) -> &[AtomicUsize] {
        &self.tables[self.table.load(SeqCst)]
    }

    fn read(&self, index: usize) -> usize {
        let slots = self.slots();
        slots[index % slots.len()].load(SeqCst)
    }

    fn write(&self, index: usize, item: usize) {
        let slots = self.slots();
        slots[index % slots.len()].store(item, SeqCst);
    }

    /// Takes the oldest item.
    pub(super) fn steal(&self) -> Option<usize> {
        let _held = self.lock.lock();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head < self.tail.load(SeqCst) {
            Some(self.read(head))
        } else {
            self.head.store(head, SeqCst);
            None
        }
    }

    /// Takes the newest item. For the owner.
    pub(super) fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(self.read(tail));
        }
        // A thief may be after the same item.
        self.tail.store(tail + 1, SeqCst);
        self.pop_locked()
    }

    fn pop_locked(&self) -> Option<usize> {
        let _held = self.lock.lock();
        let tail = self.tail.load(SeqCst) - 1;
        if self.head.load(SeqCst) <= tail {
            self.tail.store(tail, SeqCst);
            return Some(self.read(tail));
        }
        self.head.store(START, SeqCst);
        self.tail.store(START, SeqCst);
        None
    }

    /// Puts an item at the tail. For the owner.
    pub(super) fn push(&self, item: usize) {
        let tail = self.tail.load(SeqCst);
        if tail + self.spare < self.head.load(SeqCst) + self.slots().len() {
            self.write(tail, item);
            self.tail.store(tail + 1, SeqCst);
        } else {
            self.push_locked(item);
        }
    }

    /// Moves on to the next table if there is no room.
    fn push_locked(&self, item: usize) {
        let _held = self.lock.lock();
        let (head, tail) = (self.head.load(SeqCst), self.tail.load(SeqCst));
        if tail + self.spare >= head + self.slots().len() {
            let items: Vec<usize> = (head..tail).map(|index| self.read(index)).collect();
            self.table.fetch_add(1, SeqCst);
            for (index, item) in (head..tail).zip(items) {
                self.write(index, item);
            }
        }
        self.write(tail, item);
        self.tail.store(tail + 1, SeqCst);
    }
}

const START: usize = 8;
