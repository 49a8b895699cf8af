//! A set of 64-bit keys of states (or prefixes) that the workers of a search share. A worker prunes at a key that another one has added.
//!
//! **Lost workers.** A worker may be lost before it has explored what lies beyond its keys. Its piece is then given to another worker,
//! and all keys that it added since its latest commit must be removed first; otherwise the other worker would prune at each of them.
//! That is sufficient. For each remaining key, what lies beyond it was run, or is part of some piece, or was pruned at a key that is
//! deeper still; and there is a deepest key.
//!
//! **Memory**: a key takes 9.1 to 11.4 bytes, and up to 18.3 while there are fewer than a quarter of a million. At the limit, either no more
//! keys are added, and later states are visited whenever they are reached; or a new key replaces an old one, whose state is visited
//! again when it is reached again.

mod key_set;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use self::key_set::KeySet;

/// The number of shards. Each has its own lock, so that workers rarely wait for one another.
const SHARDS: usize = 64;

/// The keys of all workers.
#[derive(Debug)]
struct Shards {
    limit: usize,
    when_full: WhenFull,
    shards: [Shard; SHARDS],
}

/// What happens when the set has reached its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenFull {
    /// No more keys are added.
    StopAdding,
    /// A new key replaces an old one.
    Replace,
}

/// One shard, on cache lines that it does not share with others.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<KeySet>);

impl Shards {
    fn with<R>(&self, key: u64, work: impl FnOnce(&mut KeySet) -> R) -> R {
        let shard = &self.shards[shard_of(key)];
        work(&mut shard.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The shard of a key. Uses other bits than the table of keys does.
fn shard_of(key: u64) -> usize {
    key as usize % SHARDS
}

/// Who owns the set. With one worker, no lock is taken.
#[derive(Debug)]
enum Ownership {
    Owned(Box<Shards>),
    Shared(Arc<Shards>),
    /// Only while the set is moved from one worker to several.
    Moving,
}

impl Ownership {
    fn cache(&self) -> &Shards {
        match self {
            Self::Owned(cache) => cache,
            Self::Shared(cache) => cache,
            Self::Moving => unreachable!("raddle bug: the set of states is being moved"),
        }
    }

    #[inline]
    fn with<R>(&mut self, key: u64, work: impl FnOnce(&mut KeySet) -> R) -> R {
        match self {
            Self::Owned(cache) => {
                let shard = &mut cache.shards[shard_of(key)];
                work(shard.0.get_mut().unwrap_or_else(PoisonError::into_inner))
            }
            other => other.cache().with(key, work),
        }
    }

    /// Makes the set shareable, and returns a handle for another worker.
    fn share(&mut self) -> Arc<Shards> {
        let shared = match std::mem::replace(self, Self::Moving) {
            Self::Owned(cache) => Arc::from(cache),
            Self::Shared(cache) => cache,
            Self::Moving => unreachable!("raddle bug: the set of states is being moved"),
        };
        *self = Self::Shared(Arc::clone(&shared));
        shared
    }
}

/// The set, as one worker sees it.
#[derive(Debug)]
pub(super) struct StateCache {
    cache: RefCell<Ownership>,
    /// The keys that this worker added since its latest commit.
    uncommitted: Vec<u64>,
}

impl StateCache {
    /// An empty set, for at most so many keys.
    pub fn new(limit: usize) -> Self {
        Self::with(limit, WhenFull::StopAdding)
    }

    /// An empty set, for at most so many keys.
    pub fn with(limit: usize, when_full: WhenFull) -> Self {
        let shards = std::array::from_fn(|_| Shard::default());
        let cache = Ownership::Owned(Box::new(Shards { limit, when_full, shards }));
        Self { cache: RefCell::new(cache), uncommitted: Vec::new() }
    }

    /// The largest number of keys.
    pub fn limit(&self) -> usize {
        self.cache.borrow().cache().limit
    }

    /// The same set, for another worker.
    pub fn copy(&self) -> Self {
        let shared = self.cache.borrow_mut().share();
        Self { cache: RefCell::new(Ownership::Shared(shared)), uncommitted: Vec::new() }
    }

    /// Adds a key. Returns false if it is already there. Keys are hashes, with all bits as good as random.
    pub fn add(&mut self, key: u64) -> bool {
        let owner = self.cache.get_mut();
        let Shards { limit, when_full, .. } = *owner.cache();
        let limit = limit / SHARDS;
        let replaces = when_full == WhenFull::Replace && limit > 0;
        let (new, stored) = owner.with(key, |keys| {
            if keys.len() < limit {
                (keys.insert(key), true)
            } else {
                (if replaces { keys.replace(key) } else { !keys.contains(key) }, replaces)
            }
        });
        if new && stored {
            self.uncommitted.push(key);
        }
        new
    }

    /// Makes the keys since the latest commit permanent.
    pub fn commit(&mut self) {
        self.uncommitted.clear();
    }

    /// Removes the keys that this worker added since its latest commit.
    pub fn discard_uncommitted(&mut self) {
        for key in self.uncommitted.drain(..) {
            self.cache.get_mut().with(key, |keys| keys.remove(key));
        }
    }
}
