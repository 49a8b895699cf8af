//! Mailboxes: the messages that wait to be received, and which of them can be received next.
//!
//! One type serves actors as tasks, models, and untraced runs of both. Which messages can be received is defined [once](rule). A mailbox
//! with few messages is a [short list](few), in which all pairs are compared. A mailbox with [many] messages is a queue or has an
//! index. To send, to receive, to count what can be received, to hash and to copy then take a time that hardly depends on how many messages
//! wait. Only listing what can be received takes as long as that list.

mod blank;
mod few;
mod hash;
mod index;
mod many;
mod message_set;
mod ordered_map;
mod queue;
mod row;
mod rule;
mod slotted;
#[cfg(test)]
mod tests;

use smallvec::{Array, SmallVec};

pub(crate) use self::blank::Blank;
pub(crate) use self::few::Few;
use self::few::{count_released, hash_without, is_held, place_in_line};
pub(crate) use self::hash::HashedMessage;
use self::hash::Sum;
use self::many::Many;
pub(crate) use self::message_set::MessageSet;
pub(crate) use self::rule::{DeliveryInfo, Known};
pub(crate) use self::slotted::Slotted;
use crate::actor::Delivery;

/// A mailbox with at most this many messages becomes a short list again.
const FEW: usize = 4;

/// What a mailbox needs to know about a message.
pub(crate) trait Message: Clone {
    /// The short list of such messages.
    type Few: Few<Self>;

    /// A mailbox with more messages than this is no short list.
    const MANY: usize = 16;

    fn delivery_info(&self) -> DeliveryInfo<'_>;

    /// Called when a later message has overtaken this delayed one.
    fn arrive_in_time(&mut self);

    /// What the hash of the mailbox needs to know; `None` if hashes are not needed.
    fn hashed(&self) -> Option<HashedMessage> {
        None
    }
}

/// The messages that wait for one receiver, in order of arrival. The fields that every step needs come first.
#[repr(C)]
pub(crate) struct Mailbox<T: Message> {
    /// How many can be received.
    open: u32,
    few: T::Few,
    /// If it is `Some`, the short list is empty.
    many: Option<Box<Many<T>>>,
    /// The hash of the short list; zero if the mailbox has none.
    hash: Sum,
}

impl<T: Message> Default for Mailbox<T> {
    fn default() -> Self {
        Self { few: T::Few::default(), open: 0, many: None, hash: Sum::default() }
    }
}

impl<T: Message> Mailbox<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Whether a message has this number.
    pub(crate) fn has(&self, number: u32) -> bool {
        match &self.many {
            Some(many) => many.get(Some(number)).is_some(),
            None => self.place(number).is_some(),
        }
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.few.delivery_infos().position(|message| message.number == number)
    }

    /// The number of the oldest message.
    #[inline]
    pub(crate) fn first_number(&self) -> Option<u32> {
        match &self.many {
            Some(many) => many.get(None).map(|message| message.delivery_info().number),
            None => (self.few.len() > 0).then(|| self.few.delivery_info(0).number),
        }
    }

    /// Puts a message behind the others; in order of arrival, before the last one if that is delayed.
    #[inline(always)]
    pub(crate) fn put(&mut self, delivery: Delivery, message: T) {
        let len = self.few.len();
        if self.many.is_some() || len >= T::MANY {
            return self.put_to_many(delivery, message, Many::put);
        }
        if delivery == Delivery::Arrival && len > 0 && delivery.overtakes(self.few.delivery_info(len - 1).delayed) {
            return self.overtake(delivery, message);
        }
        self.append_to_few(delivery, message);
    }

    /// Puts a message behind the others.
    #[inline]
    pub(crate) fn append(&mut self, delivery: Delivery, message: T) {
        let len = self.few.len();
        if self.many.is_some() || len >= T::MANY {
            return self.put_to_many(delivery, message, Many::append);
        }
        self.append_to_few(delivery, message);
    }

    /// Puts a message before the last one of the short list, which is delayed, and ends its delay.
    #[cold]
    fn overtake(&mut self, delivery: Delivery, message: T) {
        self.few.overtake(message);
        let terms = (0..self.few.len()).filter_map(|at| Some(self.few.hashed(at)?.term(delivery).at(at)));
        self.hash = terms.fold(Sum::default(), Sum::plus);
    }

    #[inline(always)]
    fn append_to_few(&mut self, delivery: Delivery, message: T) {
        let len = self.few.len();
        if let Some(hashed) = delivery.hashed(&message) {
            let place = place_in_line(&self.few, delivery, hashed.sender, len);
            self.hash = self.hash.plus(hashed.term(delivery).at(place));
        }
        self.few.push(message);
        self.open = match delivery.count_open(len + 1) {
            Some(open) => open,
            None => self.open + u32::from(!is_held(&self.few, delivery, len, None)),
        };
    }

    #[inline(never)]
    fn put_to_many(&mut self, delivery: Delivery, message: T, put: fn(&mut Many<T>, T)) {
        let few = &mut self.few;
        let many = self.many.get_or_insert_with(|| {
            let mut many = Box::new(Many::new(delivery));
            while few.len() > 0 {
                many.append(few.remove(0));
            }
            many
        });
        self.hash = Sum::default();
        put(many, message);
        self.open = many.count_open();
    }

    /// How many can be received.
    #[inline]
    pub(crate) fn count_open(&self) -> u32 {
        self.open
    }

    /// Takes out the n-th of the messages that can be received, from 0.
    #[inline]
    pub(crate) fn take_open(&mut self, delivery: Delivery, nth: u32) -> T {
        debug_assert!(nth < self.open, "raddle bug: fewer messages can be received than were counted");
        if self.many.is_some() {
            let taken = self.take_of_many(|many| many.take_open(nth));
            return taken.expect("raddle bug: fewer messages can be received than were counted");
        }
        if delivery.is_queue() {
            return self.take_first();
        }
        let place = match nth {
            // Nothing holds back the first message.
            0 => 0,
            nth if self.open as usize == self.few.len() => nth as usize,
            nth => {
                let mut open = (0..self.few.len()).filter(|&at| !is_held(&self.few, delivery, at, None));
                open.nth(nth as usize).expect("raddle bug: fewer messages can be received than were counted")
            }
        };
        self.take_at(delivery, place)
    }

    /// Takes out the message with this number, which can be received, or the oldest.
    #[inline]
    pub(crate) fn take(&mut self, delivery: Delivery, number: Option<u32>) -> Option<T> {
        if self.many.is_some() {
            return self.take_of_many(|many| many.take(number));
        }
        let place = number.map_or(Some(0), |number| self.place(number))?;
        (place < self.few.len()).then(|| self.take_at(delivery, place))
    }

    /// Takes out the oldest message of a short list, in order of arrival.
    #[inline(always)]
    fn take_first(&mut self) -> T {
        self.hash = hash_without(&self.few, Delivery::Arrival, self.hash, 0);
        self.open = u32::from(self.few.len() > 1);
        self.few.remove_first()
    }

    #[inline(always)]
    fn take_at(&mut self, delivery: Delivery, place: usize) -> T {
        let len = self.few.len();
        self.hash = hash_without(&self.few, delivery, self.hash, place);
        self.open = match delivery.count_open(len - 1) {
            Some(open) => open,
            // If all can be received, this one holds back nothing.
            None if self.open as usize == len => self.open - 1,
            None => self.open - 1 + count_released(&self.few, delivery, place),
        };
        self.few.remove(place)
    }

    #[inline(never)]
    fn take_of_many(&mut self, take: impl FnOnce(&mut Many<T>) -> Option<T>) -> Option<T> {
        let many = self.many.as_mut()?;
        let taken = take(many);
        self.open = many.count_open();
        if many.len() <= FEW {
            self.write_list();
        }
        taken
    }

    /// Makes the mailbox a short list.
    fn write_list(&mut self) {
        if let Some(mut many) = self.many.take() {
            self.hash = many.hash_with(None, std::iter::empty());
            while let Some(message) = many.drain_oldest() {
                self.few.push(message);
            }
        }
    }

    /// Takes everything out, in order of arrival.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        (self.open, self.hash) = (0, Sum::default());
        match self.many.take() {
            Some(mut many) => std::iter::from_fn(|| many.drain_oldest()).collect(),
            None => (0..self.few.len()).map(|_| self.few.remove(0)).collect(),
        }
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    #[inline]
    pub(crate) fn each_open(&self, delivery: Delivery, mut list: impl FnMut(u32)) {
        if let Some(many) = &self.many {
            return many.each_open(list);
        }
        let all = self.open as usize == self.few.len();
        for (at, message) in self.few.delivery_infos().enumerate() {
            if all || !is_held(&self.few, delivery, at, None) {
                list(message.number);
            }
        }
    }
}

