//! What several workers entered, as keys of 64 bits: a part of the tree that one of them has entered is given up by the others.
//!
//! **A lost worker**: who entered something may be lost before it has been through with it. Then its piece is handed out again, and
//! what was entered since the latest commit must be forgotten before that, or whoever takes up the piece would find all doors
//! closed. That is enough: what was entered is either forgotten, or what lies beyond it has been run, is still part of a piece, or
//! was given up at something further on that was entered; and nothing is further on than the furthest.
//!
//! **Memory**: a key takes 9.1 to 11.4 bytes, and up to 18.3 as long as there are fewer than a quarter of a million. When there
//! are as many as allowed, either no more are added, and what comes later is entered as often as it turns up; or a new
//! one takes the place of an old one, which is entered again when it turns up again.

mod keys;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use self::keys::Keys;

/// Parts of the cache, each with a lock of its own, so that workers hardly ever wait for one another.
const SHARDS: usize = 64;

/// What all workers entered.
#[derive(Debug)]
struct Cache {
    most: usize,
    full: Full,
    shards: [Shard; SHARDS],
}

/// What is done when there are as many keys as are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// No more are added.
    StopAdding,
    /// A new one takes the place of an old one.
    Replace,
}

/// A part of it, on cache lines that it does not share with others.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Keys>);

impl Cache {
    fn with<R>(&self, key: u64, work: impl FnOnce(&mut Keys) -> R) -> R {
        let shard = &self.shards[shard_of(key)];
        work(&mut shard.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// By bits that a table of keys does not go by.
fn shard_of(key: u64) -> usize {
    key as usize % SHARDS
}

/// Whose it is. Nobody is waited for, and nothing is locked, before there is a second worker.
#[derive(Debug)]
enum Holder {
    One(Box<Cache>),
    Several(Arc<Cache>),
    /// Only while it passes from the one to the others.
    Nobody,
}

impl Holder {
    fn cache(&self) -> &Cache {
        match self {
            Self::One(cache) => cache,
            Self::Several(cache) => cache,
            Self::Nobody => unreachable!("raddle bug: what was entered was lost"),
        }
    }

    #[inline]
    fn with<R>(&mut self, key: u64, work: impl FnOnce(&mut Keys) -> R) -> R {
        match self {
            Self::One(cache) => {
                let shard = &mut cache.shards[shard_of(key)];
                work(shard.0.get_mut().unwrap_or_else(PoisonError::into_inner))
            }
            other => other.cache().with(key, work),
        }
    }

    /// The same, to be used by others as well.
    fn share(&mut self) -> Arc<Cache> {
        let shared = match std::mem::replace(self, Self::Nobody) {
            Self::One(cache) => Arc::from(cache),
            Self::Several(cache) => cache,
            Self::Nobody => unreachable!("raddle bug: what was entered was lost"),
        };
        *self = Self::Several(Arc::clone(&shared));
        shared
    }
}

/// What was entered, as one worker sees it.
#[derive(Debug)]
pub(super) struct Entered {
    cache: RefCell<Holder>,
    /// What this worker entered since its latest commit.
    uncommitted: Vec<u64>,
}

impl Entered {
    /// Nothing; at most so many keys are kept.
    pub fn new(most: usize) -> Self {
        Self::with(most, Full::StopAdding)
    }

    /// The same, and what is done when there are so many.
    pub fn with(most: usize, full: Full) -> Self {
        let shards = std::array::from_fn(|_| Shard::default());
        let cache = Holder::One(Box::new(Cache { most, full, shards }));
        Self { cache: RefCell::new(cache), uncommitted: Vec::new() }
    }

    /// How many keys are kept at most.
    pub fn most(&self) -> usize {
        self.cache.borrow().cache().most
    }

    /// The same for another worker.
    pub fn copy(&self) -> Self {
        let shared = self.cache.borrow_mut().share();
        Self { cache: RefCell::new(Holder::Several(shared)), uncommitted: Vec::new() }
    }

    /// Whether to go on: nobody is known to have entered this before. Keys are hashes, with all bits as good as random.
    pub fn enter(&mut self, key: u64) -> bool {
        let holder = self.cache.get_mut();
        let Cache { most, full, .. } = *holder.cache();
        let most = most / SHARDS;
        let replaces = full == Full::Replace && most > 0;
        let (new, kept) = holder.with(key, |keys| {
            if keys.len() < most {
                (keys.insert(key), true)
            } else {
                (if replaces { keys.replace(key) } else { !keys.contains(key) }, replaces)
            }
        });
        if new && kept {
            self.uncommitted.push(key);
        }
        new
    }

    /// What was entered stays entered.
    pub fn commit(&mut self) {
        self.uncommitted.clear();
    }

    /// Forgets what was entered since the latest commit.
    pub fn lose(&mut self) {
        for key in self.uncommitted.drain(..) {
            self.cache.get_mut().with(key, |keys| keys.remove(key));
        }
    }
}
