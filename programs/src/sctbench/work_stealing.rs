//! Work-stealing queues after the THE protocol of Cilk: the owner pushes and pops at the tail without a lock, thieves take from the
//! head under one. Every item must be taken exactly once.

mod queue;
mod records;

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::thread;

use self::queue::{Lock, MutexLock, SpinLock, WorkStealQueue};
use self::records::{Careful, Careless, NoRecords, Records};
use crate::Program;

/// The four of the suite: with a mutex or a spinning lock, and where threads keep records of what they do. Those with records have a
/// sound queue, and it is the records that get lost.
pub static PROGRAMS: [Program; 7] = [
    Program::bug("WorkStealQueue", "panic", || by_turns::<MutexLock, NoRecords>(1, 0)).sized(1, 3, |thieves| {
        by_turns::<MutexLock, NoRecords>(thieves, 0);
    }),
    Program::correct("WorkStealQueue_ok", || by_turns::<MutexLock, NoRecords>(1, 1)),
    Program::bug("InterlockedWSQ", "panic", || by_turns::<SpinLock, NoRecords>(1, 0)),
    Program::correct("InterlockedWSQ_ok", || by_turns::<SpinLock, NoRecords>(1, 1)),
    Program::bug("IWSQWithState", "panic", || by_turns::<SpinLock, Careless>(1, 1)),
    Program::bug("StateWSQ", "panic", || all_at_once::<SpinLock, Careless>(2)),
    Program::correct("StateWSQ_ok", || all_at_once::<SpinLock, Careful>(2)),
];

const ITEMS: usize = 4;
const ATTEMPTS: usize = 2;

/// Each item counts how often it was taken.
struct Workshop<L, R> {
    queue: WorkStealQueue<L>,
    items: [AtomicU32; ITEMS],
    records: R,
}

impl<L: Lock, R: Records> Workshop<L, R> {
    fn new(spare: usize) -> Self {
        Self { queue: WorkStealQueue::new(spare), items: Default::default(), records: R::default() }
    }

    fn push(&self, item: usize) {
        self.records.note(0, "push");
        self.queue.push(item);
    }

    fn pop(&self) {
        self.records.note(0, "pop");
        self.work_on(self.queue.pop());
    }

    fn steal(&self, thief: usize) {
        self.records.enter(thief);
        for _ in 0..ATTEMPTS {
            self.records.note(thief, "steal");
            self.work_on(self.queue.steal());
        }
    }

    fn work_on(&self, item: Option<usize>) {
        if let Some(item) = item {
            self.items[item].fetch_add(1, SeqCst);
        }
    }

    /// The owner does its part while so many thieves try to do it.
    fn open(&self, thieves: usize, own_work: fn(&Self)) {
        thread::scope(|scope| {
            for thief in 1..=thieves {
                scope.spawn(move || self.steal(thief));
            }
            self.records.enter(0);
            own_work(self);
        });
        for item in &self.items {
            assert_eq!(item.load(SeqCst), 1, "an item was lost, or taken twice");
        }
    }
}

/// Two pushes, one pop, and again; then the rest.
fn by_turns<L: Lock, R: Records>(thieves: u32, spare: usize) {
    Workshop::<L, R>::new(spare).open(thieves as usize, |workshop| {
        for pair in 0..ITEMS / 2 {
            workshop.push(2 * pair);
            workshop.push(2 * pair + 1);
            workshop.pop();
        }
        for _ in 0..ITEMS / 2 {
            workshop.pop();
        }
    });
}

fn all_at_once<L: Lock, R: Records>(thieves: u32) {
    Workshop::<L, R>::new(1).open(thieves as usize, |workshop| {
        for item in 0..ITEMS {
            workshop.push(item);
        }
        for _ in 0..ITEMS {
            workshop.pop();
        }
    });
}
