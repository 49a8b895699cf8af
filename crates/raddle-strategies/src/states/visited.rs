//! What was entered, and how far the current execution has been followed.
//!
//! A state is known by its [fingerprint](raddle_engine::system::System::fingerprint), or, where the program's state cannot be seen, by the
//! happens-before relation of what led to it: that of equal prefixes is equal, and so are the states. From where a wait has ended by time
//! or for no reason in a program whose state cannot be seen, nothing is given up.
//!
//! Both are kept as hashes of 64 bits. Among four million, two different ones are taken for the same with a chance of about one in two
//! million. Workers share what they [entered](Entered).

use super::entered::{Entered, Full};
use raddle_engine::order::before::Before;
use raddle_engine::order::events::Events;
use raddle_engine::rng::mix;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

/// What was entered by one worker and the others, and how far the current execution has been followed.
#[derive(Debug)]
pub(crate) struct Visited {
    entered: Entered,
    /// What nobody had entered before, in this execution.
    new: u64,
    events: Events,
    before: Before,
    followed: usize,
    /// In this execution a wait has ended by time or for no reason.
    odd: bool,
}

impl Visited {
    /// Nothing; at most so much is kept.
    pub fn new(most: usize) -> Self {
        Self::sharing(Entered::new(most))
    }

    fn sharing(entered: Entered) -> Self {
        let (events, before) = (Events::default(), Before::default());
        Self { entered, new: 0, events, before, followed: 0, odd: false }
    }

    /// Nothing; when as much is kept as may be, what comes later takes the place of what was there.
    pub fn replacing(self) -> Self {
        Self::sharing(Entered::with(self.entered.most(), Full::Replace))
    }

    /// For another worker.
    pub fn copy(&self) -> Self {
        Self::sharing(self.entered.copy())
    }

    /// A new execution has begun.
    pub fn begin(&mut self) {
        self.new = 0;
        if self.followed > 0 {
            self.events.clear();
            self.before.clear();
            self.followed = 0;
        }
        self.odd = false;
    }

    /// Whether nobody has been in this state.
    pub fn enter_state(&mut self, state: u64) -> bool {
        let new = self.entered.enter(state);
        self.new += u64::from(new);
        new
    }

    /// Whether nobody has been in the state that these steps lead to, with this beside it.
    pub fn enter_after(&mut self, so_far: &Trace, beside: u64) -> bool {
        self.odd |= so_far.steps()[self.followed..].iter().any(|step| is_odd(step.variant));
        self.followed = so_far.len();
        if self.odd {
            return true;
        }
        self.events.follow(so_far);
        self.before.follow(&self.events);
        self.enter_state(mix(self.before.fingerprint(), beside))
    }

    /// How much nobody had entered before the current execution did.
    pub fn new_states(&self) -> u64 {
        self.new
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

/// Whether a wait ends by time or for no reason.
pub(crate) fn is_odd(variant: Variant) -> bool {
    matches!(variant, Variant::TimedOut | Variant::Spurious)
}
