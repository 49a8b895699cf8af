//! The prefixes that were entered: by their happens-before relation, and by who is running where that makes a difference.
//!
//! A prefix is kept as a hash of 64 bits. Among four million prefixes, two different ones are taken for the same with
//! a chance of about one in two million.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::is_odd;
use crate::ids::TaskId;
use crate::order::before::Before;
use crate::order::events::Events;
use crate::rng::mix;
use crate::trace::Trace;

/// About 72 MiB of them.
pub(super) const MOST_SEEN: usize = 1 << 22;

/// What was entered, and how far the current execution has been followed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: HashSet<u64, BuildHasherDefault<AsItIs>>,
    events: Events,
    before: Before,
    followed: usize,
    /// In this execution a wait has ended by time or for no reason.
    odd: bool,
}

impl Seen {
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
        if self.keys.len() < MOST_SEEN { self.keys.insert(key) } else { !self.keys.contains(&key) }
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
