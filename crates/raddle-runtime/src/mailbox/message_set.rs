//! Sets of messages that wait, as bits: each waiting message of an execution has a slot.

/// Slots in a word.
const WORD: usize = u64::BITS as usize;

/// The words of a set.
const WORDS: usize = 4;

/// A set of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageSet([u64; WORDS]);

impl MessageSet {
    /// The number of slots.
    pub(crate) const SLOTS: usize = WORDS * WORD;

    pub(crate) const ALL: Self = Self([!0; WORDS]);

    /// The word and the bit of a slot.
    #[inline]
    fn bit(slot: u32) -> (usize, u64) {
        (slot as usize / WORD % WORDS, 1 << (slot as usize % WORD))
    }

    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        let (at, bit) = Self::bit(slot);
        self.0[at] & bit != 0
    }

    #[inline]
    pub(crate) fn insert(&mut self, slot: u32) {
        let (at, bit) = Self::bit(slot);
        self.0[at] |= bit;
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        let (at, bit) = Self::bit(slot);
        self.0[at] &= !bit;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Removes the lowest slot and returns it.
    #[inline]
    pub(crate) fn take_lowest(&mut self) -> Option<u32> {
        let at = self.0.iter().position(|&word| word != 0)?;
        let bit = self.0[at].trailing_zeros();
        self.0[at] &= self.0[at] - 1;
        Some((at * WORD) as u32 + bit)
    }

    /// Adds the slots of the other set.
    #[inline]
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Removes the slots that are not in the other set.
    pub(crate) fn retain(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// All other slots.
    pub(crate) fn complement(&self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// The slots of the set, lowest first.
    pub(crate) fn iter(mut self) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || self.take_lowest())
    }
}
