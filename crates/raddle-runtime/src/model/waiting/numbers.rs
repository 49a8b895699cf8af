//! A set of numbers that can be copied for little: a tree by the bits of the numbers, of which copies share what neither changes.

use std::rc::Rc;

/// Bits of a number that tell the branches of one level apart.
const BITS: u32 = 4;

const BRANCHES: usize = 1 << BITS;

/// The set. Meant for numbers that are hashes, so that the tree is no deeper than it has to be.
#[derive(Clone, Debug, Default)]
pub(super) enum Numbers {
    #[default]
    None,
    One(u32),
    /// At least two.
    Several(Rc<[Numbers; BRANCHES]>),
}

fn branch(number: u32, level: u32) -> usize {
    (number >> (BITS * level)) as usize % BRANCHES
}

impl Numbers {
    pub(super) fn has(&self, number: u32) -> bool {
        let (mut at, mut level) = (self, 0);
        loop {
            match at {
                Self::None => return false,
                Self::One(one) => return *one == number,
                Self::Several(branches) => at = &branches[branch(number, level)],
            }
            level += 1;
        }
    }

    /// Adds a number that is not in it.
    pub(super) fn add(&mut self, number: u32) {
        self.add_at(number, 0);
    }

    fn add_at(&mut self, number: u32, level: u32) {
        match self {
            Self::None => *self = Self::One(number),
            Self::One(one) => {
                let one = *one;
                debug_assert_ne!(one, number, "raddle bug: two messages have the same number");
                let mut branches: [Self; BRANCHES] = Default::default();
                branches[branch(one, level)] = Self::One(one);
                branches[branch(number, level)].add_at(number, level + 1);
                *self = Self::Several(Rc::new(branches));
            }
            Self::Several(branches) => Rc::make_mut(branches)[branch(number, level)].add_at(number, level + 1),
        }
    }

    /// Takes a number out that is in it.
    pub(super) fn remove(&mut self, number: u32) {
        self.remove_at(number, 0);
    }

    fn remove_at(&mut self, number: u32, level: u32) {
        let Self::Several(branches) = self else {
            *self = Self::None;
            return;
        };
        let branches = Rc::make_mut(branches);
        branches[branch(number, level)].remove_at(number, level + 1);
        let mut left = branches.iter().filter(|branch| !matches!(branch, Self::None));
        if let (Some(Self::One(one)), None) = (left.next(), left.next()) {
            *self = Self::One(*one);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn it_is_a_set() {
        let (mut numbers, mut plain) = (Numbers::default(), HashSet::new());
        let mut random = 7_u64;
        let mut copy = None;
        for round in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Few of them, so that numbers come again, and some that differ in their highest bits only.
            let number = ((random >> 40) as u32 % 700).wrapping_mul(if random >> 63 == 0 { 1 } else { 1 << 22 });
            assert_eq!(numbers.has(number), plain.contains(&number), "{number}");
            if plain.insert(number) {
                numbers.add(number);
            } else {
                plain.remove(&number);
                numbers.remove(number);
            }
            if round == 10_000 {
                copy = Some((numbers.clone(), plain.clone()));
            }
        }
        let (numbers, plain) = copy.expect("made halfway");
        assert!(plain.iter().all(|&number| numbers.has(number)) && plain.len() > 100, "a copy stays as it was");
    }
}
