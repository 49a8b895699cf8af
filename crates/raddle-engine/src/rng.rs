//! A small seeded generator (xoshiro256++ seeded by SplitMix64), kept here so that a seed written in a report means the
//! same schedule whatever version of whatever crate is in use.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let out = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c2 = c ^ a;
        let d2 = d ^ b;
        self.state = [a ^ d2, b ^ c2, c2 ^ (b << 17), d2.rotate_left(45)];
        out
    }

    /// A number from 0 to 1, without 1.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `n`, each equally likely (Lemire's method: no division but in the rare rejected case).
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "raddle bug: a random number below 0");
        let mut product = (self.bits() >> 32) * u64::from(n);
        if (product as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u32) < threshold {
                product = (self.bits() >> 32) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }
}

/// Mixes `a` and `b` into one seed: streams of different purposes or positions do not meet.
#[must_use]
pub fn mix(a: u64, b: u64) -> u64 {
    let mut state = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    split_mix(&mut state)
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(7);
        let mut hits = [0_u32; 7];
        for _ in 0..70_000 {
            hits[rng.below(7) as usize] += 1;
        }
        // Standard deviation of one count is about 93.
        assert!(hits.iter().all(|&h| (9_600..10_400).contains(&h)), "{hits:?}");
    }

    #[test]
    fn streams_of_a_seed_are_fixed() {
        // The reference implementation, seeded by SplitMix64 from 0.
        let mut rng = Rng::new(0);
        assert_eq!(rng.bits(), 0x5317_5d61_490b_23df);
        assert_eq!(rng.bits(), 0x61da_6f3d_c380_d507);
    }
}
