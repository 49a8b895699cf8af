//! The messages of a long mailbox in order of arrival, where only the oldest can be received.
//!
//! Messages are stored in chunks that copies of a mailbox share. To copy a queue and to receive from it take constant time. To send to a
//! copy whose chunks are shared copies the last chunk, and once per chunk the list of chunks.
//!
//! The messages are one line of [`hash`](super::hash).

use std::collections::VecDeque;
use std::mem;
use std::rc::Rc;

use super::Message;
use super::hash::{HashedMessage, LineHash, Sum};
use crate::actor::Delivery;

/// Messages per chunk.
const CHUNK: usize = 16;

/// Messages in order of arrival. A message that was taken out leaves `None` if nobody shares the chunk; else a copy was taken.
type Chunk<T> = Vec<Option<T>>;

/// All messages of one mailbox, in order of arrival.
pub(super) struct Queue<T> {
    len: usize,
    /// The oldest messages, of which the first `taken` are gone.
    front: Rc<Chunk<T>>,
    taken: usize,
    /// Full chunks, of which the first `skipped` are gone. They are removed when this list is next changed.
    middle: Rc<VecDeque<Rc<Chunk<T>>>>,
    skipped: usize,
    /// The latest messages. If there are none, the latest message is the last of `front`.
    back: Rc<Chunk<T>>,
    /// The hash of an empty line if the messages have none.
    hash: LineHash,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        let (front, middle, back) = (Rc::clone(&self.front), Rc::clone(&self.middle), Rc::clone(&self.back));
        Self { front, middle, back, ..*self }
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let (front, middle, back) = (Rc::default(), Rc::default(), Rc::default());
        Self { len: 0, front, taken: 0, middle, skipped: 0, back, hash: LineHash::default() }
    }
}

impl<T: Message> Queue<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The oldest message.
    pub(super) fn oldest(&self) -> Option<&T> {
        let next = || self.middle.get(self.skipped).unwrap_or(&self.back).first();
        self.front.get(self.taken).or_else(next)?.as_ref()
    }

    /// Whether the oldest message has this number.
    pub(super) fn has_oldest(&self, number: u32) -> bool {
        self.oldest().is_some_and(|oldest| oldest.delivery_info().number == number)
    }

    /// The message with this number. Looks at all of them; only reports and timers ask.
    pub(super) fn find(&self, number: u32) -> Option<&T> {
        let middle = self.middle.iter().skip(self.skipped).flat_map(|chunk| chunk.iter());
        let mut all = self.front.iter().skip(self.taken).chain(middle).chain(self.back.iter()).flatten();
        all.find(|message| message.delivery_info().number == number)
    }

    /// Puts a message behind the others, or before the last one if that is delayed.
    pub(super) fn put(&mut self, mut message: T) {
        let last = if self.back.is_empty() { self.front.last() } else { self.back.last() };
        let delayed = last.and_then(Option::as_ref).is_some_and(|last| last.delivery_info().delayed);
        if self.len > 0 && Delivery::Arrival.overtakes(delayed) {
            let latest = if self.back.is_empty() { &mut self.front } else { &mut self.back };
            let last = own(latest).last_mut().and_then(Option::as_mut).expect("raddle bug: the last message is gone");
            if let (Some(last), Some(earlier)) = (last.hashed(), message.hashed()) {
                self.hash.pop_last(last.term(Delivery::Arrival));
                self.hash.push(earlier.term(Delivery::Arrival));
            }
            mem::swap(last, &mut message);
            message.arrive_in_time();
        }
        self.append(message);
    }

    /// Puts a message behind the others.
    pub(super) fn append(&mut self, message: T) {
        self.len += 1;
        if let Some(hashed) = message.hashed() {
            self.hash.push(hashed.term(Delivery::Arrival));
        }
        if self.back.len() == CHUNK {
            self.close_chunk();
        }
        own(&mut self.back).push(Some(message));
    }

    /// Moves the full last chunk to the list of chunks.
    fn close_chunk(&mut self) {
        let full = mem::take(&mut self.back);
        match Rc::get_mut(&mut self.middle) {
            Some(middle) => {
                middle.drain(..self.skipped);
                middle.push_back(full);
            }
            None => {
                let rest = self.middle.iter().skip(self.skipped).cloned();
                self.middle = Rc::new(rest.chain([full]).collect());
            }
        }
        self.skipped = 0;
    }

    /// Takes out the oldest message.
    pub(super) fn take_oldest(&mut self) -> Option<T> {
        if self.taken == self.front.len() {
            self.next_chunk();
        }
        let message = match Rc::get_mut(&mut self.front) {
            Some(front) => front.get_mut(self.taken)?.take()?,
            None => self.front.get(self.taken)?.clone()?,
        };
        self.taken += 1;
        self.len -= 1;
        if let Some(hashed) = message.hashed() {
            self.hash.remove(hashed.term(Delivery::Arrival), LineHash::default());
        }
        Some(message)
    }

    /// Makes the next chunk the first.
    fn next_chunk(&mut self) {
        self.taken = 0;
        if self.skipped == self.middle.len() {
            self.front = mem::take(&mut self.back);
            return;
        }
        match Rc::get_mut(&mut self.middle) {
            Some(middle) => {
                middle.drain(..mem::take(&mut self.skipped));
                self.front = middle.pop_front().expect("there is one more than was skipped");
            }
            None => {
                self.front = Rc::clone(&self.middle[self.skipped]);
                self.skipped += 1;
            }
        }
    }

    /// The hash of the messages, without the oldest if that is asked for, and with others that are sent.
    pub(super) fn hash_with(&self, without_oldest: bool, sent: impl Iterator<Item = HashedMessage>) -> Sum {
        let mut hash = self.hash;
        if let Some(oldest) = self.oldest().filter(|_| without_oldest).and_then(Message::hashed) {
            hash.remove(oldest.term(Delivery::Arrival), LineHash::default());
        }
        sent.for_each(|message| hash.push(message.term(Delivery::Arrival)));
        hash.value
    }
}

/// The chunk, to be changed. If copies of the queue share it, they keep the old one.
fn own<T: Clone>(chunk: &mut Rc<Chunk<T>>) -> &mut Chunk<T> {
    if Rc::get_mut(chunk).is_none() {
        let mut copy = Vec::with_capacity(CHUNK);
        copy.extend_from_slice(chunk);
        *chunk = Rc::new(copy);
    }
    Rc::get_mut(chunk).expect("nobody else knows the copy")
}
