//! The messages of a long mailbox, in all orders but [order of arrival](super::queue). No operation looks at all of them, and copies share
//! what neither has changed.
//!
//! Messages are numbered by their arrival. A message that cannot be received waits behind *one* message that holds it back, the last of a
//! line that stands before its bound (see [`rule`](super::rule)). When that one is taken, the message can be received, or waits behind
//! another that holds it back. It never returns to an earlier line: messages that arrive later are behind its bounds.

use std::rc::Rc;

use super::Message;
use super::hash::{HashedMessage, LineHashes, Sum};
use super::ordered_map::{OrderedMap, Value};
use crate::actor::Delivery;

/// The messages of a mailbox, and which of them can be received.
#[derive(Clone)]
pub(super) struct Index<T: Clone> {
    delivery: Delivery,
    /// By arrival.
    messages: OrderedMap<Entry<T>>,
    /// By the numbers of the messages.
    numbers: OrderedMap<Arrival>,
    /// The messages that hold back others, by line and position.
    positions: OrderedMap<Arrival>,
    len: usize,
    arrived: u32,
    /// Empty if messages have no hash, and for mailboxes without an order.
    hashes: LineHashes,
}

/// When a message arrived: how many had arrived before it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Arrival(u32);

impl Arrival {
    fn key(self) -> u64 {
        u64::from(self.0)
    }
}

struct Entry<T> {
    message: Rc<T>,
    open: bool,
    /// The latest of the messages that wait behind this one.
    waits_here: Option<Arrival>,
    /// The next older of the messages that wait behind the same message.
    waits_beside: Option<Arrival>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self { message: Rc::clone(&self.message), ..*self }
    }
}

/// The map counts the messages that can be received.
impl<T> Value for Entry<T> {
    fn counts(&self) -> bool {
        self.open
    }
}

impl Value for Arrival {}

/// The key of a message at this position of a line.
fn position_key((line, position): (u32, u32)) -> u64 {
    u64::from(line) << 32 | u64::from(position)
}

impl<T: Message> Index<T> {
    pub(super) fn new(delivery: Delivery) -> Self {
        let (messages, numbers, positions) = (OrderedMap::default(), OrderedMap::default(), OrderedMap::default());
        Self { delivery, messages, numbers, positions, len: 0, arrived: 0, hashes: LineHashes::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many can be received.
    pub(super) fn count_open(&self) -> u32 {
        self.messages.count()
    }

    /// Puts a message behind the others.
    pub(super) fn append(&mut self, message: T) {
        let arrival = Arrival(self.arrived);
        self.arrived = self.arrived.checked_add(1).expect("raddle bug: more than 2^32 messages in a mailbox");
        self.len += 1;
        let info = message.delivery_info();
        let held = self.hold(&message, arrival, 0);
        if let Some(position) = self.delivery.position(info, arrival.0) {
            self.positions.insert(position_key(position), arrival);
        }
        self.numbers.insert(u64::from(info.number), arrival);
        if let Some(hashed) = self.delivery.hashed(&message) {
            self.hashes.insert(self.delivery, hashed, arrival.0);
        }
        let (open, waits_beside) = (held.is_none(), held.flatten());
        let entry = Entry { message: Rc::new(message), open, waits_here: None, waits_beside };
        self.messages.insert(arrival.key(), entry);
    }

    /// Lets a message wait behind one that holds it back, in the first line from `from` on that has one. Returns `None` if nothing holds it
    /// back, and otherwise the message that it waits beside, if there is one.
    fn hold(&mut self, message: &T, arrival: Arrival, mut from: u32) -> Option<Option<Arrival>> {
        while let Some((line, bound)) = self.delivery.bound(message.delivery_info(), arrival.0, from) {
            let last = self.positions.last_below(position_key((line, bound)));
            if let Some((_, holder)) = last.filter(|(key, _)| key >> 32 == u64::from(line)) {
                let holder = holder.key();
                let beside = self.messages.change(holder, |holder| holder.waits_here.replace(arrival));
                return Some(beside.expect("raddle bug: a message that holds back others is gone"));
            }
            from = line + 1;
        }
        None
    }

    /// The message with this number, or the oldest.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&T> {
        Some(&self.messages.get(self.find(number)?)?.message)
    }

    /// When the message with this number arrived, or the oldest.
    fn find(&self, number: Option<u32>) -> Option<u64> {
        match number {
            Some(number) => self.numbers.get(u64::from(number)).map(|arrival| arrival.key()),
            None => self.messages.first().map(|(arrived, _)| arrived),
        }
    }

    /// Takes out the message with this number, which can be received, or the oldest.
    pub(super) fn take(&mut self, number: Option<u32>) -> Option<T> {
        self.take_at(self.find(number)?)
    }

    /// Takes out the n-th of the messages that can be received, from 0.
    pub(super) fn take_open(&mut self, nth: u32) -> Option<T> {
        let (arrived, _) = self.messages.nth_counted(nth)?;
        self.take_at(arrived)
    }

    fn take_at(&mut self, arrived: u64) -> Option<T> {
        let Entry { message, waits_here, .. } = self.messages.remove(arrived)?;
        self.len -= 1;
        let info = message.delivery_info();
        self.numbers.remove(u64::from(info.number));
        if let Some(hashed) = self.delivery.hashed(&*message) {
            self.hashes.remove(self.delivery, hashed, arrived as u32);
        }
        if let Some(position) = self.delivery.position(info, arrived as u32) {
            self.positions.remove(position_key(position));
            self.release(waits_here, position.0);
        }
        Some(Rc::try_unwrap(message).unwrap_or_else(|shared| T::clone(&shared)))
    }

    /// Takes out the oldest message, whether it can be received or not. The index can only be drained afterwards.
    pub(super) fn drain_oldest(&mut self) -> Option<T> {
        let (arrived, _) = self.messages.first()?;
        let Entry { message, .. } = self.messages.remove(arrived)?;
        Some(Rc::try_unwrap(message).unwrap_or_else(|shared| T::clone(&shared)))
    }

    /// Called when a message of this line was taken. Each message that waited behind it can now be received, or waits behind another, of
    /// this line or a later one.
    fn release(&mut self, mut waiting: Option<Arrival>, line: u32) {
        while let Some(arrival) = waiting {
            let entry = self.messages.get(arrival.key()).expect("raddle bug: a message that waits is gone");
            waiting = entry.waits_beside;
            let message = Rc::clone(&entry.message);
            let held = self.hold(&message, arrival, line);
            self.messages.change(arrival.key(), |entry| {
                (entry.open, entry.waits_beside) = (held.is_none(), held.flatten());
            });
        }
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    pub(super) fn each_open(&self, mut list: impl FnMut(u32)) {
        self.messages.each_counted(&mut |entry| list(entry.message.delivery_info().number));
    }

    /// The hash of what waits in an order, without the message that has this number, or the oldest if none is given, and with others that
    /// one sender sends.
    pub(super) fn hash_with(&self, without: Option<Option<u32>>, sent: impl Iterator<Item = HashedMessage>) -> Sum {
        let gone = without.and_then(|number| {
            let arrived = self.find(number)?;
            Some((self.messages.get(arrived)?.message.hashed()?, arrived as u32))
        });
        self.hashes.sum_with(self.delivery, gone, sent)
    }
}
