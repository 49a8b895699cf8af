//! The messages of a short mailbox: a list in order of arrival, in which all pairs are compared.

use raddle_engine::ids::TaskId;
use smallvec::{Array, SmallVec};

use super::Message;
use super::hash::{HashedMessage, Sum};
use super::rule::DeliveryInfo;
use crate::actor::Delivery;

/// A short list of messages, in order of arrival.
pub(crate) trait Few<T>: Default {
    fn len(&self) -> usize;

    fn delivery_info(&self, at: usize) -> DeliveryInfo<'_>;

    /// The delivery infos of all messages.
    fn delivery_infos(&self) -> impl Iterator<Item = DeliveryInfo<'_>>;

    /// What the hash of the mailbox needs to know about a message; `None` if hashes are not needed.
    #[inline(always)]
    fn hashed(&self, _at: usize) -> Option<HashedMessage> {
        None
    }

    fn push(&mut self, message: T);

    /// Puts a message before the last one, which is delayed, and ends its delay.
    fn overtake(&mut self, message: T);

    fn remove(&mut self, at: usize) -> T;

    /// Removes the oldest message, in order of arrival.
    #[inline(always)]
    fn remove_first(&mut self) -> T {
        self.remove(0)
    }
}

/// Lists of whole messages.
macro_rules! list {
    ($list:ident<$parameter:ident $(: $bound:ident)?>, $item:ty) => {
        impl<$parameter $(: $bound)?> Few<$item> for $list<$parameter>
        where
            $item: Message,
        {
            #[inline(always)]
            fn len(&self) -> usize {
                $list::len(self)
            }

            #[inline(always)]
            fn delivery_info(&self, at: usize) -> DeliveryInfo<'_> {
                self[at].delivery_info()
            }

            #[inline(always)]
            fn delivery_infos(&self) -> impl Iterator<Item = DeliveryInfo<'_>> {
                self.iter().map(Message::delivery_info)
            }

            #[inline(always)]
            fn hashed(&self, at: usize) -> Option<HashedMessage> {
                self[at].hashed()
            }

            #[inline(always)]
            fn push(&mut self, message: $item) {
                $list::push(self, message);
            }

            #[cold]
            fn overtake(&mut self, message: $item) {
                if let Some(mut last) = self.pop() {
                    last.arrive_in_time();
                    $list::push(self, message);
                    $list::push(self, last);
                }
            }

            #[inline(always)]
            fn remove(&mut self, at: usize) -> $item {
                $list::remove(self, at)
            }
        }
    };
}

list!(SmallVec<A: Array>, A::Item);
list!(Vec<T>, T);

/// Whether another message of the list holds back the one at this place. The message `gone` does not count.
#[inline]
pub(super) fn is_held<T>(list: &impl Few<T>, delivery: Delivery, at: usize, gone: Option<usize>) -> bool {
    let later = list.delivery_info(at);
    delivery != Delivery::Unordered
        && (0..at)
            .zip(list.delivery_infos())
            .any(|(at, earlier)| Some(at) != gone && delivery.holds_back(earlier, later))
}

/// The message at place `gone` can be received. How many others become receivable when it is taken?
#[inline]
pub(super) fn count_released<T>(list: &impl Few<T>, delivery: Delivery, gone: usize) -> u32 {
    let taken = list.delivery_info(gone);
    let mut released = 0;
    for at in gone + 1..list.len() {
        let later = list.delivery_info(at);
        if !delivery.holds_back(taken, later) {
            continue;
        }
        if delivery == Delivery::Causal {
            released += u32::from(!is_held(list, delivery, at, Some(gone)));
            continue;
        }
        // The next message of the line holds back the rest.
        released += 1;
        if delivery.position(later, 0).is_some() {
            break;
        }
    }
    released
}

/// How many messages of the sender's line come before this place.
#[inline]
pub(super) fn place_in_line<T>(list: &impl Few<T>, delivery: Delivery, sender: TaskId, before: usize) -> usize {
    if delivery.is_queue() {
        return before;
    }
    list.delivery_infos().take(before).filter(|message| message.sender == sender).count()
}

/// The hash of the list without the message at this place, which can be received; `hash` is that of the whole list.
#[inline]
pub(super) fn hash_without<T>(list: &impl Few<T>, delivery: Delivery, hash: Sum, gone: usize) -> Sum {
    if delivery == Delivery::Unordered {
        return hash;
    }
    let Some(taken) = list.hashed(gone) else { return hash };
    let place = place_in_line(list, delivery, taken.sender, gone);
    let taken_term = taken.term(delivery).at(place);
    if delivery.is_queue() {
        return hash.minus(taken_term).nearer();
    }
    // Those behind it move one place towards the front.
    let senders = list.delivery_infos().map(|message| message.sender).enumerate().skip(gone + 1);
    let behind = senders.filter(|(_, sender)| *sender == taken.sender).filter_map(|(at, _)| list.hashed(at));
    let (before, after) = behind.enumerate().fold((taken_term, Sum::default()), |(before, after), (nth, message)| {
        let term = message.term(delivery).at(place + nth);
        (before.plus(term.further()), after.plus(term))
    });
    hash.minus(before).plus(after)
}
