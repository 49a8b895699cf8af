//! The messages of a short mailbox: a list in order of arrival, in which all pairs are compared.

use smallvec::{Array, SmallVec};

use super::Message;
use super::rule::DeliveryInfo;
use crate::actor::Delivery;

/// A short list of messages, in order of arrival.
pub(crate) trait Few<T>: Default {
    fn len(&self) -> usize;

    fn delivery_info(&self, at: usize) -> DeliveryInfo<'_>;

    /// Those of all messages.
    fn delivery_infos(&self) -> impl Iterator<Item = DeliveryInfo<'_>>;

    fn push(&mut self, message: T);

    /// Puts a message before the last one, which is delayed and is not any more afterwards.
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

/// Whether another message of the list keeps the one at this place from being received. A message that is `gone` does not count.
#[inline]
pub(super) fn is_held<T>(list: &impl Few<T>, delivery: Delivery, at: usize, gone: Option<usize>) -> bool {
    let later = list.delivery_info(at);
    delivery != Delivery::Unordered
        && (0..at)
            .zip(list.delivery_infos())
            .any(|(at, earlier)| Some(at) != gone && delivery.holds_back(earlier, later))
}

/// How many messages can be received as soon as the one at this place, which can be received, is gone that cannot be before.
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
        // The next of the line takes the place of the one that is gone, and holds back the rest.
        released += 1;
        if delivery.position(later, 0).is_some() {
            break;
        }
    }
    released
}
