//! Sets of small numbers as bits, and tables of such sets.

/// A set of numbers that grows as needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// All numbers below `len`.
    pub fn below(len: usize) -> Self {
        let mut words = vec![u64::MAX; len / 64];
        if !len.is_multiple_of(64) {
            words.push((1 << (len % 64)) - 1);
        }
        Self(words)
    }

    /// Adds a number. Returns whether it is new.
    pub fn insert(&mut self, number: usize) -> bool {
        self.reach(number / 64 + 1);
        let (word, bit) = (&mut self.0[number / 64], 1 << (number % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes a number.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Whether the set contains a number.
    pub fn contains(&self, number: usize) -> bool {
        self.word(number / 64) & 1 << (number % 64) != 0
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds all numbers of another set.
    pub fn add(&mut self, other: &Self) {
        self.reach(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(own, theirs)| *own |= theirs);
    }

    /// Removes all numbers of another set.
    pub fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, theirs)| *own &= !theirs);
    }

    /// Its numbers, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| ones(at, word))
    }

    /// The number of words; each has 64 numbers.
    pub fn words(&self) -> usize {
        self.0.len()
    }

    /// The numbers from `64 * at` on, as bits.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// Adds the numbers from `64 * at` on that are set in `word`.
    pub fn add_word(&mut self, at: usize, word: u64) {
        if word != 0 {
            self.reach(at + 1);
            self.0[at] |= word;
        }
    }

    fn reach(&mut self, words: usize) {
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
    }
}

/// The numbers in a word that has index `at`.
pub fn ones(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(at * 64 + bit)
    })
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut bits = Self::default();
        for number in numbers {
            bits.insert(number);
        }
        bits
    }
}

/// A relation between numbers: for each, the numbers it is related to.
#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<Bits>);

static NONE: Bits = Bits(Vec::new());

impl Rows {
    /// The numbers that `from` is related to.
    pub fn row(&self, number: usize) -> &Bits {
        self.0.get(number).unwrap_or(&NONE)
    }

    /// The same, to be changed.
    pub fn row_mut(&mut self, number: usize) -> &mut Bits {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, Bits::default);
        }
        &mut self.0[number]
    }

    /// Whether `from` is related to `to`.
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.row(from).contains(to)
    }

    /// The inverse relation, for `len` numbers.
    pub fn transposed(&self, len: usize) -> Self {
        let mut other = Self(vec![Bits(vec![0; len.div_ceil(64)]); len]);
        for block in (0..self.0.len()).step_by(64) {
            let words = (block..self.0.len().min(block + 64)).map(|row| self.0[row].words()).max().unwrap_or(0);
            for at in 0..words {
                for row in block..self.0.len().min(block + 64) {
                    for to in ones(at, self.0[row].word(at)) {
                        other.0[to].0[block / 64] |= 1 << (row - block);
                    }
                }
            }
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn sets_are_sets() {
        let mut rng = Rng::new(5);
        for _ in 0..200 {
            let numbers = |rng: &mut Rng| (0..40).map(|_| rng.below(300) as usize).collect::<Vec<_>>();
            let (a, b) = (numbers(&mut rng), numbers(&mut rng));
            let sorted = |keep: &dyn Fn(usize) -> bool| (0..300).filter(|n| keep(*n)).collect::<Vec<_>>();
            let (mut sum, mut rest) = (Bits::from_iter(a.clone()), Bits::from_iter(a.clone()));
            let other = Bits::from_iter(b.clone());
            sum.add(&other);
            rest.subtract(&other);
            assert_eq!(sum.iter().collect::<Vec<_>>(), sorted(&|n| a.contains(&n) || b.contains(&n)));
            assert_eq!(rest.iter().collect::<Vec<_>>(), sorted(&|n| a.contains(&n) && !b.contains(&n)));
        }
        assert_eq!(Bits::below(130).iter().collect::<Vec<_>>(), (0..130).collect::<Vec<_>>());
        assert_eq!(Bits::below(128).iter().count(), 128);
    }

    #[test]
    fn the_inverse_of_a_relation() {
        let mut rng = Rng::new(6);
        let mut rows = Rows::default();
        for _ in 0..2_000 {
            rows.row_mut(rng.below(150) as usize).insert(rng.below(150) as usize);
        }
        let other = rows.transposed(150);
        for (a, b) in (0..150).flat_map(|a| (0..150).map(move |b| (a, b))) {
            assert_eq!(rows.contains(a, b), other.contains(b, a));
        }
    }
}
