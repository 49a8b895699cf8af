//! Hash maps and sets that are iterated in the same order in every execution.
//!
//! The maps of `std` use random hash keys, so a program that iterates over a map does something different each time it runs. These are the
//! same maps with other keys. In an execution the keys depend on the seed of the search, the task that makes the map, and how many it has made
//! before. So they are the same in every execution, and differ between maps and between seeds. Other seeds show other orders of iteration.
//! Outside of any execution the keys are random, as in `std`.
//!
//! The keys depend on the count of each task and not on a count of all maps. A count of all maps would depend on which task makes its map
//! first, and reduction treats such orders as equivalent.

mod map;
mod set;

use std::collections::hash_map::{DefaultHasher, RandomState as StdRandomState};
use std::hash::{BuildHasher, Hasher};

pub use self::map::HashMap;
pub use self::set::HashSet;
use crate::coroutine::current;

/// Makes the hashers of a [`HashMap`] or [`HashSet`], as [`std::hash::RandomState`] does.
#[derive(Clone, Debug)]
pub struct RandomState(Keys);

#[derive(Clone, Debug)]
enum Keys {
    /// Inside an execution.
    Controlled([u64; 2]),
    /// Outside of any.
    Free(StdRandomState),
}

impl RandomState {
    /// Makes new keys: the next ones of the current task, or random ones outside of any execution.
    #[must_use]
    pub fn new() -> Self {
        let keys = current::with(|execution| execution.state.borrow_mut().hash_keys());
        Self(keys.map_or_else(|| Keys::Free(StdRandomState::new()), Keys::Controlled))
    }
}

impl Default for RandomState {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        match &self.0 {
            Keys::Free(state) => state.build_hasher(),
            Keys::Controlled(keys) => {
                let mut hasher = DefaultHasher::new();
                keys.iter().for_each(|key| hasher.write_u64(*key));
                hasher
            }
        }
    }
}
