//! A short list of numbers in order of arrival: the places of messages, or their senders.
//!
//! The length of a mailbox and the choice of a message are random, so branches on them would be mispredicted. So the first four numbers
//! are in one register, which is shifted without a branch, and need no memory elsewhere.

use std::collections::VecDeque;

/// How many numbers the register holds.
const FEW: usize = 4;

/// A short list of numbers.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Row {
    len: u32,
    first: Four,
    /// The numbers after these.
    rest: VecDeque<u32>,
}

impl Row {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The number at this index.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u32 {
        if at < FEW { self.first.get(at) } else { self.rest[at - FEW] }
    }

    /// Adds a number at the end.
    #[inline]
    pub(crate) fn push(&mut self, number: u32) {
        if self.len() < FEW {
            self.first.fill(self.len(), number);
        } else {
            self.rest.push_back(number);
        }
        self.len += 1;
    }

    /// Removes the number at this index.
    #[inline]
    pub(crate) fn remove(&mut self, at: usize) -> u32 {
        assert!(at < self.len(), "raddle bug: a message is gone");
        if self.len() > FEW {
            return self.remove_of_many(at);
        }
        self.len -= 1;
        self.first.remove(at)
    }

    /// Removes the first number.
    #[inline]
    pub(crate) fn remove_first(&mut self) -> u32 {
        assert!(self.len > 0, "raddle bug: a message is gone");
        self.len -= 1;
        let number = self.first.remove(0);
        if let Some(next) = self.rest.pop_front() {
            self.first.fill(FEW - 1, next);
        }
        number
    }

    fn remove_of_many(&mut self, at: usize) -> u32 {
        self.len -= 1;
        let next = self.rest.remove(at.saturating_sub(FEW)).expect("raddle bug: a row is shorter than it says");
        if at >= FEW {
            return next;
        }
        let number = self.first.remove(at);
        self.first.fill(FEW - 1, next);
        number
    }
}

/// Four numbers, the first in the lowest bits. Unused places are 0.
#[derive(Clone, Copy, Default)]
struct Four([u64; 2]);

impl Four {
    #[inline]
    fn whole(self) -> u128 {
        u128::from(self.0[1]) << 64 | u128::from(self.0[0])
    }

    #[inline]
    fn set(&mut self, whole: u128) {
        self.0 = [whole as u64, (whole >> 64) as u64];
    }

    /// A mask for the bits below this index.
    #[inline]
    fn below(at: usize) -> u128 {
        (1 << (32 * (at % FEW))) - 1
    }

    #[inline]
    fn get(self, at: usize) -> u32 {
        (self.0[at / 2 % 2] >> (32 * (at % 2))) as u32
    }

    /// Sets an unused place.
    #[inline]
    fn fill(&mut self, at: usize, number: u32) {
        self.0[at / 2 % 2] |= u64::from(number) << (32 * (at % 2));
    }

    /// Removes a number and moves the later ones forward.
    #[inline]
    fn remove(&mut self, at: usize) -> u32 {
        let (number, whole, below) = (self.get(at), self.whole(), Self::below(at));
        self.set(whole & below | whole >> 32 & !below);
        number
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn a_row_is_like_a_list() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let (mut row, mut plain) = (Row::default(), Vec::new());
            // Some stay short and some grow long.
            let growth = 2 + rng.below(3);
            for step in 0..200 {
                let len = plain.len() as u32;
                if len == 0 || rng.below(5) < growth && len < 40 {
                    let number = if rng.below(9) == 0 { u32::MAX } else { rng.below(100) };
                    plain.push(number);
                    row.push(number);
                } else {
                    let at = rng.below(len) as usize;
                    let removed = if at == 0 && step % 2 == 0 { row.remove_first() } else { row.remove(at) };
                    assert_eq!(removed, plain.remove(at), "seed {seed}, step {step}, {at} of {len}");
                }
                assert_eq!(row.len(), plain.len(), "seed {seed}, step {step}");
                assert!((0..plain.len()).all(|at| row.get(at) == plain[at]), "seed {seed}, step {step}");
            }
        }
    }
}
