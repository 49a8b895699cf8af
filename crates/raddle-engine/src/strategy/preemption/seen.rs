//! The prefixes that were entered: by their happens-before relation, and by who is running where that makes a difference.
//!
//! A prefix is kept as a hash of 64 bits. Among four million prefixes, two different ones are taken for the same with
//! a chance of about one in two million.
//!
//! **Several workers** share what was entered, so each prefix is entered by one of them. The others give up there at once, though
//! who entered it may be lost before it has been through with it. Then its piece is handed out again, and what was entered since the
//! latest commit must be forgotten before that, or whoever takes up the piece would find all doors closed. That is enough:
//! an entered prefix is either forgotten, or what lies beyond it has been run, is still part of a piece, or was given up
//! at a longer prefix that was entered; and none is longer than the longest.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::is_odd;
use crate::ids::TaskId;
use crate::order::before::Before;
use crate::order::events::Events;
use crate::rng::mix;
use crate::trace::Trace;

/// About 72 MiB of them.
pub(super) const MOST_SEEN: usize = 1 << 22;

/// Parts of the cache, each with a lock of its own, so that workers hardly ever wait for one another.
const SHARDS: usize = 64;

type Keys = HashSet<u64, BuildHasherDefault<AsItIs>>;

/// What all workers entered.
#[derive(Debug)]
struct Cache {
    shards: [Shard; SHARDS],
}

/// A part of it, on cache lines that it does not share with others.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Keys>);

impl Cache {
    fn with<R>(&self, key: u64, work: impl FnOnce(&mut Keys) -> R) -> R {
        // Bits that a table of keys does not go by.
        let shard = &self.shards[(key >> 48) as usize % SHARDS];
        work(&mut shard.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What was entered by one worker and the others, and how far the current execution has been followed.
#[derive(Debug)]
pub(super) struct Seen {
    cache: Arc<Cache>,
    /// What this worker entered since its latest commit.
    uncommitted: Vec<u64>,
    events: Events,
    before: Before,
    followed: usize,
    /// In this execution a wait has ended by time or for no reason.
    odd: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self::sharing(Arc::new(Cache { shards: std::array::from_fn(|_| Shard::default()) }))
    }
}

impl Seen {
    fn sharing(cache: Arc<Cache>) -> Self {
        let (events, before) = (Events::default(), Before::default());
        Self { cache, uncommitted: Vec::new(), events, before, followed: 0, odd: false }
    }

    /// For another worker.
    pub fn copy(&self) -> Self {
        Self::sharing(Arc::clone(&self.cache))
    }

    /// A new execution has begun.
    pub fn begin(&mut self) {
        self.events.clear();
        self.before.clear();
        self.followed = 0;
        self.odd = false;
    }

    /// Whether to go on where the execution is; `who` is running, if it makes a difference.
    pub fn enter(&mut self, so_far: &Trace, who: Option<TaskId>) -> bool {
        self.odd |= so_far.steps()[self.followed..].iter().any(|step| is_odd(step.variant));
        self.followed = so_far.len();
        if self.odd {
            return true;
        }
        self.events.follow(so_far);
        self.before.follow(&self.events);
        let who = who.map_or(0, |task| u64::from(task.number()) + 1);
        let key = mix(self.before.fingerprint(), who);
        let entered = self.cache.with(key, |keys| {
            if keys.len() < MOST_SEEN / SHARDS {
                keys.insert(key).then_some(true)
            } else {
                (!keys.contains(&key)).then_some(false)
            }
        });
        if entered == Some(true) {
            self.uncommitted.push(key);
        }
        entered.is_some()
    }

    /// What was entered stays entered.
    pub fn commit(&mut self) {
        self.uncommitted.clear();
    }

    /// Forgets what was entered since the latest commit.
    pub fn lose(&mut self) {
        for key in self.uncommitted.drain(..) {
            self.cache.with(key, |keys| keys.remove(&key));
        }
    }
}

/// Keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("raddle bug: only whole words are kept");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
