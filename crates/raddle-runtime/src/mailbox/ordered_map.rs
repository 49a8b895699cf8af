//! A map from numbers that can be copied in constant time: copies share every part that neither of them has changed.
//!
//! It is a radix tree with sixteen children per branch. Levels at which all keys agree are left out, so the depth grows with the
//! logarithm of the number of entries. Each branch knows how many of the values below it [count](Value::counts). So a caller can list those,
//! or find the n-th of them, without looking at the others.

use std::rc::Rc;

/// Bits of a key that select the child of a branch.
const BITS: u32 = 4;

const CHILDREN: usize = 1 << BITS;

/// A value of a map.
pub(super) trait Value: Clone {
    /// Whether the map counts this one.
    fn counts(&self) -> bool {
        false
    }
}

/// A map from numbers, in ascending order.
#[derive(Clone, Default)]
pub(super) enum OrderedMap<V: Value> {
    #[default]
    Empty,
    Leaf(u64, V),
    /// At least two entries.
    Branch(Rc<Branch<V>>),
}

#[derive(Clone)]
pub(super) struct Branch<V: Value> {
    /// The lowest of the bits that select a child. All keys agree in the bits above these.
    shift: u32,
    /// A bit for each child that is not empty, the first child in the lowest.
    used: u16,
    /// The same for each child with values that count.
    counted: u16,
    /// How many values count.
    count: u32,
    /// All keys agree with this one in the bits above those that select a child.
    key: u64,
    children: [OrderedMap<V>; CHILDREN],
}

impl<V: Value> Branch<V> {
    fn child(&self, key: u64) -> usize {
        (key >> self.shift) as usize % CHILDREN
    }

    /// Whether an entry with this key belongs below this branch.
    fn covers(&self, key: u64) -> bool {
        (key ^ self.key).checked_shr(self.shift + BITS).unwrap_or(0) == 0
    }

    /// The children whose bits are set, in ascending order of their keys.
    fn select(&self, mut bits: u16) -> impl Iterator<Item = &OrderedMap<V>> {
        std::iter::from_fn(move || {
            let child = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            self.children.get(child)
        })
    }

    /// The last child before this one that is not empty.
    fn last_child_before(&self, child: usize) -> Option<&OrderedMap<V>> {
        let before = u32::from(self.used) & ((1 << child) - 1);
        self.children.get(before.checked_ilog2()? as usize)
    }

    /// Changes the child that has this key, and what is known of it.
    fn change_child<R>(&mut self, key: u64, change: impl FnOnce(&mut OrderedMap<V>) -> R) -> R {
        let at = self.child(key);
        let child = &mut self.children[at];
        let before = child.count();
        let changed = change(child);
        let count = child.count();
        self.count = self.count - before + count;
        self.counted = self.counted & !(1 << at) | u16::from(count > 0) << at;
        self.used = self.used & !(1 << at) | u16::from(!child.is_empty()) << at;
        changed
    }
}

impl<V: Value> OrderedMap<V> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// How many values count.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Leaf(_, value) => u32::from(value.counts()),
            Self::Branch(branch) => branch.count,
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
                Rc::make_mut(branch).change_child(key, |child| child.insert(key, value));
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
        let mut branch = Branch { shift, used: 0, counted: 0, count: 0, key, children };
        branch.change_child(other, |child| *child = std::mem::take(self));
        branch.change_child(key, |child| *child = Self::Leaf(key, value));
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
                let removed = branch.change_child(key, |child| child.remove(key));
                if branch.used.is_power_of_two() {
                    *self = std::mem::take(&mut branch.children[branch.used.trailing_zeros() as usize]);
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
            Self::Branch(branch) => Rc::make_mut(branch).change_child(key, |child| child.change(key, change)),
        }
    }

    /// The entry with the smallest key.
    pub(super) fn first(&self) -> Option<(u64, &V)> {
        self.find_child(|branch| branch.select(branch.used).next())
    }

    /// The entry with the greatest key below `bound`.
    pub(super) fn last_below(&self, bound: u64) -> Option<(u64, &V)> {
        match self {
            Self::Branch(branch) if branch.covers(bound) => {
                let child = branch.child(bound);
                let here = branch.children[child].last_below(bound);
                here.or_else(|| branch.last_child_before(child)?.last())
            }
            Self::Branch(branch) if branch.key < bound => self.last(),
            Self::Leaf(key, value) if *key < bound => Some((*key, value)),
            Self::Empty | Self::Leaf(..) | Self::Branch(_) => None,
        }
    }

    /// The entry with the greatest key.
    fn last(&self) -> Option<(u64, &V)> {
        self.find_child(|branch| branch.last_child_before(CHILDREN))
    }

    /// The n-th entry of those that count, from 0.
    pub(super) fn nth_counted(&self, mut n: u32) -> Option<(u64, &V)> {
        if n >= self.count() {
            return None;
        }
        self.find_child(|branch| {
            branch.select(branch.counted).find(|child| {
                let here = child.count();
                let found = n < here;
                n -= if found { 0 } else { here };
                found
            })
        })
    }

    /// The entry that is reached by going from each branch to the child that `select` returns.
    fn find_child<'a>(&'a self, mut select: impl FnMut(&'a Branch<V>) -> Option<&'a Self>) -> Option<(u64, &'a V)> {
        let mut at = self;
        loop {
            match at {
                Self::Empty => return None,
                Self::Leaf(key, value) => return Some((*key, value)),
                Self::Branch(branch) => at = select(branch)?,
            }
        }
    }

    /// Calls `visit` with all values that count, in ascending order of their keys.
    pub(super) fn each_counted<'a>(&'a self, visit: &mut impl FnMut(&'a V)) {
        match self {
            Self::Leaf(_, value) if value.counts() => visit(value),
            Self::Branch(branch) => branch.select(branch.counted).for_each(|child| child.each_counted(visit)),
            Self::Empty | Self::Leaf(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use raddle_engine::rng::Rng;

    use super::*;

    /// Odd values count.
    impl Value for u32 {
        fn counts(&self) -> bool {
            self % 2 == 1
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
        assert!(plain.iter().all(|(key, value)| map.get(*key) == Some(value)));
        let of = |entry: Option<(&u64, &u32)>| entry.map(|(key, value)| (*key, *value));
        assert_eq!(map.first().map(|(key, value)| (key, *value)), of(plain.first_key_value()));
        assert_eq!(map.last().map(|(key, value)| (key, *value)), of(plain.last_key_value()));
        let odd: Vec<_> = plain.iter().filter(|(_, value)| value.counts()).map(|(key, value)| (*key, *value)).collect();
        let nth = |n| map.nth_counted(n).map(|(key, value)| (key, *value));
        assert_eq!((0..).map_while(nth).collect::<Vec<_>>(), odd);
        let mut counted = Vec::new();
        map.each_counted(&mut |value| counted.push(*value));
        assert_eq!(counted, odd.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        assert_eq!((map.count() as usize, map.is_empty()), (odd.len(), plain.is_empty()));
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
            let below = map.last_below(key).map(|(key, value)| (key, *value));
            assert_eq!(below, plain.range(..key).next_back().map(|(key, value)| (*key, *value)));
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
