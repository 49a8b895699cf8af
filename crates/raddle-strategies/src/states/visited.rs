//! The visited states, and how far the current execution was processed.
//!
//! A state is identified by its [fingerprint](raddle_engine::system::Snapshots::fingerprint). If the program has none, it is identified by the
//! happens-before relation of the steps that led to it: prefixes with equal relations reach equal states. In such a program, nothing is
//! pruned after a wait has ended by timeout or by a spurious wakeup.
//!
//! Both are stored as 64-bit hashes. Among four million states, the probability of a collision is about one in two million. Workers
//! share the [set](StateCache).

use raddle_engine::order::before::Before;
use raddle_engine::order::events::Events;
use raddle_engine::rng::mix;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

use super::state_cache::{StateCache, WhenFull};

/// The states visited by all workers, and how far the current execution was processed.
#[derive(Debug)]
pub(crate) struct Visited {
    cache: StateCache,
    /// How many new states the current execution has visited.
    new: u64,
    /// Of this execution; before its first visit, of the previous one.
    events: Events,
    before: Before,
    /// How many steps of this execution were processed.
    followed: usize,
    /// In this execution, a wait has ended by timeout or by a spurious wakeup.
    has_timeout_or_spurious: bool,
}

impl Visited {
    /// An empty set, for at most so many states.
    pub fn new(most: usize) -> Self {
        Self::sharing(StateCache::new(most))
    }

    fn sharing(cache: StateCache) -> Self {
        let (events, before) = (Events::default(), Before::default());
        Self { cache, new: 0, events, before, followed: 0, has_timeout_or_spurious: false }
    }

    /// An empty set. At the limit, a new state replaces an old one.
    pub fn replacing(self) -> Self {
        Self::sharing(StateCache::with(self.cache.limit(), WhenFull::Replace))
    }

    /// The same set, for another worker.
    pub fn copy(&self) -> Self {
        Self::sharing(self.cache.copy())
    }

    /// Begins a new execution.
    pub fn begin(&mut self) {
        self.new = 0;
        self.followed = 0;
        self.has_timeout_or_spurious = false;
    }

    /// Visits a state. Returns false if it was visited before.
    pub fn visit(&mut self, state: u64) -> bool {
        let new = self.cache.add(state);
        self.new += u64::from(new);
        new
    }

    /// Visits the state that these steps lead to, combined with `context`. Returns false if it was visited before.
    pub fn visit_after(&mut self, so_far: &Trace, context: u64) -> bool {
        if self.followed == 0 {
            self.events.retain_common(so_far);
            self.before.truncate(self.events.len());
        }
        self.has_timeout_or_spurious |=
            so_far.steps()[self.followed..].iter().any(|step| is_timeout_or_spurious(step.variant));
        self.followed = so_far.len();
        if self.has_timeout_or_spurious {
            return true;
        }
        self.events.follow(so_far);
        self.before.follow(&self.events);
        self.visit(mix(self.before.fingerprint(), context))
    }

    /// How many new states the current execution has visited.
    pub fn new_states(&self) -> u64 {
        self.new
    }

    /// Makes the visits since the latest commit permanent.
    pub fn commit(&mut self) {
        self.cache.commit();
    }

    /// Forgets the visits since the latest commit.
    pub fn discard_uncommitted(&mut self) {
        self.cache.discard_uncommitted();
    }
}

/// True if a wait ends by timeout or by a spurious wakeup.
pub(crate) fn is_timeout_or_spurious(variant: Variant) -> bool {
    matches!(variant, Variant::TimedOut | Variant::Spurious)
}
