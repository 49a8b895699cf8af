//! The hash of the messages that wait in a mailbox, for fingerprints of states.
//!
//! Messages whose order matters form a line: those of one sender or, in order of arrival, all of them. The messages of a line are the
//! coefficients of a polynomial, the oldest first, and the hash is its value at a fixed point. The hashes of different lines are added
//! up. The arithmetic is modulo a prime: modulo a power of two, polynomials of this kind have common zeros.

use raddle_engine::ids::TaskId;

use super::ordered_map::{OrderedMap, Summed};
use crate::actor::{Delivery, combine, mix};

/// A Mersenne prime, so that the remainder is found by shifting.
const PRIME: u64 = (1 << 61) - 1;

/// Where the polynomials are looked at.
const POINT: u64 = 0x9e37_79b9_7f4a_7c15 % PRIME;

/// `POINT` to the power of this many places is looked up.
const PLACES: usize = 64;

/// A number modulo the prime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) const ONE: Self = Self(1);

    /// What a hash is modulo the prime.
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

    /// As the coefficient at a place.
    #[inline]
    pub(super) fn at(self, place: usize) -> Self {
        let power = POWERS.get(place).copied().unwrap_or_else(|| Self(POINT).power(place as u64));
        self.times(power)
    }

    /// One place further from the first.
    #[inline]
    pub(super) const fn further(self) -> Self {
        self.times(Self(POINT))
    }

    /// One place nearer to the first.
    #[inline]
    pub(super) const fn nearer(self) -> Self {
        self.times(INVERSE)
    }

    pub(super) const fn number(self) -> u64 {
        self.0
    }
}

/// What undoes a multiplication with the point, by Fermat's little theorem.
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

/// What the hash of a mailbox depends on in a message.
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

    /// The line that it is part of.
    #[inline]
    pub(super) fn line(&self, delivery: Delivery) -> TaskId {
        if delivery == Delivery::Arrival { TaskId::MAIN } else { self.sender }
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

/// A coefficient in a map by time of arrival. The sum of a part of a line is the value of its polynomial, and the power of the point that
/// what follows has to be multiplied with.
#[derive(Clone, Copy)]
struct Term(Sum);

/// See [`Term`].
#[derive(Clone, Copy)]
struct Polynomial {
    value: Sum,
    next: Sum,
}

impl Default for Polynomial {
    fn default() -> Self {
        Self { value: Sum::default(), next: Sum::ONE }
    }
}

impl Summed for Term {
    type Sum = Polynomial;

    fn sum(&self) -> Polynomial {
        Polynomial { value: self.0, next: Sum(POINT) }
    }

    fn add(left: Polynomial, right: Polynomial) -> Polynomial {
        Polynomial { value: left.value.plus(left.next.times(right.value)), next: left.next.times(right.next) }
    }
}

/// The terms of one line, by arrival.
#[derive(Clone, Default)]
struct LineTerms(OrderedMap<Term>);

impl Summed for LineTerms {
    type Sum = ();

    fn sum(&self) {}

    fn add((): (), (): ()) {}
}

/// The hash of all lines of a long mailbox.
#[derive(Clone, Default)]
pub(super) struct LineHashes {
    lines: OrderedMap<LineTerms>,
    sum: Sum,
}

impl LineHashes {
    pub(super) fn sum(&self) -> Sum {
        self.sum
    }

    /// Adds a message that has arrived at this time, or puts it in the place of the one that has.
    pub(super) fn insert(&mut self, delivery: Delivery, message: HashedMessage, arrived: u64) {
        self.change(message.line(delivery), |terms| terms.insert(arrived, Term(message.term(delivery))));
    }

    pub(super) fn remove(&mut self, delivery: Delivery, message: HashedMessage, arrived: u64) {
        self.change(message.line(delivery), |terms| {
            terms.remove(arrived);
        });
    }

    fn change(&mut self, line: TaskId, change: impl FnOnce(&mut OrderedMap<Term>)) {
        let mut terms = self.lines.remove(line.index() as u64).unwrap_or_default().0;
        let before = terms.sum().value;
        change(&mut terms);
        self.sum = self.sum.minus(before).plus(terms.sum().value);
        if !terms.is_empty() {
            self.lines.insert(line.index() as u64, LineTerms(terms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_powers_and_sums_can_be_undone() {
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
    fn parts_of_a_line_add_up_to_the_whole() {
        let terms: Vec<_> = (0..9).map(|n| Sum::of(n * n + 1)).collect();
        let whole = terms.iter().enumerate().fold(Sum::default(), |sum, (place, term)| sum.plus(term.at(place)));
        let add =
            |terms: &[Sum]| terms.iter().fold(Polynomial::default(), |sum, term| Term::add(sum, Term(*term).sum()));
        for split in 0..=terms.len() {
            let (left, right) = terms.split_at(split);
            assert_eq!(Term::add(add(left), add(right)).value, whole);
        }
    }
}
