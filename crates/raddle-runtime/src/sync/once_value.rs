//! A value that is made once: what `OnceLock` and `LazyLock` share.
//!
//! A value made outside of any execution is seen by all executions. For a value made in an execution there are two cases. If no earlier
//! execution has used this `OnceValue`, it may be local to the execution, so the value is stored in it and dropped with it. If it outlives
//! executions, it starts each of them empty, and the [execution](super::statics) owns the value.

use std::sync::OnceLock;

use raddle_engine::trace::{Operation, Ordered, Site};

use super::once::gate::{self, AfterPanic, COMPLETE, Entered, NEW, STAGE};
use super::statics::StaticValue;
use crate::execution::{Kind, Met, Moment, ObjectRef, Progress, State, Tag};

/// Bit of the word: no earlier execution has used this `OnceValue`.
const FRESH: u64 = 4;

/// The bits of the word from here on say where the value is.
const HOME_SHIFT: u32 = 8;
const OUTSIDE: u64 = 0;
const INSIDE: u64 = 1;
/// The first value of a `static` that the execution owns. The others follow.
const IN_EXECUTION: u64 = 2;

pub(super) struct OnceValue<T> {
    tag: Tag,
    /// The value made outside of any execution.
    outside: OnceLock<T>,
    /// The value made by the first execution that has used this.
    inside: OnceLock<T>,
}

impl<T> OnceValue<T> {
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

    /// Calls `body` with the place in the running execution; `None` outside of any.
    #[track_caller]
    pub(super) fn with<R>(&self, kind: &'static Kind, body: impl FnOnce(ObjectRef<'_>) -> R) -> Option<R> {
        let first = |met| match met {
            _ if self.outside.get().is_some() => COMPLETE | OUTSIDE << HOME_SHIFT,
            Met::Never if self.inside.get().is_some() => COMPLETE | INSIDE << HOME_SHIFT,
            Met::Never => NEW | FRESH,
            Met::InEarlierExecution => NEW,
        };
        self.tag.with(kind, first, body)
    }

    /// The value, if it is there.
    pub(super) fn get(&self, place: ObjectRef<'_>, op: &'static Operation, site: Site) -> Option<&T> {
        gate::look(place, op, site).then(|| self.value(place))
    }

    /// The value. It must be there.
    pub(super) fn value<'a>(&'a self, place: ObjectRef<'_>) -> &'a T {
        let state = place.execution.state.borrow();
        let word = state.objects[place.object.index()].word;
        assert!(word & STAGE == COMPLETE, "raddle bug: a once value is used before it is made");
        match word >> HOME_SHIFT {
            OUTSIDE => self.outside.get().expect("raddle bug: a value made outside is gone"),
            INSIDE => self.inside.get().expect("raddle bug: a value made inside is gone"),
            owned => {
                let value = state.statics[(owned - IN_EXECUTION) as usize].as_ref().map(StaticValue::get);
                drop(state);
                value.unwrap_or_else(|| {
                    panic!("raddle: a destructor used the value of a static after the execution had ended")
                })
            }
        }
    }

    /// Stores the value, in the step that makes the stage complete.
    fn put(&self, moment: &mut Moment<'_>, value: T) {
        let word = *moment.word() & !STAGE & ((1 << HOME_SHIFT) - 1);
        let not_put = if word & FRESH != 0 { self.inside.set(value).err() } else { Some(value) };
        let home = match not_put {
            None => INSIDE,
            Some(value) => store_in_execution(moment.state, value),
        };
        *moment.word() = word | COMPLETE | home << HOME_SHIFT;
    }

    /// The value. `make` makes it if it is not there. `None` if an earlier `make` has panicked and must not be tried again.
    pub(super) fn get_or_make(
        &self,
        place: ObjectRef<'_>,
        (op, after_panic, if_it_panics): (&'static Operation, AfterPanic, u64),
        site: Site,
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        match gate::enter(place, op, after_panic, site) {
            Entered::Done => {}
            Entered::Poisoned => return None,
            Entered::First(mut initializer) => {
                initializer.if_it_panics = if_it_panics;
                let value = make();
                initializer.complete(|moment| self.put(moment, value));
            }
        }
        Some(self.value(place))
    }

    /// Waits until no task is making the value. Then stores `value` if there is none, in one step.
    pub(super) fn set(&self, place: ObjectRef<'_>, op: &'static Operation, site: Site, value: T) -> Result<(), T> {
        place.step_when((gate::is_not_running, 0), op, Ordered::BOTH, site, |moment| {
            if *moment.word() & STAGE == COMPLETE {
                moment.only_looked(Ordered::ACQUIRE);
                moment.progress(Progress::Neutral);
                return Err(value);
            }
            self.put(moment, value);
            Ok(())
        })
    }

    /// The value for the only owner of this. No other task can notice, so this is no step.
    pub(super) fn own(&mut self, kind: &'static Kind) -> &mut OnceLock<T> {
        let owned = self.with(kind, |place| {
            let mut state = place.execution.state.borrow_mut();
            let word = state.objects[place.object.index()].word;
            match (word & STAGE, word >> HOME_SHIFT) {
                (COMPLETE, OUTSIDE) => Owned::Outside,
                (COMPLETE, INSIDE) => Owned::Inside,
                (COMPLETE, owned) => Owned::InExecution(state.statics[(owned - IN_EXECUTION) as usize].take()),
                _ => Owned::Nowhere,
            }
        });
        let Some(owned) = owned else { return &mut self.outside };
        // From here on this is as if no execution had used it, with the value inside.
        self.tag.forget();
        match owned {
            Owned::Outside => return &mut self.outside,
            Owned::Inside => {}
            Owned::InExecution(value) => {
                let value = value.expect("raddle bug: a value of the execution is gone");
                self.inside = OnceLock::from(value.into_value::<T>());
            }
            Owned::Nowhere => self.inside = OnceLock::new(),
        }
        &mut self.inside
    }
}

/// Where the value is.
enum Owned {
    Outside,
    Inside,
    InExecution(Option<StaticValue>),
    Nowhere,
}

/// Gives the value to the execution. Returns where it is.
fn store_in_execution<T>(state: &mut State, value: T) -> u64 {
    state.statics.push(Some(StaticValue::new(value)));
    IN_EXECUTION + state.statics.len() as u64 - 1
}
