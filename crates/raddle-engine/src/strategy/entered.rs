//! What several workers entered, as keys of 64 bits: a part of the tree that one of them has entered is given up by the others.
//!
//! **A lost worker**: who entered something may be lost before it has been through with it. Then its piece is handed out again, and
//! what was entered since the latest commit must be forgotten before that, or whoever takes up the piece would find all doors
//! closed. That is enough: what was entered is either forgotten, or what lies beyond it has been run, is still part of a piece, or
//! was given up at something further on that was entered; and nothing is further on than the furthest.
//!
//! **Memory**: a key takes 9.1 to 11.4 bytes. When there are as many as allowed, either no more are added, and what comes later is
//! entered as often as it turns up; or a new one takes the place of an old one, which is entered again when it turns up again.

mod keys;

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
        // By bits that a table of keys does not go by.
        let shard = &self.shards[key as usize % SHARDS];
        work(&mut shard.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What was entered, as one worker sees it.
#[derive(Debug)]
pub(super) struct Entered {
    cache: Arc<Cache>,
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
        Self { cache: Arc::new(Cache { most, full, shards }), uncommitted: Vec::new() }
    }

    /// How many keys are kept at most.
    pub fn most(&self) -> usize {
        self.cache.most
    }

    /// The same for another worker.
    pub fn copy(&self) -> Self {
        Self { cache: Arc::clone(&self.cache), uncommitted: Vec::new() }
    }

    /// Whether to go on: nobody is known to have entered this before. Keys are hashes, with all bits as good as random.
    pub fn enter(&mut self, key: u64) -> bool {
        let most = self.cache.most / SHARDS;
        let replaces = self.cache.full == Full::Replace && most > 0;
        let (new, kept) = self.cache.with(key, |keys| {
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
            self.cache.with(key, |keys| keys.remove(key));
        }
    }
}
