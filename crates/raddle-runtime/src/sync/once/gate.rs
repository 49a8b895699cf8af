//! Which task runs the function of a `Once`, `OnceLock` or `LazyLock`, and which tasks wait for it.
//!
//! The lowest bits of the object's word are the stage of the function; each primitive uses the other bits for itself. A complete stage never
//! changes, so looking at it is invisible and needs no decision.

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::execution::{Ask, Moment, ObjectRef, Progress};

static COMPLETE_IT: Operation = Operation { verb: "complete", class: Class::Release };
static GIVE_UP: Operation = Operation { verb: "give up", class: Class::Release };

/// The bits of the word that are the stage.
pub(in crate::sync) const STAGE: u64 = 3;
/// No function has run. Words start with this stage.
pub(in crate::sync) const NEW: u64 = 0;
/// A task is running the function.
pub(in crate::sync) const RUNNING: u64 = 1;
/// The function has run. This stage never changes.
pub(in crate::sync) const COMPLETE: u64 = 2;
/// The function has panicked.
pub(in crate::sync) const POISONED: u64 = 3;

/// What a task that wants the function to run has to do.
pub(in crate::sync) enum Entered<'a> {
    /// It has to run the function.
    First(Initializer<'a>),
    /// Nothing: the function has run.
    Done,
    /// It must not run the function, because an earlier one has panicked.
    Poisoned,
}

/// What to do after an earlier function has panicked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::sync) enum AfterPanic {
    /// Run no other.
    Refuse,
    /// Run another.
    Retry,
}

/// Whether the stage is complete. Not a step.
pub(in crate::sync) fn is_complete(place: ObjectRef<'_>) -> bool {
    place.execution.state.borrow().objects[place.object.index()].word & STAGE == COMPLETE
}

/// Records a look at a complete stage: what the function did happens before what follows. `role` is the role that the step would have if the
/// stage were not complete.
pub(in crate::sync) fn look_at_complete(place: ObjectRef<'_>, op: &'static Operation, role: Role, site: Site) {
    let ask = Ask { role, ordered: Ordered::ACQUIRE, ..Ask::new(op, place.object, Effect::Read, site) };
    place.execution.step_unseen(ask, |moment| moment.progress(Progress::Neutral));
}

/// Looks whether the stage is complete.
pub(in crate::sync) fn look(place: ObjectRef<'_>, op: &'static Operation, site: Site) -> bool {
    if is_complete(place) {
        look_at_complete(place, op, Role::Settled, site);
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

/// Waits until no task is running the function. Then, if it has not run, the current task has to run it.
pub(in crate::sync) fn enter<'a>(
    place: ObjectRef<'a>,
    op: &'static Operation,
    after_panic: AfterPanic,
    site: Site,
) -> Entered<'a> {
    if is_complete(place) {
        // In another order this task could be the first, and then it would wait for no other. So the role is not `Takes`.
        look_at_complete(place, op, Role::Settled, site);
        return Entered::Done;
    }
    let found = place.step_when((is_not_running, 0), op, Ordered::ACQUIRE, site, |moment| {
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
        before => Entered::First(Initializer { place, site, poisoned: before == POISONED, if_it_panics: POISONED }),
    }
}

pub(in crate::sync) fn is_not_running(word: u64, _: u64) -> bool {
    word & STAGE != RUNNING
}

/// Held by the task that runs the function. If it is dropped before it is [complete](Self::complete), the function has panicked.
pub(in crate::sync) struct Initializer<'a> {
    place: ObjectRef<'a>,
    site: Site,
    /// True if an earlier function has panicked.
    pub(in crate::sync) poisoned: bool,
    /// The stage after a panic of this function.
    pub(in crate::sync) if_it_panics: u64,
}

impl Initializer<'_> {
    /// Makes the stage complete and calls `act`, in one step.
    pub(in crate::sync) fn complete(self, act: impl FnOnce(&mut Moment<'_>)) {
        let Self { place, site, .. } = self;
        std::mem::forget(self);
        leave(place, &COMPLETE_IT, COMPLETE, site, act);
    }
}

impl Drop for Initializer<'_> {
    fn drop(&mut self) {
        leave(self.place, &GIVE_UP, self.if_it_panics, self.site, |_| ());
    }
}

fn leave(place: ObjectRef<'_>, op: &'static Operation, stage: u64, site: Site, act: impl FnOnce(&mut Moment<'_>)) {
    place.step(op, Effect::Change, Ordered::RELEASE, site, |moment| {
        moment.release();
        moment.gives();
        *moment.word() = *moment.word() & !STAGE | stage;
        act(moment);
    });
}
