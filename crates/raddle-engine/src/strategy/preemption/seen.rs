//! The prefixes that were entered: by their happens-before relation, and by who is running where that makes a difference.
//!
//! A prefix is kept as a hash of 64 bits. Among four million prefixes, two different ones are taken for the same with
//! a chance of about one in two million. Workers share what they [entered](Entered).

use super::is_odd;
use crate::ids::TaskId;
use crate::order::before::Before;
use crate::order::events::Events;
use crate::rng::mix;
use crate::strategy::entered::Entered;
use crate::trace::Trace;

/// About 72 MiB of them.
pub(super) const MOST_SEEN: usize = 1 << 22;

/// What was entered by one worker and the others, and how far the current execution has been followed.
#[derive(Debug)]
pub(super) struct Seen {
    entered: Entered,
    events: Events,
    before: Before,
    followed: usize,
    /// In this execution a wait has ended by time or for no reason.
    odd: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self::sharing(Entered::new(MOST_SEEN))
    }
}

impl Seen {
    fn sharing(entered: Entered) -> Self {
        let (events, before) = (Events::default(), Before::default());
        Self { entered, events, before, followed: 0, odd: false }
    }

    /// For another worker.
    pub fn copy(&self) -> Self {
        Self::sharing(self.entered.copy())
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
        self.entered.enter(mix(self.before.fingerprint(), who))
    }

    /// What was entered stays entered.
    pub fn commit(&mut self) {
        self.entered.commit();
    }

    /// Forgets what was entered since the latest commit.
    pub fn lose(&mut self) {
        self.entered.lose();
    }
}
