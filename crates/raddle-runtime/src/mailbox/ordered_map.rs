//! A map from numbers that can be copied in constant time: copies share every part that neither of them has changed.
//!
//! It is a radix tree with sixteen children per branch. Levels at which all keys agree are left out, so the depth grows with the
//! logarithm of the number of entries. Each branch keeps the [sum](Summed) of the values below it. So a caller can find the n-th value of
//! some kind, or the sum of all values in the order of their keys, without looking at each entry.

use std::rc::Rc;

/// Bits of a key that select the child of a branch.
const BITS: u32 = 4;

const CHILDREN: usize = 1 << BITS;

/// A value with something that can be added up over the values of a map, in the order of their keys.
pub(super) trait Summed: Clone {
    type Sum: Copy + Default;

    fn sum(&self) -> Self::Sum;

    /// The sum of all of `left` and `right`, where the keys of `left` are smaller. The default value of a sum is neutral.
    fn add(left: Self::Sum, right: Self::Sum) -> Self::Sum;
}

/// A map from numbers, in ascending order.
#[derive(Clone, Default)]
pub(super) enum OrderedMap<V: Summed> {
    #[default]
    Empty,
    Leaf(u64, V),
    /// At least two entries.
    Branch(Rc<Branch<V>>),
}

#[derive(Clone)]
pub(super) struct Branch<V: Summed> {
    /// The lowest of the bits that select a child. All keys agree in the bits above these.
    shift: u32,
    /// One of the keys.
    key: u64,
    sum: V::Sum,
    children: [OrderedMap<V>; CHILDREN],
}

impl<V: Summed> Branch<V> {
    fn child(&self, key: u64) -> usize {
        (key >> self.shift) as usize % CHILDREN
    }

    /// Whether an entry with this key belongs below this branch.
    fn covers(&self, key: u64) -> bool {
        (key ^ self.key).checked_shr(self.shift + BITS).unwrap_or(0) == 0
    }

    fn add_up(&mut self) {
        self.sum = self.children.iter().fold(V::Sum::default(), |sum, child| V::add(sum, child.sum()));
    }
}

impl<V: Summed> OrderedMap<V> {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// The sum of all values.
    pub(super) fn sum(&self) -> V::Sum {
        match self {
            Self::Empty => V::Sum::default(),
            Self::Leaf(_, value) => value.sum(),
            Self::Branch(branch) => branch.sum,
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        let mut at = self;
        loop {
            match at {
                Self::Empty => return None,
                Self::Leaf(other, value) => return (*other == key).then_some(value),
                Self::Branch(branch) => at = &branch.children[branch.child(key)],
            }
        }
    }

    /// Sets the value for a key.
    pub(super) fn insert(&mut self, key: u64, value: V) {
        match self {
            Self::Empty => *self = Self::Leaf(key, value),
            Self::Leaf(other, _) if *other == key => *self = Self::Leaf(key, value),
            Self::Branch(branch) if branch.covers(key) => {
                let branch = Rc::make_mut(branch);
                let child = branch.child(key);
                branch.children[child].insert(key, value);
                branch.add_up();
            }
            Self::Leaf(other, _) => {
                let other = *other;
                self.split(other, key, value);
            }
            Self::Branch(branch) => {
                let other = branch.key;
                self.split(other, key, value);
            }
        }
    }

    /// Puts a branch in the place of what is here, which has the key `other`, with another entry below it.
    fn split(&mut self, other: u64, key: u64, value: V) {
        let shift = (other ^ key).ilog2() / BITS * BITS;
        let children = std::array::from_fn(|_| Self::Empty);
        let mut branch = Branch { shift, key, sum: V::Sum::default(), children };
        let (here, there) = (branch.child(key), branch.child(other));
        branch.children[there] = std::mem::take(self);
        branch.children[here] = Self::Leaf(key, value);
        branch.add_up();
        *self = Self::Branch(Rc::new(branch));
    }

    /// Removes an entry, if it is there.
    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        match self {
            Self::Empty => None,
            Self::Leaf(other, _) if *other != key => None,
            Self::Leaf(..) => match std::mem::take(self) {
                Self::Leaf(_, value) => Some(value),
                _ => None,
            },
            Self::Branch(branch) => {
                let branch = Rc::make_mut(branch);
                let child = branch.child(key);
                let removed = branch.children[child].remove(key);
                let mut left = branch.children.iter_mut().filter(|child| !child.is_empty());
                if let (Some(only), None) = (left.next(), left.next()) {
                    *self = std::mem::take(only);
                } else {
                    branch.add_up();
                }
                removed
            }
        }
    }

