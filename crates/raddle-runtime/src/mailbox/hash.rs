//! The hash of the messages that wait in a mailbox, for fingerprints of states.
//!
//! Messages whose order matters form a line: those of one sender or, in order of arrival, all of them. The messages of a line are the
//! coefficients of a polynomial, the oldest first, and the hash is its value at a fixed point. The hashes of different lines are added
//! up. The arithmetic is modulo a prime: modulo a power of two, polynomials of this kind have common zeros.
//!
//! A hash follows from the one before the change. When a message leaves, those behind it move one place towards the front, so their part
//! of the polynomial is divided by the point. In front of a message that can be received, only delayed ones are left of its line.

use raddle_engine::ids::TaskId;

use super::Message;
use super::ordered_map::{OrderedMap, Value};
use crate::actor::{Delivery, combine, mix};

/// A Mersenne prime: the remainder can be computed by shifts.
const PRIME: u64 = (1 << 61) - 1;

/// The point at which the polynomials are evaluated.
const POINT: u64 = 0x9e37_79b9_7f4a_7c15 % PRIME;

/// The number of powers of `POINT` in the table.
const PLACES: usize = 64;

/// A number modulo the prime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) const ONE: Self = Self(1);

    /// Reduces a hash modulo the prime.
    #[inline]
    const fn of(hash: u64) -> Self {
        let sum = (hash & PRIME) + (hash >> 61);
        Self(if sum >= PRIME { sum - PRIME } else { sum })
    }

    #[inline]
    pub(super) const fn plus(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        Self(if sum >= PRIME { sum - PRIME } else { sum })
    }

    #[inline]
    pub(super) const fn minus(self, other: Self) -> Self {
        self.plus(Self(PRIME - other.0))
    }

    #[inline]
    pub(super) const fn times(self, other: Self) -> Self {
        let wide = self.0 as u128 * other.0 as u128;
        let sum = (wide as u64 & PRIME) + (wide >> 61) as u64;
        Self(if sum >= PRIME { sum - PRIME } else { sum })
    }

    const fn power(self, mut exponent: u64) -> Self {
        let (mut power, mut square) = (Self::ONE, self);
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = power.times(square);
            }
            square = square.times(square);
            exponent /= 2;
        }
        power
    }

    /// The value of this coefficient at a place.
    #[inline]
    pub(super) fn at(self, place: usize) -> Self {
        let power = POWERS.get(place).copied().unwrap_or_else(|| Self(POINT).power(place as u64));
        self.times(power)
    }

    /// Moves one place away from the front.
    #[inline]
    pub(super) const fn further(self) -> Self {
        self.times(Self(POINT))
    }

    /// Moves one place towards the front.
    #[inline]
    pub(super) const fn nearer(self) -> Self {
        self.times(INVERSE)
    }

    pub(super) const fn number(self) -> u64 {
        self.0
    }
}

/// The inverse of the point, by Fermat's little theorem.
const INVERSE: Sum = Sum(POINT).power(PRIME - 2);

const POWERS: [Sum; PLACES] = {
    let mut powers = [Sum::ONE; PLACES];
    let mut at = 1;
    while at < PLACES {
        powers[at] = powers[at - 1].further();
        at += 1;
    }
    powers
};

/// What the hash of a mailbox needs to know about a message.
#[derive(Clone, Copy)]
pub(crate) struct HashedMessage {
    pub(crate) sender: TaskId,
    /// The hash of its contents.
    pub(crate) contents: u64,
    pub(crate) delayed: bool,
    /// A hash of the messages that its sender knew of; 0 unless deliveries are causal.
    pub(crate) knowledge: u64,
}

impl HashedMessage {
    /// A message that is not delayed, of a sender whose knowledge does not matter.
    pub(crate) fn new(sender: TaskId, contents: u64) -> Self {
        Self { sender, contents, delayed: false, knowledge: 0 }
    }

    /// Its coefficient.
    #[inline]
    pub(super) fn term(&self, delivery: Delivery) -> Sum {
        let contents = combine(self.contents, u64::from(self.delayed));
        let sender = u64::from(self.sender.number()) << 1 | 1;
        let line = match delivery {
            Delivery::Arrival => 0,
            _ if self.knowledge == 0 => sender,
            _ => mix(sender, self.knowledge),
        };
        Sum::of(mix(line, contents))
    }
}

impl Delivery {
    /// The line that contains the messages of a sender.
    #[inline]
    pub(super) fn hash_line(self, sender: TaskId) -> TaskId {
        if self == Delivery::Arrival { TaskId::MAIN } else { sender }
    }

    /// What the hash of a mailbox needs to know about a message. `None` if the mailbox has no hash of its own: an unordered mailbox has
    /// none, and its users add up the hashes of the messages.
    #[inline]
    pub(super) fn hashed<T: Message>(self, message: &T) -> Option<HashedMessage> {
        if self == Delivery::Unordered { None } else { message.hashed() }
    }
}

/// The hash of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineHash {
    pub(super) value: Sum,
    /// The factor of the next coefficient: the point to the power of the number of messages.
    next: Sum,
}

impl Default for LineHash {
    fn default() -> Self {
        Self { value: Sum::default(), next: Sum::ONE }
    }
}

impl LineHash {
    pub(super) fn push(&mut self, term: Sum) {
        self.value = self.value.plus(term.times(self.next));
        self.next = self.next.further();
    }

    pub(super) fn pop_last(&mut self, term: Sum) {
        self.next = self.next.nearer();
        self.value = self.value.minus(term.times(self.next));
    }

