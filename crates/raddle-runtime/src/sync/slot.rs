//! A value that is made once, inside an execution or outside of any: what `OnceLock` and `LazyLock` have in common.
//!
//! A value made outside of any execution is seen by all of them. One that is made in an execution lives in the slot if no execution
//! has used it before: it may be local to this one, and then has to be dropped where the program drops it. A slot that
//! outlives executions starts each of them empty, and its value is [kept](super::statics) by the execution.

use std::sync::OnceLock;

use raddle_engine::trace::{Operation, Ordered, Site};

use super::once::gate::{self, AfterPanic, COMPLETE, Entered, NEW, STAGE};
use super::statics::Kept;
use crate::execution::{Kind, Met, Moment, Place, Progress, State, Tag};

/// No other execution has used the slot.
const FRESH: u64 = 4;

/// The bits of a word above these say where the value is.
const HOME_SHIFT: u32 = 8;
const OUTSIDE: u64 = 0;
const INSIDE: u64 = 1;
/// The first value kept by the execution; the others follow.
const KEPT: u64 = 2;

pub(super) struct Slot<T> {
    tag: Tag,
    /// What was made outside of any execution.
    outside: OnceLock<T>,
    /// What was made by the first execution that used the slot.
    inside: OnceLock<T>,
}

impl<T> Slot<T> {
    #[track_caller]
    pub(super) const fn new() -> Self {
        Self { tag: Tag::new(), outside: OnceLock::new(), inside: OnceLock::new() }
    }

    #[track_caller]
    pub(super) fn full(value: T) -> Self {
        Self { tag: Tag::new(), outside: OnceLock::from(value), inside: OnceLock::new() }
    }

    /// The value outside of any execution.
    pub(super) fn outside(&self) -> &OnceLock<T> {
        &self.outside
    }

    /// Calls `body` with the slot's place in the running execution; `None` outside of any.
    #[track_caller]
    pub(super) fn with<R>(&self, kind: &'static Kind, body: impl FnOnce(Place<'_>) -> R) -> Option<R> {
        let first = |met| match met {
            _ if self.outside.get().is_some() => COMPLETE | OUTSIDE << HOME_SHIFT,
            Met::Never if self.inside.get().is_some() => COMPLETE | INSIDE << HOME_SHIFT,
            Met::Never => NEW | FRESH,
            Met::InEarlierExecution => NEW,
        };
        self.tag.with(kind, first, body)
    }

    /// The value, if it is there.
    pub(super) fn get(&self, place: Place<'_>, op: &'static Operation, site: Site) -> Option<&T> {
        gate::look(place, op, site).then(|| self.value(place))
    }

    /// The value, which is there.
    pub(super) fn value<'a>(&'a self, place: Place<'_>) -> &'a T {
        let state = place.execution.state.borrow();
        let word = state.objects[place.object.index()].word;
        assert!(word & STAGE == COMPLETE, "raddle bug: the value of a slot that has none");
        match word >> HOME_SHIFT {
            OUTSIDE => self.outside.get().expect("raddle bug: a value made outside is gone"),
            INSIDE => self.inside.get().expect("raddle bug: a value made inside is gone"),
            kept => {
                let value = state.statics[(kept - KEPT) as usize].as_ref().map(Kept::get);
                drop(state);
                value.unwrap_or_else(|| {
                    panic!("raddle: a destructor used the value of a static after the execution had ended")
                })
            }
        }
    }

    /// Puts the value there, at the moment in which it becomes complete.
    fn put(&self, moment: &mut Moment<'_>, value: T) {
        let word = *moment.word() & !STAGE & ((1 << HOME_SHIFT) - 1);
        let not_put = if word & FRESH != 0 { self.inside.set(value).err() } else { Some(value) };
        let home = match not_put {
            None => INSIDE,
            Some(value) => keep(moment.state, value),
        };
        *moment.word() = word | COMPLETE | home << HOME_SHIFT;
    }

    /// The value, made by `make` if it is not there; `None` if somebody panicked over it and that is not to be retried.
    pub(super) fn get_or_make(
        &self,
        place: Place<'_>,
        (op, after_panic, if_it_panics): (&'static Operation, AfterPanic, u64),
        site: Site,
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        match gate::enter(place, op, after_panic, site) {
            Entered::Done => {}
            Entered::Poisoned => return None,
            Entered::First(mut turn) => {
                turn.if_it_panics = if_it_panics;
                let value = make();
                turn.complete(|moment| self.put(moment, value));
            }
        }
        Some(self.value(place))
    }

    /// Puts `value` there in one step, if nothing is there, once nobody is at it.
    pub(super) fn set(&self, place: Place<'_>, op: &'static Operation, site: Site, value: T) -> Result<(), T> {
        place.step_when((gate::nobody_is_at_it, 0), op, Ordered::BOTH, site, |moment| {
            if *moment.word() & STAGE == COMPLETE {
                moment.only_looked(Ordered::ACQUIRE);
                moment.progress(Progress::Neutral);
                return Err(value);
            }
            self.put(moment, value);
            Ok(())
        })
    }

    /// Where the value is for one who has the slot alone; nobody can notice.
    pub(super) fn own(&mut self, kind: &'static Kind) -> &mut OnceLock<T> {
        let kept = self.with(kind, |place| {
            let mut state = place.execution.state.borrow_mut();
            let word = state.objects[place.object.index()].word;
            match (word & STAGE, word >> HOME_SHIFT) {
                (COMPLETE, OUTSIDE) => Owned::Outside,
                (COMPLETE, INSIDE) => Owned::Inside,
                (COMPLETE, kept) => Owned::Kept(state.statics[(kept - KEPT) as usize].take()),
                _ => Owned::Nowhere,
            }
        });
        let Some(owned) = kept else { return &mut self.outside };
        // From here on the slot is as one that no execution has used, with its value in it.
        self.tag.forget();
        match owned {
            Owned::Outside => return &mut self.outside,
            Owned::Inside => {}
            Owned::Kept(kept) => {
                self.inside = OnceLock::from(kept.expect("raddle bug: a kept value is gone").into_value::<T>())
            }
            Owned::Nowhere => self.inside = OnceLock::new(),
        }
        &mut self.inside
    }
}

enum Owned {
    Outside,
    Inside,
    Kept(Option<Kept>),
    Nowhere,
}

fn keep<T>(state: &mut State, value: T) -> u64 {
    state.statics.push(Some(Kept::new(value)));
    KEPT + state.statics.len() as u64 - 1
}
