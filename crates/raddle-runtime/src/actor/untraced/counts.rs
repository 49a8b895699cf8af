//! Counts of messages per mailbox. Finds the mailbox that has the n-th of all messages.
//!
//! The result is random, so a branch per mailbox would be mispredicted again and again. Instead, eight counts are bytes of one word. The
//! word multiplied by a word of ones contains the prefix sums. Sums of eight and of sixty-four counts are stored in the same way. A byte
//! may overflow into the next one. The words are only added to and subtracted from, so they are right again as soon as the counts are
//! small, and they are not used before.

use std::mem;

/// How many counts a block has.
const BLOCK: usize = 8;

/// The largest number of counts that can be searched by bytes.
const MOST: usize = BLOCK * BLOCK * BLOCK;

/// To be searched by bytes, all sums have to be below this.
const SMALL: u32 = 128;

/// A list of counts.
#[derive(Default)]
pub(crate) struct Counts {
    counts: Vec<u32>,
    blocks: Vec<Block>,
    /// Each is the sum of eight blocks.
    sums: [Bytes; BLOCK],
    /// Each is the sum of eight of these sums.
    top: Bytes,
    total: u32,
    /// If the total is this or more, the counts cannot be searched by bytes.
    limit: u32,
}

/// Eight counts.
#[derive(Clone, Copy, Default)]
struct Block {
    sum: u32,
    counts: Bytes,
}

/// Eight counts, the first in the lowest byte.
#[derive(Clone, Copy, Default)]
struct Bytes(u64);

impl Bytes {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHEST_BITS: u64 = Self::ONES << 7;

    /// Adds to one of the counts. `more` may be a negative number that has wrapped around.
    #[inline]
    fn add(&mut self, at: usize, more: u32) {
        let more = i64::from(more.cast_signed()).cast_unsigned();
        self.0 = self.0.wrapping_add(more << (8 * (at % 8)));
    }

    /// Finds the item with this number, counted through all eight. Returns which count it belongs to, and its number there. There have to
    /// be that many items, and fewer than [`SMALL`].
    #[inline]
    fn find(self, number: u32) -> (usize, u32) {
        let sums = self.0.wrapping_mul(Self::ONES);
        // A byte keeps its highest bit if its prefix sum is not above the number: the item comes after it.
        let numbers = u64::from(number).wrapping_mul(Self::ONES) | Self::HIGHEST_BITS;
        let here = !numbers.wrapping_sub(sums) & Self::HIGHEST_BITS;
        let before = here.trailing_zeros() & 0x38;
        (before as usize / 8, number - ((sums << 8 >> before) & 0xff) as u32)
    }
}

impl Counts {
    /// Begins with `of` counts, all zero.
    pub(crate) fn begin(&mut self, of: usize) {
        self.counts.clear();
        self.counts.resize(of.next_multiple_of(BLOCK), 0);
        self.blocks.clear();
        self.blocks.resize(of.div_ceil(BLOCK), Block::default());
        (self.sums, self.top) = Default::default();
        self.total = 0;
        self.limit = if of <= MOST { SMALL } else { 0 };
    }

    /// The sum of all counts.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Sets a count.
    #[inline]
    pub(crate) fn set(&mut self, of: usize, count: u32) {
        let more = count.wrapping_sub(mem::replace(&mut self.counts[of], count));
        let block = &mut self.blocks[of / BLOCK];
        block.sum = block.sum.wrapping_add(more);
        block.counts.add(of, more);
        self.total = self.total.wrapping_add(more);
        if self.blocks.len() > 1 {
            self.sums[of / BLOCK / BLOCK % BLOCK].add(of / BLOCK, more);
            self.top.add(of / BLOCK / BLOCK, more);
        }
    }

    /// Adds one to a count.
    pub(crate) fn add(&mut self, of: usize) {
        self.set(of, self.counts[of] + 1);
    }

    /// Finds the item with this number, counted through all counts. Returns which count it belongs to, and its number there.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> (usize, u32) {
        if self.total >= self.limit {
            return self.find_among_many(number);
        }
        let (block, number) = match self.blocks.len() {
            1 => (0, number),
            2..=BLOCK => self.sums[0].find(number),
            _ => {
                let (sum, number) = self.top.find(number);
                let (block, number) = self.sums[sum % BLOCK].find(number);
                (sum * BLOCK + block, number)
            }
        };
        let (of, number) = self.blocks[block].counts.find(number);
        (block * BLOCK + of, number)
    }

    #[inline(never)]
    fn find_among_many(&self, mut number: u32) -> (usize, u32) {
        let mut block = 0;
        while number >= self.blocks[block].sum {
            number -= self.blocks[block].sum;
            block += 1;
        }
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

    /// Sets random counts below `most`, and compares the results of `find` with a list of all items.
    fn compare(many: usize, most: u32, times: u32) {
        let mut rng = Rng::new(u64::from(most));
        let (mut all, mut counts) = (Counts::default(), vec![0; many]);
        all.begin(many);
        for _ in 0..times {
            let of = rng.below(many as u32) as usize;
            counts[of] = rng.below(most);
            all.set(of, counts[of]);
            let expected = counts.iter().enumerate().flat_map(|(of, &count)| (0..count).map(move |nth| (of, nth)));
            let found: Vec<_> = (0..all.total()).map(|number| all.find(number)).collect();
            assert_eq!(found, expected.collect::<Vec<_>>(), "{counts:?}");
        }
    }

    #[test]
    fn find_agrees_with_a_list() {
        for many in [1, 2, 15, 16, 17, 33, 64, 65, 100] {
            compare(many, 2, 200);
            compare(many, 4, 200);
        }
    }

    #[test]
    fn find_agrees_with_a_list_at_the_limits() {
        for many in [511, 512, 513, 600] {
            compare(many, 2, 300);
        }
        for (many, most) in [(1, 129), (2, 65), (2, 130), (8, 18), (9, 300), (70, 300)] {
            compare(many, most, 100);
        }
    }

    #[test]
    fn counts_can_be_searched_after_they_were_too_large() {
        let mut all = Counts::default();
        all.begin(20);
        for (of, count) in [(0, 1_000), (7, 70_000), (8, 255), (9, u32::MAX >> 1), (19, 3)] {
            all.set(of, count);
        }
        for of in [7, 9, 8, 0] {
            all.set(of, of as u32 % 2);
        }
        assert_eq!(all.total(), 5);
        assert_eq!([0, 1, 2, 4].map(|number| all.find(number)), [(7, 0), (9, 0), (19, 0), (19, 2)]);
    }
}