    /// Changes the value for a key, if there is one.
    pub(super) fn change<R>(&mut self, key: u64, change: impl FnOnce(&mut V) -> R) -> Option<R> {
        match self {
            Self::Empty => None,
            Self::Leaf(other, value) => (*other == key).then(|| change(value)),
            Self::Branch(branch) => {
                let branch = Rc::make_mut(branch);
                let child = branch.child(key);
                let changed = branch.children[child].change(key, change);
                branch.add_up();
                changed
            }
        }
    }

    /// The entry with the smallest key.
    pub(super) fn first(&self) -> Option<(u64, &V)> {
        self.find_child(|children| children.iter().find(|child| !child.is_empty()))
    }

    /// The entry at which one ends up who goes to the child that `select` chooses, from the root on.
    pub(super) fn find_child(&self, mut select: impl FnMut(&[Self; CHILDREN]) -> Option<&Self>) -> Option<(u64, &V)> {
        let mut at = self;
        loop {
            match at {
                Self::Empty => return None,
                Self::Leaf(key, value) => return Some((*key, value)),
                Self::Branch(branch) => at = select(&branch.children)?,
            }
        }
    }

    /// Calls `visit` with all entries, in ascending order, but for those in parts whose sum is not `wanted`.
    pub(super) fn for_each<'a>(&'a self, wanted: &impl Fn(V::Sum) -> bool, visit: &mut impl FnMut(u64, &'a V)) {
        match self {
            Self::Empty => {}
            Self::Leaf(key, value) if wanted(value.sum()) => visit(*key, value),
            Self::Branch(branch) if wanted(branch.sum) => {
                branch.children.iter().for_each(|child| child.for_each(wanted, visit));
            }
            Self::Leaf(..) | Self::Branch(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use raddle_engine::rng::Rng;

    use super::*;

    /// Its sum depends on the order: the values, each a digit.
    impl Summed for u32 {
        type Sum = (u64, u64);

        fn sum(&self) -> (u64, u64) {
            (u64::from(*self), 1)
        }

        fn add(left: (u64, u64), right: (u64, u64)) -> (u64, u64) {
            let shifted = (0..right.1).fold(left.0, |shifted, _| shifted.wrapping_mul(31));
            (shifted.wrapping_add(right.0), left.1 + right.1)
        }
    }

    fn key(rng: &mut Rng) -> u64 {
        let small = u64::from(rng.below(120));
        match rng.below(4) {
            0 => small,
            1 => small << 58,
            2 => small << 32 | u64::from(rng.below(3)),
            _ => small.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }

    fn assert_same(map: &OrderedMap<u32>, plain: &BTreeMap<u64, u32>) {
        let mut entries = Vec::new();
        map.for_each(&|_| true, &mut |key, value| entries.push((key, *value)));
        assert_eq!(entries, plain.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>());
        let of = |entry: Option<(&u64, &u32)>| entry.map(|(key, value)| (*key, *value));
        assert_eq!(map.first().map(|(key, value)| (key, *value)), of(plain.first_key_value()));
        let sum = plain.values().fold((0, 0), |sum, value| u32::add(sum, value.sum()));
        assert_eq!((map.sum(), map.is_empty()), (sum, plain.is_empty()));
    }

    #[test]
    fn it_is_a_map_and_copies_stay_as_they_were() {
        let mut rng = Rng::new(7);
        let mut maps = vec![(OrderedMap::default(), BTreeMap::new())];
        for round in 0..6_000 {
            let which = rng.below(maps.len() as u32) as usize;
            if rng.below(100) == 0 && maps.len() < 6 {
                maps.push(maps[which].clone());
            }
            let (map, plain) = &mut maps[which];
            let (key, value) = (key(&mut rng), rng.below(30));
            assert_eq!(map.get(key), plain.get(&key));
            let changed = map.change(key, |value| std::mem::replace(value, 7));
            assert_eq!(changed, plain.get_mut(&key).map(|value| std::mem::replace(value, 7)));
            if rng.below(if round / 500 % 2 == 0 { 3 } else { 5 }) < 2 {
                map.insert(key, value);
                plain.insert(key, value);
            } else {
                let key = plain.range(key..).next().map_or(key, |entry| *entry.0);
                assert_eq!(map.remove(key), plain.remove(&key));
            }
            if round % 20 == 0 {
                maps.iter().for_each(|(map, plain)| assert_same(map, plain));
            }
        }
    }
}
