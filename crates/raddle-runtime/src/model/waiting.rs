//! The messages that wait in a mailbox of a model.
//!
//! Most mailboxes hold a few messages, which lie in one short list; everything about them is found by looking through it. Many messages
//! are kept in [lines](lines::Lines), one for each sender, where no operation takes longer the more messages wait: not to list what can
//! be received, not to send, not to receive, not to hash, and not to copy the mailbox for another execution. That is so where only the
//! first message of each sender can be received, or only the first of all ([`Delivery::PerSender`], [`Delivery::Arrival`]), and none is
//! delayed. Elsewhere each message that waits may be an alternative of its own, so the list stays.
//!
//! Both have the same [hash](hash) for the same messages.

mod hash;
mod lines;
mod numbers;
mod segments;

use raddle_engine::ids::TaskId;
use smallvec::SmallVec;

pub(super) use self::hash::Sent;
use self::hash::Sum;
use self::lines::Lines;
use crate::actor::{Delivery, Letter};
use crate::model::slot::Post;

/// From so many messages on they are kept in lines.
const MANY: usize = 12;

/// With no more than this they are kept in a list again.
const FEW: usize = 4;

/// The messages that wait in a mailbox, in order of arrival.
#[derive(Default)]
pub(super) struct Waiting {
    /// Most are short, and a copy is made of each that changes.
    list: SmallVec<[Post; 2]>,
    /// If these are there, the list is empty.
    lines: Option<Box<Lines>>,
}

impl Clone for Waiting {
    #[inline]
    fn clone(&self) -> Self {
        // Most mailboxes are empty, which is no reason to look through them.
        let list = if self.list.is_empty() { SmallVec::new() } else { self.list.clone() };
        Self { list, lines: self.lines.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.list.clear();
        if !other.list.is_empty() {
            self.list.extend(other.list.iter().cloned());
        }
        self.lines.clone_from(&other.lines);
    }
}

impl Waiting {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.lines.as_ref().map_or(0, |lines| lines.len())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.lines.is_none()
    }

    /// Whether a message has this number.
    pub(super) fn has(&self, number: u32) -> bool {
        match &self.lines {
            Some(lines) => lines.has(number),
            None => self.place(number).is_some(),
        }
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.list.iter().position(|post| post.0.number == number)
    }

    /// Puts a message where it belongs.
    #[inline]
    pub(super) fn put(&mut self, delivery: Delivery, post: Post) {
        if self.lines.is_some() || self.list.len() >= MANY {
            return self.put_to_many(delivery, post);
        }
        self.put_on_list(delivery, post);
    }

    fn put_on_list(&mut self, delivery: Delivery, post: Post) {
        let len = self.list.len();
        let place = delivery.place_for_next(self.list.last_mut().map(|last| &mut last.0.delayed), len);
        self.list.insert(place, post);
    }

    #[inline(never)]
    fn put_to_many(&mut self, delivery: Delivery, post: Post) {
        let ordered = matches!(delivery, Delivery::PerSender | Delivery::Arrival);
        let in_lines = ordered && !post.0.delayed;
        if !in_lines || self.list.iter().any(|post| post.0.delayed) {
            self.write_list();
            return self.put_on_list(delivery, post);
        }
        let list = &mut self.list;
        let lines = self.lines.get_or_insert_with(|| Box::new(Lines::new(delivery, list.drain(..))));
        lines.put(post);
    }

    /// Keeps what waits in a list, however long.
    fn write_list(&mut self) {
        if let Some(mut lines) = self.lines.take() {
            self.list.extend(std::iter::from_fn(|| lines.take_first()));
        }
    }

