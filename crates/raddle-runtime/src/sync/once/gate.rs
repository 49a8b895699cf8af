//! The engine's side of doing something once: who does it, and who waits for that.
//!
//! `Once`, `OnceLock` and `LazyLock` have an object whose word tells in its lowest bits how far they are; the rest of it belongs
//! to them. That something is complete never changes, so looking at it then is no point of decision.

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::execution::{Ask, Moment, Place, Progress};

static COMPLETE_IT: Operation = Operation { verb: "complete", class: Class::Release };
static GIVE_UP: Operation = Operation { verb: "give up", class: Class::Release };

/// The bits of the word that say how far it is.
pub(in crate::sync) const STAGE: u64 = 3;
/// Nobody has begun. Words start with this.
pub(in crate::sync) const NEW: u64 = 0;
/// Somebody is at it.
pub(in crate::sync) const RUNNING: u64 = 1;
/// It is done, for good.
pub(in crate::sync) const COMPLETE: u64 = 2;
/// The one who was at it panicked.
pub(in crate::sync) const POISONED: u64 = 3;

/// What somebody finds who wants it done.
pub(in crate::sync) enum Entered<'a> {
    /// He has to do it.
    First(Turn<'a>),
    /// It is done.
    Done,
    /// Somebody panicked over it.
    Poisoned,
}

/// What to make of it that somebody panicked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::sync) enum AfterPanic {
    /// Leave it.
    Refuse,
    /// Try again.
    Retry,
}

/// Whether it is done, without a step.
pub(in crate::sync) fn is_complete(place: Place<'_>) -> bool {
    place.execution.state.borrow().objects[place.object.index()].word & STAGE == COMPLETE
}

/// Looks at what is done: what happened until then is known from now on. `role` is that of the step it would have been if it
/// had not been done.
pub(in crate::sync) fn look_at_complete(place: Place<'_>, op: &'static Operation, role: Role, site: Site) {
    let ask = Ask { role, ordered: Ordered::ACQUIRE, ..Ask::new(op, place.object, Effect::Read, site) };
    place.execution.step_unseen(ask, |moment| moment.progress(Progress::Neutral));
}

/// Looks whether it is done.
pub(in crate::sync) fn look(place: Place<'_>, op: &'static Operation, site: Site) -> bool {
    if is_complete(place) {
        look_at_complete(place, op, Role::Plain, site);
        return true;
    }
    place.step(op, Effect::Read, Ordered::ACQUIRE, site, |moment| {
        let complete = *moment.word() & STAGE == COMPLETE;
        if complete {
            moment.progress(Progress::Neutral);
        }
        complete
    })
}

/// Waits until nobody is at it, and begins if it is not done.
pub(in crate::sync) fn enter<'a>(
    place: Place<'a>,
    op: &'static Operation,
    after_panic: AfterPanic,
    site: Site,
) -> Entered<'a> {
    if is_complete(place) {
        // If it came first, it would be the one to do it, and would wait for nobody.
        look_at_complete(place, op, Role::Plain, site);
        return Entered::Done;
    }
    let found = place.step_when((nobody_is_at_it, 0), op, Ordered::ACQUIRE, site, |moment| {
        let stage = *moment.word() & STAGE;
        if stage == COMPLETE || stage == POISONED && after_panic == AfterPanic::Refuse {
            moment.only_looked(Ordered::ACQUIRE);
            moment.progress(Progress::Neutral);
        } else {
            *moment.word() = *moment.word() & !STAGE | RUNNING;
            moment.progress(Progress::Neutral);
            moment.hold();
        }
        stage
    });
    match found {
        COMPLETE => Entered::Done,
        POISONED if after_panic == AfterPanic::Refuse => Entered::Poisoned,
        before => Entered::First(Turn { place, site, poisoned: before == POISONED, if_it_panics: POISONED }),
    }
}

pub(in crate::sync) fn nobody_is_at_it(word: u64, _: u64) -> bool {
    word & STAGE != RUNNING
}

/// Held by the one who is at it. Dropped before it is [complete](Self::complete), it is given up.
pub(in crate::sync) struct Turn<'a> {
    place: Place<'a>,
    site: Site,
    /// Somebody panicked over it before.
    pub(in crate::sync) poisoned: bool,
    /// What it is after it was given up.
    pub(in crate::sync) if_it_panics: u64,
}

impl Turn<'_> {
    /// It is done; `act` does the rest, in the same step.
    pub(in crate::sync) fn complete(self, act: impl FnOnce(&mut Moment<'_>)) {
        let Self { place, site, .. } = self;
        std::mem::forget(self);
        leave(place, &COMPLETE_IT, COMPLETE, site, act);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        leave(self.place, &GIVE_UP, self.if_it_panics, self.site, |_| ());
    }
}

fn leave(place: Place<'_>, op: &'static Operation, stage: u64, site: Site, act: impl FnOnce(&mut Moment<'_>)) {
    place.step(op, Effect::Change, Ordered::RELEASE, site, |moment| {
        moment.release();
        moment.gives();
        *moment.word() = *moment.word() & !STAGE | stage;
        act(moment);
    });
}
