//! How many there are of each of many, and which is the n-th of all.

use std::mem;

/// How many are counted together, so that one is found among many without looking at each.
const BLOCK: usize = 8;

/// How many there are of each.
#[derive(Default)]
pub(crate) struct Counts {
    counts: Vec<u32>,
    blocks: Vec<u32>,
    total: u32,
}

impl Counts {
    /// There are none of any of so many.
    pub(crate) fn begin(&mut self, of: usize) {
        self.counts.clear();
        self.counts.resize(of.next_multiple_of(BLOCK), 0);
        self.blocks.clear();
        self.blocks.resize(of.div_ceil(BLOCK), 0);
        self.total = 0;
    }

    /// How many there are in all.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Of this one there are so many.
    #[inline]
    pub(crate) fn set(&mut self, of: usize, count: u32) {
        let more = count.wrapping_sub(mem::replace(&mut self.counts[of], count));
        let block = &mut self.blocks[of / BLOCK];
        *block = block.wrapping_add(more);
        self.total = self.total.wrapping_add(more);
    }

    /// Of this one there is one more.
    pub(crate) fn add(&mut self, of: usize) {
        self.set(of, self.counts[of] + 1);
    }

    /// Which the one with this number is of, counted through all of them; and which it is there.
    #[inline]
    pub(crate) fn find(&self, mut number: u32) -> (usize, u32) {
        let mut block = 0;
        while number >= self.blocks[block] {
            number -= self.blocks[block];
            block += 1;
        }
        // Which it is cannot be foreseen, so all of them are looked at without a branch.
        let (mut before, mut passed, mut sum) = (0, 0, 0);
        for &count in &self.counts[block * BLOCK..][..BLOCK] {
            sum += count;
            let beyond = sum <= number;
            before = if beyond { sum } else { before };
            passed += usize::from(beyond);
        }
        (block * BLOCK + passed, number - before)
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn each_is_found_where_it_is() {
        let mut rng = Rng::new(3);
        for many in [1, 2, 15, 16, 17, 33, 100] {
            let (mut all, mut counts) = (Counts::default(), vec![0; many]);
            all.begin(many);
            for _ in 0..200 {
                let of = rng.below(many as u32) as usize;
                counts[of] = rng.below(4);
                all.set(of, counts[of]);
                let expected = counts.iter().enumerate().flat_map(|(of, &count)| (0..count).map(move |nth| (of, nth)));
                let found: Vec<_> = (0..all.total()).map(|number| all.find(number)).collect();
                assert_eq!(found, expected.collect::<Vec<_>>(), "{counts:?}");
            }
        }
    }
}
