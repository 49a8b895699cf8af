//! The messages of a short mailbox: a list in order of arrival, in which all pairs are compared.

use smallvec::{Array, SmallVec};

use super::Message;
use super::rule::Heading;
use crate::actor::Delivery;

/// A short list of messages, in order of arrival.
pub(crate) trait Few<T>: Default {
    fn len(&self) -> usize;

    fn heading(&self, at: usize) -> Heading<'_>;

    fn push(&mut self, message: T);

    /// Puts a message before the last one, which is delayed and is not any more afterwards.
    fn overtake(&mut self, message: T);

    fn remove(&mut self, at: usize) -> T;
}

impl<A: Array> Few<A::Item> for SmallVec<A>
where
    A::Item: Message,
{
    #[inline]
    fn len(&self) -> usize {
        SmallVec::len(self)
    }

    #[inline]
    fn heading(&self, at: usize) -> Heading<'_> {
        self[at].heading()
    }

    #[inline]
    fn push(&mut self, message: A::Item) {
        SmallVec::push(self, message);
    }

    fn overtake(&mut self, message: A::Item) {
        if let Some(mut last) = self.pop() {
            last.arrive_in_time();
            SmallVec::push(self, message);
            SmallVec::push(self, last);
        }
    }

    #[inline]
    fn remove(&mut self, at: usize) -> A::Item {
        SmallVec::remove(self, at)
    }
}

/// Whether another message of the list keeps the one at this place from being received. A message that is `gone` does not count.
#[inline]
pub(super) fn is_held<T>(list: &impl Few<T>, delivery: Delivery, at: usize, gone: Option<usize>) -> bool {
    let later = list.heading(at);
    delivery != Delivery::Unordered
        && (0..at).any(|earlier| Some(earlier) != gone && delivery.holds_back(list.heading(earlier), later))
}

/// How many messages can be received as soon as the one at this place is gone that cannot be before.
#[inline]
pub(super) fn count_released<T>(list: &impl Few<T>, delivery: Delivery, gone: usize) -> u32 {
    let taken = list.heading(gone);
    let waits_for_it = |&at: &usize| delivery.holds_back(taken, list.heading(at));
    let held = (gone + 1..list.len()).filter(waits_for_it);
    held.map(|at| u32::from(!is_held(list, delivery, at, Some(gone)))).sum()
}
