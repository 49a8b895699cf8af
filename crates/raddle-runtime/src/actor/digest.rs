//! Hashes that are the same in every execution and every process. They are the names of actors and messages, and identify the states of
//! models.

use std::hash::{Hash, Hasher};

/// A fast hasher without a key.
#[derive(Clone, Debug)]
pub(crate) struct Digest(u64);

const STIR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies to twice the width and combines the halves. Every bit of the result depends on every bit of both numbers.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let wide = (a as u128).wrapping_mul(b as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Combines two numbers. Their order matters.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    fold(a ^ 0x2d35_8dcc_aa6c_78a5, b ^ 0x8bb8_4b93_962e_acc9) ^ fold(b ^ STIR, 0xd6e8_feb8_6659_fd93)
}

/// Does the same if the first number is a hash. It is cheaper, but not good enough for names.
#[inline]
pub(crate) const fn combine(hash: u64, with: u64) -> u64 {
    fold(hash ^ 0x2d35_8dcc_aa6c_78a5, with ^ 0x8bb8_4b93_962e_acc9)
}

/// The hash of any value.
pub(crate) fn digest<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = Digest::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Digest {
    pub(crate) const fn new() -> Self {
        Self(0x51_7c_c1_b7_27_22_0a_95)
    }
}

impl Hasher for Digest {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word) ^ (chunk.len() as u64) << 60);
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ value, STIR) ^ value;
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        mix(self.0, STIR)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn small_values_do_not_collide() {
        let mut seen = HashSet::new();
        for a in 0_u64..300 {
            for b in 0_u64..300 {
                assert!(seen.insert(mix(a, b)), "mix({a}, {b})");
                assert!(seen.insert(combine(digest(&a), b)), "combine({a}, {b})");
                assert!(seen.insert(digest(&(a, b))), "digest of ({a}, {b})");
                assert!(seen.insert(digest(&(a as u8, b as u32, [a as u16, 7]))), "digest of a tuple of {a}, {b}");
            }
        }
        let words: HashSet<_> = ["", "a", "b", "ab", "ba", "a\0", "abcdefgh", "abcdefghi"].map(digest).into();
        assert_eq!(words.len(), 8);
    }
}
