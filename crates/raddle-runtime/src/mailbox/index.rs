//! The messages of a long mailbox, unless they are a [queue](super::queue). No operation looks at all of them, and a copy shares what
//! is not changed.
//!
//! Messages are numbered by their arrival. A message that cannot be received is kept with *one* line that holds it back (see
//! [`rule`](super::rule)). When the first message of that line is taken, the message is released or goes on to the next line that holds it
//! back. It never goes back to an earlier line: whoever arrives later is behind its bounds.

use std::rc::Rc;

use super::Message;
use super::hash::{HashedMessage, LineHashes, Sum};
use super::ordered_map::{OrderedMap, Summed};
use crate::actor::Delivery;

/// The messages of a mailbox, and which of them can be received.
#[derive(Clone)]
pub(super) struct Index<T: Clone> {
    delivery: Delivery,
    /// By arrival.
    messages: OrderedMap<Entry<T>>,
    /// By the numbers of the messages, when they arrived.
    numbers: OrderedMap<Arrival>,
    lines: OrderedMap<Line>,
    len: usize,
    arrived: u64,
    /// Nothing if nobody asks for hashes.
    hashes: LineHashes,
}

struct Entry<T> {
    message: Rc<T>,
    open: bool,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self { message: Rc::clone(&self.message), open: self.open }
    }
}

/// The sum is how many can be received.
impl<T> Summed for Entry<T> {
    type Sum = u32;

    fn sum(&self) -> u32 {
        u32::from(self.open)
    }

    fn add(left: u32, right: u32) -> u32 {
        left + right
    }
}

/// When a message arrived.
#[derive(Clone, Copy)]
struct Arrival(u64);

/// The messages that hold back others, by position, and those that wait behind them, by bound and arrival.
#[derive(Clone, Default)]
struct Line {
    positions: OrderedMap<Arrival>,
    held: OrderedMap<Arrival>,
}

/// Values that nobody adds up.
macro_rules! without_sum {
    ($($value:ty),*) => {$(
        impl Summed for $value {
            type Sum = ();

            fn sum(&self) {}

            fn add((): (), (): ()) {}
        }
    )*};
}

without_sum!(Arrival, Line);

impl Line {
    /// Whether somebody stands before a bound.
    fn holds(&self, bound: u64) -> bool {
        self.positions.first().is_some_and(|(position, _)| position < bound)
    }

    /// One who waits for nobody in this line any more.
    fn release(&mut self) -> Option<u64> {
        let (key, &Arrival(arrived)) = self.held.first()?;
        if self.holds(key >> 32) {
            return None;
        }
        self.held.remove(key);
        Some(arrived)
    }
}

impl<T: Message> Index<T> {
    pub(super) fn new(delivery: Delivery) -> Self {
        let (messages, numbers) = (OrderedMap::default(), OrderedMap::default());
        let (lines, hashes) = (OrderedMap::default(), LineHashes::default());
        Self { delivery, messages, numbers, lines, len: 0, arrived: 0, hashes }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many can be received.
    pub(super) fn count_open(&self) -> u32 {
        self.messages.sum()
    }

    /// Puts a message behind the others.
    pub(super) fn append(&mut self, message: T) {
        let message = Rc::new(message);
        let arrived = self.arrived;
        self.arrived += 1;
        self.len += 1;
        assert!(self.arrived < 1 << 32, "raddle bug: more than 2^32 messages in a mailbox");
        let (number, position) =
            (message.delivery_info().number, self.delivery.position(message.delivery_info(), arrived));
        if let Some((line, position)) = position {
            self.in_line(line, |line| line.positions.insert(position, Arrival(arrived)));
        }
        self.numbers.insert(u64::from(number), Arrival(arrived));
        self.add_to_hash(message.hashed(), arrived);
        let held = self.wait(&message, arrived, 0);
        self.messages.insert(arrived, Entry { message, open: !held });
    }

    fn in_line<R>(&mut self, line: u64, change: impl FnOnce(&mut Line) -> R) -> R {
        if self.lines.get(line).is_none() {
            self.lines.insert(line, Line::default());
        }
        self.lines.change(line, change).expect("it was put there")
    }

    /// Lets a message wait in the first line from `from` on that holds it back; whether there is one.
    fn wait(&mut self, message: &T, arrived: u64, mut from: u64) -> bool {
        while let Some((line, bound)) = self.delivery.bound(message.delivery_info(), arrived, from) {
            if self.lines.get(line).is_some_and(|line| line.holds(bound)) {
                self.in_line(line, |line| line.held.insert(bound << 32 | arrived, Arrival(arrived)));
                return true;
            }
            from = line + 1;
        }
        false
    }

    /// The message with this number, or the oldest.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&T> {
        Some(&self.messages.get(self.find(number)?)?.message)
    }

