//! The hash of messages that wait in an order.
//!
//! The messages of one sender are the coefficients of a polynomial, the oldest first, whose value at a fixed point is the hash; those of
//! different senders are added up. So the hash changes by one addition when a message comes last, and by one subtraction and one
//! division when the first goes, however many wait. All is done modulo a prime, where every number but 0 can be divided by; modulo a
//! power of two, polynomials of this kind have common zeros.

use raddle_engine::ids::TaskId;

use crate::actor::{Delivery, Letter, combine, mix};
use crate::model::handling::Parcel;

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
        self.times(ONE_NEARER)
    }

    pub(super) const fn number(self) -> u64 {
        self.0
    }
}

/// What undoes a multiplication with `POINT`, by Fermat.
const ONE_NEARER: Sum = Sum(POINT).power(PRIME - 2);

const POWERS: [Sum; PLACES] = {
    let mut powers = [Sum::ONE; PLACES];
    let mut at = 1;
    while at < PLACES {
        powers[at] = powers[at - 1].further();
        at += 1;
    }
    powers
};

/// What the hash of a queue is made of.
#[derive(Clone, Copy)]
pub(in crate::model) struct Sent {
    sender: TaskId,
    /// The hash of what it says.
    digest: u64,
    delayed: bool,
    knowledge: u64,
}

impl Sent {
    /// A message that is on its way, as any other.
    pub(in crate::model) fn new(sender: TaskId, digest: u64) -> Self {
        Self { sender, digest, delayed: false, knowledge: 0 }
    }

    #[inline]
    pub(super) fn of(letter: &Letter, parcel: &Parcel) -> Self {
        let Letter { sender, delayed, .. } = *letter;
        Self { sender, digest: parcel.digest, delayed, knowledge: letter.knowledge() }
    }

    /// Whose line it waits in; there is one line for all where they are received in order of arrival.
    #[inline]
    pub(super) fn line(&self, delivery: Delivery) -> TaskId {
        if delivery == Delivery::Arrival { TaskId::MAIN } else { self.sender }
    }

    /// What it adds to the hash as the first of its line.
    #[inline]
    pub(super) fn term(&self, delivery: Delivery) -> Sum {
        let contents = combine(self.digest, u64::from(self.delayed));
        let sender = u64::from(self.sender.number()) << 1 | 1;
        let line = match delivery {
            Delivery::Arrival => 0,
            // Only where deliveries are causal it matters what senders knew.
            _ if self.knowledge == 0 => sender,
            _ => mix(sender, self.knowledge),
        };
        Sum::of(mix(line, contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_nearer_undoes_a_place_further() {
        for n in [0, 1, 2, POINT, PRIME - 1, 0x0123_4567_89ab_cdef] {
            let sum = Sum::of(n);
            assert_eq!(sum.further().nearer(), sum);
            assert_eq!(sum.minus(sum), Sum::default().minus(Sum::default()));
            assert_eq!(sum.at(3), sum.further().further().further());
            assert_eq!(sum.at(PLACES + 5), sum.at(PLACES - 1).at(6));
        }
        assert_eq!(Sum::of(5).minus(Sum::of(7)).plus(Sum::of(2)), Sum::default());
    }
}
