//! What an atomic operation does to the word of its object, and how it orders memory.

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use super::Ordering;
use crate::execution::{Ask, Execution, Moment, ObjectRef, Progress};

static LOAD: Operation = Operation { verb: "load", class: Class::Read };
static STORE: Operation = Operation { verb: "store", class: Class::Write };
static COMPARE_EXCHANGE: Operation = Operation { verb: "compare_exchange", class: Class::Update };
static COMPARE_EXCHANGE_WEAK: Operation = Operation { verb: "compare_exchange_weak", class: Class::Update };
static FAILS_FOR_NO_REASON: Operation = Operation { verb: "fail for no reason?", class: Class::Choice };

/// How a load orders memory.
#[track_caller]
pub(super) fn load_order(order: Ordering) -> Ordered {
    match order {
        Ordering::Relaxed => Ordered::RELAXED,
        Ordering::Acquire | Ordering::SeqCst => Ordered::ACQUIRE,
        _ => panic!("an atomic load cannot be ordered {order:?}: use Relaxed, Acquire or SeqCst"),
    }
}

/// How a store orders memory. It ends the release sequence of the store before it.
#[track_caller]
pub(super) fn store_order(order: Ordering) -> Ordered {
    match order {
        Ordering::Relaxed => Ordered { reset: true, ..Ordered::RELAXED },
        Ordering::Release | Ordering::SeqCst => Ordered { reset: true, ..Ordered::RELEASE },
        _ => panic!("an atomic store cannot be ordered {order:?}: use Relaxed, Release or SeqCst"),
    }
}

/// How a read-modify-write operation orders memory. It continues the release sequence of the store before it.
pub(super) fn update_order(order: Ordering) -> Ordered {
    match order {
        Ordering::Relaxed => Ordered::RELAXED,
        Ordering::Acquire => Ordered::ACQUIRE,
        Ordering::Release => Ordered::RELEASE,
        _ => Ordered::BOTH,
    }
}

/// How a compare-exchange orders memory if it fails.
#[track_caller]
pub(super) fn failure_order(order: Ordering) -> Ordered {
    match order {
        Ordering::Relaxed => Ordered::RELAXED,
        Ordering::Acquire | Ordering::SeqCst => Ordered::ACQUIRE,
        _ => panic!("a compare-exchange that fails cannot be ordered {order:?}: use Relaxed, Acquire or SeqCst"),
    }
}

/// Records that the program has used an ordering weaker than `SeqCst`. The verdict then says that the search covers only sequentially
/// consistent orders.
#[inline(always)]
pub(super) fn note_ordering(execution: &Execution, order: Ordering) {
    if order != Ordering::SeqCst {
        execution.weak_orderings.set(true);
    }
}

static UNSYNC_READ: Operation = Operation { verb: "unsync_load", class: Class::Cell };
static UNSYNC_WRITE: Operation = Operation { verb: "access by &mut", class: Class::Cell };

/// Reads an atomic as plain memory. This needs no decision, but it may race with atomic accesses.
pub(super) fn read_as_plain(place: ObjectRef<'_>, site: Site) -> u64 {
    touch_as_plain(place, &UNSYNC_READ, Effect::Read, site)
}

/// Records that an atomic is written as plain memory, and returns the old value. The caller [sets](set_as_plain) the new one afterwards.
pub(super) fn write_as_plain(place: ObjectRef<'_>, site: Site) -> u64 {
    touch_as_plain(place, &UNSYNC_WRITE, Effect::Change, site)
}

fn touch_as_plain(place: ObjectRef<'_>, op: &'static Operation, effect: Effect, site: Site) -> u64 {
    let ask = Ask { ordered: Ordered::RELAXED, ..Ask::new(op, place.object, effect, site) };
    place.execution.step_unseen(ask, |moment| {
        moment.progress(Progress::Neutral);
        *moment.word()
    })
}

/// Sets the value of an atomic that is written as plain memory.
pub(super) fn set_as_plain(place: ObjectRef<'_>, word: u64) {
    place.execution.state.borrow_mut().objects[place.object.index()].word = word;
}

/// The value of an object, without a step. For access that no other task can observe.
pub(super) fn peek(place: ObjectRef<'_>) -> u64 {
    place.execution.state.borrow().objects[place.object.index()].word
}

#[inline(always)]
pub(super) fn load(place: ObjectRef<'_>, ordered: Ordered, site: Site) -> u64 {
    place.step(&LOAD, Effect::Read, ordered, site, |moment| {
        let word = *moment.word();
        moment.found(word);
        word
    })
}

#[inline(always)]
pub(super) fn store(place: ObjectRef<'_>, word: u64, ordered: Ordered, site: Site) {
    place.step(&STORE, Effect::Change, ordered, site, |moment| {
        put(moment, word);
    });
}

/// Replaces the value by the result of `change`, and returns what it was.
#[inline(always)]
pub(super) fn update(
    place: ObjectRef<'_>,
    op: &'static Operation,
    ordered: Ordered,
    site: Site,
    change: impl FnOnce(u64) -> u64,
) -> u64 {
    place.step(op, Effect::Change, ordered, site, |moment| {
        let before = *moment.word();
        moment.found(before);
        put(moment, change(before));
        before
    })
}

#[inline(always)]
fn put(moment: &mut Moment<'_>, word: u64) {
    let before = std::mem::replace(moment.word(), word);
    moment.left(word);
    if before == word {
        // A loop that swaps `true` into a flag that is already true spins, although each swap is a store.
        moment.progress(Progress::Looked);
    }
}

/// The arguments of a compare-exchange.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub(super) current: u64,
    pub(super) new: u64,
    pub(super) success: Ordered,
    pub(super) failure: Ordered,
    pub(super) site: Site,
}

impl Exchange {
    pub(super) fn strong(self, place: ObjectRef<'_>) -> Result<u64, u64> {
        place.step(&COMPARE_EXCHANGE, Effect::Change, self.success, self.site, |moment| self.exchange(moment))
    }

    /// May fail spuriously, if the budget allows. The strategy decides this only where the exchange would succeed. The task first reads the
    /// value; no other task runs between this read and the exchange.
    pub(super) fn weak(self, place: ObjectRef<'_>) -> Result<u64, u64> {
        let op = &COMPARE_EXCHANGE_WEAK;
        let looked = place.step(op, Effect::Change, self.success, self.site, |moment| {
            if *moment.word() != self.current || !moment.may_end_for_no_reason() {
                return Some(self.exchange(moment));
            }
            moment.found(self.current);
            moment.only_looked(self.failure);
            moment.progress(Progress::Neutral);
            None
        });
        if let Some(result) = looked {
            return result;
        }
        if place.execution.choose(2, self.site, &FAILS_FOR_NO_REASON) == 1 {
            let ask = Ask { ordered: self.failure, ..Ask::new(op, place.object, Effect::Read, self.site) };
            return place.execution.step_unseen(ask, |moment| {
                moment.found(self.current);
                moment.end_for_no_reason();
                Err(self.current)
            });
        }
        let ask = Ask { ordered: self.success, ..Ask::new(op, place.object, Effect::Change, self.site) };
        place.execution.step_unseen(ask, |moment| self.exchange(moment))
    }

    fn exchange(self, moment: &mut Moment<'_>) -> Result<u64, u64> {
        let found = *moment.word();
        moment.found(found);
        moment.wants(self.current);
        if found != self.current {
            moment.only_looked(self.failure);
            return Err(found);
        }
        put(moment, self.new);
        Ok(found)
    }
}