    /// When the message with this number arrived, or the oldest.
    pub(super) fn find(&self, number: Option<u32>) -> Option<u64> {
        match number {
            Some(number) => self.numbers.get(u64::from(number)).map(|arrived| arrived.0),
            None => self.messages.first().map(|(arrived, _)| arrived),
        }
    }

    /// Takes out the message that arrived at this time, which can be received.
    pub(super) fn take(&mut self, arrived: u64) -> Option<T> {
        let Entry { message, .. } = self.messages.remove(arrived)?;
        self.len -= 1;
        self.numbers.remove(u64::from(message.delivery_info().number));
        if let Some(hashed) = message.hashed().filter(|_| self.delivery != Delivery::Unordered) {
            self.hashes.remove(self.delivery, hashed, arrived);
        }
        if let Some((line, position)) = self.delivery.position(message.delivery_info(), arrived) {
            self.in_line(line, |line| line.positions.remove(position));
            self.release(line);
        }
        Some(Rc::try_unwrap(message).unwrap_or_else(|shared| T::clone(&shared)))
    }

    /// Takes out the oldest message, whether it can be received or not. Afterwards nothing else is asked for than the rest, in the same way.
    pub(super) fn drain_oldest(&mut self) -> Option<T> {
        let (arrived, _) = self.messages.first()?;
        let Entry { message, .. } = self.messages.remove(arrived)?;
        Some(Rc::try_unwrap(message).unwrap_or_else(|shared| T::clone(&shared)))
    }

    /// The first of a line is gone: who waited for it goes on.
    fn release(&mut self, line: u64) {
        while let Some(arrived) = self.in_line(line, Line::release) {
            let Some(entry) = self.messages.get(arrived) else { continue };
            let message = Rc::clone(&entry.message);
            if !self.wait(&message, arrived, line + 1) {
                self.messages.change(arrived, |entry| entry.open = true);
            }
        }
        if self.lines.get(line).is_some_and(|line| line.positions.is_empty() && line.held.is_empty()) {
            self.lines.remove(line);
        }
    }

    /// When the message arrived that comes after so many others that can be received.
    pub(super) fn nth_open(&self, mut nth: u32) -> Option<u64> {
        let found = self.messages.find_child(|children| {
            children.iter().find(|child| {
                let here = nth < child.sum();
                nth -= if here { 0 } else { child.sum() };
                here
            })
        });
        found.map(|(arrived, _)| arrived)
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    pub(super) fn each_open(&self, mut list: impl FnMut(u32)) {
        self.messages.for_each(&|open| open > 0, &mut |_, entry| list(entry.message.delivery_info().number));
    }

    /// The terms of a mailbox without order do not depend on each other, so whoever asks for the hash adds them up.
    fn add_to_hash(&mut self, message: Option<HashedMessage>, arrived: u64) {
        if let Some(message) = message.filter(|_| self.delivery != Delivery::Unordered) {
            self.hashes.insert(self.delivery, message, arrived);
        }
    }

    /// The hash of what waits in an order, without the message that has this number, or the oldest if none is given, and with others that
    /// are sent.
    pub(super) fn hash_with(&self, without: Option<Option<u32>>, sent: impl Iterator<Item = HashedMessage>) -> Sum {
        let mut hashes = self.hashes.clone();
        if let Some(arrived) = without.and_then(|number| self.find(number))
            && let Some(hashed) = self.messages.get(arrived).and_then(|entry| entry.message.hashed())
        {
            hashes.remove(self.delivery, hashed, arrived);
        }
        sent.zip(self.arrived..).for_each(|(message, arrived)| hashes.insert(self.delivery, message, arrived));
        hashes.sum()
    }
}
