//! The hash set.

use std::collections::hash_set::{self, HashSet as StdHashSet};
use std::fmt;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Deref, DerefMut, Sub};

use super::RandomState;

/// A hash set as [`std::collections::HashSet`], which it dereferences to. In a test, its order of iteration is the same in every execution.
#[derive(Clone)]
pub struct HashSet<T>(StdHashSet<T, RandomState>);

impl<T> HashSet<T> {
    /// Makes an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self(StdHashSet::with_hasher(RandomState::new()))
    }

    /// Makes an empty set with room for so many values.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(StdHashSet::with_capacity_and_hasher(capacity, RandomState::new()))
    }

    /// The set of `std` inside.
    #[must_use]
    pub fn into_inner(self) -> StdHashSet<T, RandomState> {
        self.0
    }
}

impl<T> Default for HashSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for HashSet<T> {
    type Target = StdHashSet<T, RandomState>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for HashSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for HashSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Eq + Hash> PartialEq for HashSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + Hash> Eq for HashSet<T> {}

impl<T: Eq + Hash> FromIterator<T> for HashSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(StdHashSet::from_iter(values))
    }
}

impl<T: Eq + Hash, const N: usize> From<[T; N]> for HashSet<T> {
    fn from(values: [T; N]) -> Self {
        Self::from_iter(values)
    }
}

impl<T: Eq + Hash> Extend<T> for HashSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<'a, T: Eq + Hash + Copy> Extend<&'a T> for HashSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<T> IntoIterator for HashSet<T> {
    type Item = T;
    type IntoIter = hash_set::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a HashSet<T> {
    type Item = &'a T;
    type IntoIter = hash_set::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

macro_rules! set_operators {
    ($($operator:ident $method:ident;)*) => {
        $(
            impl<T: Eq + Hash + Clone> $operator<&HashSet<T>> for &HashSet<T> {
                type Output = HashSet<T>;

                fn $method(self, other: &HashSet<T>) -> HashSet<T> {
                    HashSet((&self.0).$method(&other.0))
                }
            }
        )*
    };
}

set_operators! {
    BitAnd bitand;
    BitOr bitor;
    BitXor bitxor;
    Sub sub;
}