impl Mailbox<Slotted> {
    /// Calls `change` with the set of messages that each sender knew of. It may only remove messages that are gone.
    pub(crate) fn change_known(&mut self, change: impl FnMut(&mut MessageSet)) {
        self.few.iter_mut().map(|message| &mut message.known).for_each(change);
    }
}

impl<T: Message<Few = SmallVec<A>>, A: Array<Item = T> + 'static> Mailbox<T> {
    /// The message with this number, or the oldest.
    pub(crate) fn get(&self, number: Option<u32>) -> Option<&T> {
        match (&self.many, number) {
            (Some(many), _) => many.get(number),
            (None, Some(number)) => self.few.get(self.place(number)?),
            (None, None) => self.few.first(),
        }
    }

    /// The hash of the messages without the one that has this number (or the oldest, if no number is given), and with messages that one
    /// sender sends.
    pub(crate) fn hash_with(
        &self,
        delivery: Delivery,
        without: Option<Option<u32>>,
        sent: impl Iterator<Item = HashedMessage>,
    ) -> u64 {
        if let Some(many) = &self.many {
            return many.hash_with(without, sent).number();
        }
        let without = without.and_then(|number| number.map_or(Some(0), |number| self.place(number)));
        let without = without.filter(|at| *at < self.few.len());
        let hash = without.map_or(self.hash, |at| hash_without(&self.few, delivery, self.hash, at));
        let mut place = None;
        let sum = sent.fold(hash, |sum, message| {
            let next = place.unwrap_or_else(|| {
                let gone = without.is_some_and(|at| {
                    let line = |sender| delivery.hash_line(sender);
                    line(self.few.delivery_info(at).sender) == line(message.sender)
                });
                place_in_line(&self.few, delivery, message.sender, self.few.len()) - usize::from(gone)
            });
            place = Some(next + 1);
            sum.plus(message.term(delivery).at(next))
        });
        sum.number()
    }
}

/// Where states are forked, a mailbox is copied at nearly every step, mostly over one that is not used any more.
impl<T: Message<Few = SmallVec<A>>, A: Array<Item = T>> Clone for Mailbox<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Most mailboxes are empty, which is no reason to look through them.
        let few = if self.few.is_empty() { SmallVec::new() } else { self.few.clone() };
        Self { few, open: self.open, many: self.many.clone(), hash: self.hash }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.few.clear();
        if !other.few.is_empty() {
            self.few.extend(other.few.iter().cloned());
        }
        (self.open, self.hash) = (other.open, other.hash);
        self.many.clone_from(&other.many);
    }
}
