//! The messages of a long mailbox: a [queue](super::queue) in order of arrival, and an [index](super::index) in all other orders.

use super::Message;
use super::hash::{HashedMessage, Sum};
use super::index::Index;
use super::queue::Queue;
use crate::actor::Delivery;

/// Many messages. Both forms are copied in constant time.
#[derive(Clone)]
pub(super) enum Many<T: Clone> {
    Queue(Queue<T>),
    Index(Index<T>),
}

impl<T: Message> Many<T> {
    pub(super) fn new(delivery: Delivery) -> Self {
        if delivery.is_queue() { Self::Queue(Queue::default()) } else { Self::Index(Index::new(delivery)) }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Queue(queue) => queue.len(),
            Self::Index(index) => index.len(),
        }
    }

    pub(super) fn count_open(&self) -> u32 {
        match self {
            Self::Queue(queue) => u32::from(queue.len() > 0),
            Self::Index(index) => index.count_open(),
        }
    }

    /// Puts a message behind the others; in order of arrival, before the last one if that is delayed.
    pub(super) fn put(&mut self, message: T) {
        match self {
            Self::Queue(queue) => queue.put(message),
            Self::Index(index) => index.append(message),
        }
    }

    /// Puts a message behind the others.
    pub(super) fn append(&mut self, message: T) {
        match self {
            Self::Queue(queue) => queue.append(message),
            Self::Index(index) => index.append(message),
        }
    }

    /// The message with this number, or the oldest.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&T> {
        match (self, number) {
            (Self::Queue(queue), None) => queue.oldest(),
            (Self::Queue(queue), Some(number)) => queue.find(number),
            (Self::Index(index), _) => index.get(number),
        }
    }

    /// Takes out the message with this number, which can be received, or the oldest.
    pub(super) fn take(&mut self, number: Option<u32>) -> Option<T> {
        match self {
            Self::Queue(queue) if number.is_none_or(|number| queue.has_oldest(number)) => queue.take_oldest(),
            Self::Queue(_) => None,
            Self::Index(index) => index.take(number),
        }
    }

    /// Takes out the n-th of the messages that can be received, from 0.
    pub(super) fn take_open(&mut self, nth: u32) -> Option<T> {
        match self {
            Self::Queue(queue) => queue.take_oldest(),
            Self::Index(index) => index.take_open(nth),
        }
    }

    /// Takes out the oldest message, whether it can be received or not. The mailbox can only be drained afterwards.
    pub(super) fn drain_oldest(&mut self) -> Option<T> {
        match self {
            Self::Queue(queue) => queue.take_oldest(),
            Self::Index(index) => index.drain_oldest(),
        }
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    pub(super) fn each_open(&self, mut list: impl FnMut(u32)) {
        match self {
            Self::Queue(queue) => queue.oldest().into_iter().for_each(|oldest| list(oldest.delivery_info().number)),
            Self::Index(index) => index.each_open(list),
        }
    }

    /// The hash of the messages without the one that has this number (or the oldest, if no number is given), and with messages that one
    /// sender sends.
    pub(super) fn hash_with(&self, without: Option<Option<u32>>, sent: impl Iterator<Item = HashedMessage>) -> Sum {
        match self {
            Self::Queue(queue) => {
                let without = without.is_some_and(|number| number.is_none_or(|number| queue.has_oldest(number)));
                queue.hash_with(without, sent)
            }
            Self::Index(index) => index.hash_with(without, sent),
        }
    }
}