    /// Removes the coefficient `term`; those `before` it stay where they are.
    pub(super) fn remove(&mut self, term: Sum, before: LineHash) {
        let behind = self.value.minus(before.value).minus(term.times(before.next));
        self.value = before.value.plus(behind.nearer());
        self.next = self.next.nearer();
    }
}

/// A line of a long mailbox.
#[derive(Clone, Default)]
struct Line {
    hash: LineHash,
    /// When the delayed messages arrived, and their coefficients, the oldest first.
    delayed: Vec<(u32, Sum)>,
}

impl Line {
    /// The hash of the delayed messages that arrived before `arrived`.
    fn delayed_before(&self, arrived: u32) -> LineHash {
        let mut hash = LineHash::default();
        self.delayed.iter().take_while(|delayed| delayed.0 < arrived).for_each(|delayed| hash.push(delayed.1));
        hash
    }

    /// The hash without the message that arrived at this time, which can be received.
    fn hash_without(&self, arrived: u32, term: Sum) -> LineHash {
        let mut hash = self.hash;
        hash.remove(term, self.delayed_before(arrived));
        hash
    }
}

impl Value for Line {}

/// The hash of all lines of a long mailbox.
#[derive(Clone, Default)]
pub(super) struct LineHashes {
    /// By sender.
    lines: OrderedMap<Line>,
    sum: Sum,
}

impl LineHashes {
    /// Adds a message that has arrived now.
    pub(super) fn insert(&mut self, delivery: Delivery, message: HashedMessage, arrived: u32) {
        let term = message.term(delivery);
        let push = |line: &mut Line| {
            let before = line.hash.value;
            line.hash.push(term);
            if message.delayed {
                line.delayed.push((arrived, term));
            }
            line.hash.value.minus(before)
        };
        let line = delivery.hash_line(message.sender).index() as u64;
        let added = self.lines.change(line, push).unwrap_or_else(|| {
            let mut new = Line::default();
            let added = push(&mut new);
            self.lines.insert(line, new);
            added
        });
        self.sum = self.sum.plus(added);
    }

    /// Removes the message that arrived at this time, which can be received.
    pub(super) fn remove(&mut self, delivery: Delivery, message: HashedMessage, arrived: u32) {
        let term = message.term(delivery);
        let line = delivery.hash_line(message.sender).index() as u64;
        let change = self.lines.change(line, |line| {
            let before = line.hash.value;
            line.hash = line.hash_without(arrived, term);
            line.delayed.retain(|delayed| delayed.0 != arrived);
            (line.hash.value.minus(before), line.hash.next == Sum::ONE)
        });
        let (added, is_empty) = change.expect("raddle bug: a message is in no line");
        self.sum = self.sum.plus(added);
        if is_empty {
            self.lines.remove(line);
        }
    }

    /// The hash without the message that arrived at this time, which can be received, and with others that one sender sends.
    pub(super) fn sum_with(
        &self,
        delivery: Delivery,
        without: Option<(HashedMessage, u32)>,
        sent: impl Iterator<Item = HashedMessage>,
    ) -> Sum {
        let mut sum = self.sum;
        let hash_of = |line: TaskId| self.lines.get(line.index() as u64);
        let mut changed = None;
        if let Some((message, arrived)) = without {
            let line = delivery.hash_line(message.sender);
            if let Some(before) = hash_of(line) {
                let after = before.hash_without(arrived, message.term(delivery));
                sum = sum.minus(before.hash.value).plus(after.value);
                changed = Some((line, after));
            }
        }
        for message in sent {
            let line = delivery.hash_line(message.sender);
            let known = changed.filter(|(other, _)| *other == line).map(|(_, hash)| hash);
            let mut hash: LineHash = known.unwrap_or_else(|| hash_of(line).map(|line| line.hash).unwrap_or_default());
            sum = sum.minus(hash.value);
            hash.push(message.term(delivery));
            sum = sum.plus(hash.value);
            changed = Some((line, hash));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_and_adding_can_be_undone() {
        for n in [0, 1, 2, POINT, PRIME - 1, 0x0123_4567_89ab_cdef] {
            let sum = Sum::of(n);
            assert_eq!(sum.minus(sum), Sum::default().minus(Sum::default()));
            assert_eq!(sum.at(3), sum.further().further().further());
            assert_eq!(sum.at(PLACES + 5), sum.at(PLACES - 1).at(6));
            assert_eq!(sum.further().nearer(), sum);
        }
        assert_eq!(Sum::of(5).minus(Sum::of(7)).plus(Sum::of(2)), Sum::default());
    }

    #[test]
    fn a_removed_message_does_not_change_the_hash() {
        let terms: Vec<_> = (0..9).map(|n| Sum::of(n * n + 1)).collect();
        let hash = |terms: &[Sum]| {
            let mut hash = LineHash::default();
            terms.iter().for_each(|term| hash.push(*term));
            hash
        };
        let whole = terms.iter().enumerate().fold(Sum::default(), |sum, (place, term)| sum.plus(term.at(place)));
        assert_eq!(hash(&terms).value, whole);
        for at in 0..terms.len() {
            let (mut left, mut all) = (terms.clone(), hash(&terms));
            all.remove(left.remove(at), hash(&terms[..at]));
            assert_eq!(all, hash(&left), "without {at}");
        }
        let mut all = hash(&terms);
        all.pop_last(terms[8]);
        assert_eq!(all, hash(&terms[..8]));
    }
}
