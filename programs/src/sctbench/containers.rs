//! A producer and a consumer under one lock: circular_buffer and queue, where both count how often they tried instead of how often
//! they did, and stack, where the consumer trusts a flag that is never taken back.

use std::collections::VecDeque;

use raddle::sync::Mutex;

use crate::Program;
use crate::program::together;

/// As they are in the suite, and each put right.
pub static PROGRAMS: [Program; 6] = [
    Program::bug("circular_buffer", "panic", || together(&Log::default(), &[Log::fill_by_tries, Log::empty_by_tries])),
    Program::correct("circular_buffer_ok", || together(&Log::default(), &[Log::fill, Log::empty])),
    Program::bug("queue", "panic", || {
        together(&Queue::default(), &[|q| q.fill(|tried, _| tried), |q| q.empty(|tried, _| tried)]);
    }),
    Program::correct("queue_ok", || {
        together(&Queue::default(), &[|q| q.fill(|_, done| done), |q| q.empty(|_, done| done)]);
    }),
    Program::bug("stack", "panic", || together(&Stack::default(), &[Stack::fill, Stack::empty_by_flag])),
    Program::correct("stack_ok", || together(&Stack::default(), &[Stack::fill, Stack::empty_if_any])),
];

/// A log of which one entry at a time is on its way.
#[derive(Default)]
struct Log {
    on_the_way: Mutex<Option<u32>>,
}

impl Log {
    const TRIES: u32 = 7;

    /// Numbers entries by its own tries, so that some numbers are never sent.
    fn fill_by_tries(&self) {
        for tried in 0..Self::TRIES {
            self.on_the_way.lock().unwrap().get_or_insert(tried);
        }
    }

    /// Takes its own tries for the number of the entry.
    fn empty_by_tries(&self) {
        for tried in 0..Self::TRIES {
            if let Some(entry) = self.on_the_way.lock().unwrap().take() {
                assert_eq!(entry, tried, "one of the two tried more often than the other");
            }
        }
    }

    fn fill(&self) {
        let mut sent = 0;
        for _ in 0..Self::TRIES {
            let mut on_the_way = self.on_the_way.lock().unwrap();
            if on_the_way.is_none() {
                *on_the_way = Some(sent);
                sent += 1;
            }
        }
    }

    fn empty(&self) {
        let mut received = 0;
        for _ in 0..Self::TRIES {
            if let Some(entry) = self.on_the_way.lock().unwrap().take() {
                assert_eq!(entry, received);
                received += 1;
            }
        }
    }
}

/// A queue, and beside it a list of what was put in.
#[derive(Default)]
struct Queue {
    state: Mutex<Queued>,
}

#[derive(Default)]
struct Queued {
    elements: VecDeque<u32>,
    stored: [u32; Queue::SIZE],
    /// Whose turn it is.
    consumer: bool,
}

impl Queued {
    fn put(&mut self, value: u32, place: usize) {
        self.elements.push_back(value);
        self.stored[place] = value;
    }

    fn take(&mut self, place: usize) {
        let value = self.elements.pop_front();
        assert_eq!(value, Some(self.stored[place]), "one of the two tried when it was not its turn");
    }
}

/// Each takes the place in the list that it has come to, as `count` says: by its tries, or by what it did.
impl Queue {
    const SIZE: usize = 20;

    /// The first element is there before the turns begin, so the consumer is always one behind.
    fn fill(&self, count: fn(tried: usize, done: usize) -> usize) {
        self.state.lock().unwrap().put(0, 0);
        let mut value = 0;
        for tried in 1..Self::SIZE {
            let mut state = self.state.lock().unwrap();
            if !state.consumer {
                value += 1;
                state.put(value, count(tried, value as usize));
                state.consumer = true;
            }
        }
    }

    fn empty(&self, count: fn(tried: usize, done: usize) -> usize) {
        let mut taken = 0;
        for tried in 0..Self::SIZE {
            let mut state = self.state.lock().unwrap();
            if state.consumer {
                state.take(count(tried, taken));
                taken += 1;
                state.consumer = false;
            }
        }
    }
}

/// A stack with a flag that says that something was put there, and not that it still is.
#[derive(Default)]
struct Stack {
    state: Mutex<Pile>,
}

#[derive(Default)]
struct Pile {
    elements: Vec<u32>,
    pushed: bool,
}

impl Stack {
    const SIZE: u32 = 10;

    fn fill(&self) {
        for value in 0..Self::SIZE {
            let mut pile = self.state.lock().unwrap();
            pile.elements.push(value);
            pile.pushed = true;
        }
    }

    fn empty_by_flag(&self) {
        for _ in 0..Self::SIZE {
            let mut pile = self.state.lock().unwrap();
            if pile.pushed {
                assert!(pile.elements.pop().is_some(), "the stack is empty");
            }
        }
    }

    fn empty_if_any(&self) {
        for _ in 0..Self::SIZE {
            let mut pile = self.state.lock().unwrap();
            if let Some(value) = pile.elements.pop() {
                assert!(value as usize >= pile.elements.len(), "a value lies higher than it was put");
            }
        }
    }
}