    /// The message with this number, or the oldest.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&Post> {
        match (&self.lines, number) {
            (Some(lines), _) => lines.get(number),
            (None, Some(number)) => self.list.get(self.place(number)?),
            (None, None) => self.list.first(),
        }
    }

    /// Takes out the message with this number, which can be received, or the oldest.
    pub(super) fn take(&mut self, number: Option<u32>) -> Option<Post> {
        if let Some(lines) = &mut self.lines {
            let taken = lines.take(number);
            if lines.len() <= FEW {
                self.write_list();
            }
            return taken;
        }
        let place = number.map_or(Some(0), |number| self.place(number))?;
        (place < self.list.len()).then(|| self.list.remove(place))
    }

    /// Takes everything out, in order of arrival.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Post> + '_ {
        self.write_list();
        self.list.drain(..)
    }

    /// Adds messages that can be told apart by their numbers.
    pub(super) fn extend(&mut self, delivery: Delivery, posts: impl Iterator<Item = Post>) {
        posts.for_each(|post| self.put(delivery, post));
    }

    /// Calls `list` with those that can be received, in order of arrival.
    #[inline]
    pub(super) fn each_open(&self, delivery: Delivery, mut list: impl FnMut(&Letter)) {
        if let Some(lines) = &self.lines {
            return lines.each_first(list);
        }
        let letters = || self.list.iter().map(|post| &post.0);
        match delivery {
            Delivery::Arrival => letters().take(1).for_each(list),
            Delivery::Unordered => letters().for_each(list),
            Delivery::PerSender | Delivery::Causal => {
                for (at, letter) in letters().enumerate() {
                    if delivery.lets(letters(), at, letter) {
                        list(letter);
                    }
                }
            }
        }
    }

    /// All of them, in order of arrival, where they lie in a list.
    pub(super) fn listed(&self) -> &[Post] {
        &self.list
    }

    /// The hash of what waits in an order, without the message that has this number, or the oldest if none is given, and with others that
    /// one sender sends.
    pub(super) fn digest_with(
        &self,
        delivery: Delivery,
        without: Option<Option<u32>>,
        sent: impl Iterator<Item = Sent>,
    ) -> u64 {
        if let Some(lines) = &self.lines {
            return lines.digest_with(without, sent);
        }
        let without = without.map(|number| number.map_or(Some(0), |number| self.place(number)));
        let stays = self.list.iter().enumerate().filter(|(at, _)| without.flatten() != Some(*at));
        let all = stays.map(|(_, (letter, parcel))| Sent::of(letter, parcel)).chain(sent);
        let mut before: SmallVec<[TaskId; 32]> = SmallVec::new();
        let sum = all.fold(Sum::default(), |sum, sent| {
            let sender = sent.line(delivery);
            let place = before.iter().filter(|other| **other == sender).count();
            before.push(sender);
            sum.plus(sent.term(delivery).at(place))
        });
        sum.number()
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;
    use crate::model::handling::Parcel;

    /// The same messages in a list, whatever their number.
    fn in_a_list(waiting: &Waiting) -> Waiting {
        let mut list = waiting.clone();
        list.write_list();
        list
    }

    fn open(waiting: &Waiting, delivery: Delivery) -> Vec<u32> {
        let mut open = Vec::new();
        waiting.each_open(delivery, |letter| open.push(letter.number));
        open
    }

    fn post(sender: u32, number: u32, says: u32, delayed: bool) -> Post {
        let mut letter = Letter::blank(TaskId::new(sender), number);
        letter.delayed = delayed;
        (letter, Parcel::pack(says, None, true))
    }

    /// Mailboxes that grow and shrink are as lists are: what can be received, what is taken out, and the hash.
    #[test]
    fn lines_are_as_a_list() {
        for (delivery, delays) in [
            (Delivery::PerSender, false),
            (Delivery::PerSender, true),
            (Delivery::Arrival, false),
            (Delivery::Arrival, true),
        ] {
            let mut rng = Rng::new(7);
            let (mut waiting, mut longest, mut were_lines) = (Waiting::default(), 0, 0);
            for round in 0..1_200_u32 {
                let grows = round / 150 % 2 == 0;
                let list = in_a_list(&waiting);
                let opens = open(&list, delivery);
                assert_eq!(open(&waiting, delivery), opens, "{delivery:?}, round {round}");
                let taken = if opens.is_empty() { None } else { Some(opens[rng.below(opens.len() as u32) as usize]) };
                let sender = 1 + rng.below(3);
                let sent = || {
                    [3, 4].map(|says| Sent::new(TaskId::new(sender), Parcel::pack(says, None, true).digest)).into_iter()
                };
                for without in [None, taken.map(Some)] {
                    let with = waiting.digest_with(delivery, without, sent());
                    assert_eq!(with, list.digest_with(delivery, without, sent()), "{delivery:?}, round {round}");
                }
                assert_eq!((waiting.len(), waiting.is_empty()), (list.len(), list.is_empty()));
                if rng.below(10) < if grows { 7 } else { 2 } || taken.is_none() {
                    let post = post(sender, round, rng.below(4), delays && rng.below(50) == 0);
                    waiting.put(delivery, post);
                    assert!(waiting.has(round));
                } else {
                    let (letter, _) = waiting.take(taken).expect("it can be received");
                    assert_eq!(Some(letter.number), taken);
                    assert!(!waiting.has(letter.number));
                }
                longest = longest.max(waiting.len());
                were_lines += u32::from(waiting.lines.is_some());
            }
            assert!(longest > 2 * MANY && were_lines > 200, "{delivery:?}: {longest}, {were_lines}");
        }
    }

    /// States are told apart by the order of the messages of a sender, and not by that of different senders.
    #[test]
    fn the_order_of_each_sender_counts() {
        let digest = |posts: &mut dyn Iterator<Item = (u32, u32)>| {
            let mut waiting = Waiting::default();
            posts.zip(0..).for_each(|((sender, says), number)| {
                waiting.put(Delivery::PerSender, post(sender, number, says, false))
            });
            waiting.digest_with(Delivery::PerSender, None, std::iter::empty())
        };
        for len in [2, 3 * MANY as u32] {
            let one_after_the_other = digest(&mut (0..2 * len).map(|n| (1 + n / len, n % len)));
            let in_turns = digest(&mut (0..2 * len).map(|n| (1 + n % 2, n / 2)));
            let swapped = digest(&mut (0..2 * len).map(|n| (1 + n % 2, if n / 2 < 2 { 1 - n / 2 } else { n / 2 })));
            assert_eq!(one_after_the_other, in_turns);
            assert_ne!(in_turns, swapped);
        }
    }
}
