//! A table by object.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What is stored of objects, each at its [slot](super::events::Touch::slot).
///
/// The numbers of messages are made of two, so most of those of a long execution are large and few of them are used: a table
/// that reaches up to them would grow with the square of the execution.
#[derive(Clone, Debug)]
pub struct BySlot<T> {
    near: Vec<T>,
    far: HashMap<usize, T>,
}

/// Slots below this have their place in a list.
const NEAR: usize = 1 << 14;

impl<T> Default for BySlot<T> {
    fn default() -> Self {
        Self { near: Vec::new(), far: HashMap::new() }
    }
}

impl<T: Default> BySlot<T> {
    /// What is stored of an object; `None` if nothing is, which may look like something that is empty.
    #[inline]
    pub fn get(&self, slot: usize) -> Option<&T> {
        if slot < NEAR { self.near.get(slot) } else { self.far.get(&slot) }
    }

    /// What is stored of an object, to be changed.
    #[inline]
    pub fn at(&mut self, slot: usize) -> &mut T {
        if slot >= NEAR {
            return self.far.entry(slot).or_default();
        }
        if self.near.len() <= slot {
            self.near.resize_with(slot + 1, T::default);
        }
        &mut self.near[slot]
    }

    /// Changes what is stored of an object; what has become empty is forgotten.
    #[inline]
    pub fn change(&mut self, slot: usize, change: impl FnOnce(&mut T), is_empty: impl FnOnce(&T) -> bool) {
        if slot < NEAR {
            return self.near.get_mut(slot).map_or((), change);
        }
        if let Entry::Occupied(mut entry) = self.far.entry(slot) {
            change(entry.get_mut());
            if is_empty(entry.get()) {
                entry.remove();
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_slots_take_no_more_than_they_are() {
        let mut table = BySlot::<Vec<u32>>::default();
        for slot in [3, NEAR - 1, NEAR, 100 * NEAR, usize::MAX] {
            assert!(table.get(slot).is_none_or(Vec::is_empty));
            table.at(slot).push(slot as u32);
            table.at(slot).push(7);
            assert_eq!(table.get(slot), Some(&vec![slot as u32, 7]));
        }
        assert_eq!((table.near.len(), table.far.len()), (NEAR, 3));
        let pop_all = |table: &mut BySlot<Vec<u32>>| {
            for slot in [3, NEAR - 1, NEAR, 100 * NEAR, usize::MAX] {
                table.change(slot, |numbers| _ = numbers.pop(), Vec::is_empty);
            }
        };
        pop_all(&mut table);
        assert_eq!(table.get(NEAR), Some(&vec![NEAR as u32]));
        pop_all(&mut table);
        assert_eq!((table.get(3), table.far.len()), (Some(&vec![]), 0));
    }
}
