//! The waiters of a condition variable.
//!
//! There is no list of waiters: they are the tasks that ask for a wait on the condition variable. Each waiter has one of the low bits of the
//! condition variable's word as its slot. It is enabled when its bit is set. The high bits of the word identify the mutex.

use std::time::Duration;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Word};

use crate::execution::{Ask, Moment, ObjectRef, Progress, State};
use crate::time::{CLOCK, after};

static WAIT: Operation = Operation { verb: "wait", class: Class::Wait };
static NOTIFY_ONE: Operation = Operation { verb: "notify_one", class: Class::Notify };
static NOTIFY_ALL: Operation = Operation { verb: "notify_all", class: Class::Notify };
static WAKE: Operation = Operation { verb: "which to wake", class: Class::Choice };

/// The slots for one waiter each. If all are taken, further waiters share one more slot and are woken together. Then some of
/// them end their waits spuriously, which is allowed at any time.
const SLOTS: u64 = SHARED_SLOT - 1;
const SHARED_SLOT: u64 = 1 << 39;
const MUTEX_SHIFT: u32 = 40;

/// How a wait began.
pub(super) struct Begun {
    /// False if the condition variable was used with another mutex before.
    pub(super) same_mutex: bool,
    /// When it began, on the virtual clock.
    pub(super) at: u64,
    /// True if the wait may end spuriously.
    pub(super) may_wake: bool,
}

/// How a wait ended.
#[derive(Clone, Copy)]
pub(super) struct Woken {
    pub(super) timed_out: bool,
    /// When the wait began and when it ended, on the virtual clock.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Begins to wait, in the step that releases the mutex.
pub(super) fn begin(moment: &mut Moment<'_>, condvar: ObjectRef<'_>, timeout: Option<Duration>) -> Begun {
    // To begin to wait is a read of the condition variable: two waiters are independent. To notify is a change.
    moment.touch(condvar.access(Effect::Read, Ordered::RELAXED));
    let mutex = moment.object().index() as u64;
    let word = &mut moment.state.objects[condvar.object.index()].word;
    let before = *word >> MUTEX_SHIFT;
    if before == 0 {
        *word |= mutex << MUTEX_SHIFT;
    }
    if let Some(timeout) = timeout {
        // For reports: the timeout.
        moment.left(after(0, timeout));
        moment.touch(Access { object: CLOCK, effect: Effect::Read, role: Role::Plain, ordered: Ordered::RELAXED });
    }
    let may_wake = moment.may_end_for_no_reason();
    Begun { same_mutex: before == 0 || before == mutex, at: moment.state.now(), may_wake }
}

/// Waits until the bit of a slot that is free now is set.
pub(super) fn sleep(condvar: ObjectRef<'_>, begun: &Begun, timeout: Option<Duration>, site: Site) -> Woken {
    let from = begun.at;
    let deadline = timeout.map(|timeout| after(from, timeout));
    let taken = slots(&condvar.execution.state.borrow(), condvar.object).fold(0, |taken, slot| taken | slot);
    let free = SLOTS & !taken;
    let slot = if free == 0 { SHARED_SLOT } else { 1 << free.trailing_zeros() };
    let ready: fn(u64, u64) -> bool = |word, slot| word & slot != 0;
    let ask = Ask::new(&WAIT, condvar.object, Effect::Read, site);
    let ask = Ask { role: Role::Takes, ready: Some(ready), key: slot, deadline, ..ask };
    if condvar.execution.wakes_for_no_reason(begun.may_wake, &ask) {
        return Woken { timed_out: false, from, to: from };
    }
    condvar.execution.step(ask, |moment| {
        if moment.variant() != Variant::TimedOut {
            moment.progress(Progress::Neutral);
            if slots(moment.state, condvar.object).all(|other| other != slot) {
                *moment.word() &= !slot;
            }
        }
        Woken { timed_out: moment.variant() == Variant::TimedOut, from, to: moment.state.now() }
    })
}

/// Wakes one waiter. The strategy chooses which.
pub(super) fn notify_one(condvar: ObjectRef<'_>, site: Site) {
    let asleep = condvar.step(&NOTIFY_ONE, Effect::Change, Ordered::RELAXED, site, |moment| {
        let asleep = asleep(moment, condvar.object);
        if asleep.count_ones() == 1 {
            *moment.word() |= asleep;
            say_who_wakes(moment.state, condvar.object, asleep);
        }
        asleep
    });
    if asleep.count_ones() > 1 {
        let drawn = condvar.execution.choose(asleep.count_ones(), site, &WAKE);
        // No other task has run since the step above.
        let rest = (0..drawn).fold(asleep, |rest, _| rest & (rest - 1));
        let slot = 1 << rest.trailing_zeros();
        let mut state = condvar.execution.state.borrow_mut();
        state.objects[condvar.object.index()].word |= slot;
        state.stale = true;
        say_who_wakes(&mut state, condvar.object, slot);
    }
}

/// Wakes all waiters.
pub(super) fn notify_all(condvar: ObjectRef<'_>, site: Site) {
    condvar.step(&NOTIFY_ALL, Effect::Change, Ordered::RELAXED, site, |moment| {
        let asleep = asleep(moment, condvar.object);
        *moment.word() |= asleep;
        let woken = waiting(moment.state, condvar.object).filter(|(_, slot)| slot & asleep != 0).count();
        moment.found(woken as u64);
    });
}

/// Records in the latest step, for reports, which task the slot belongs to. Not if several tasks share it.
fn say_who_wakes(state: &mut State, condvar: ObjectId, slot: u64) {
    let mut woken = waiting(state, condvar).filter(|(_, of)| *of == slot).map(|(task, _)| task);
    if let (Some(task), None) = (woken.next(), woken.next()) {
        drop(woken);
        if let Some(step) = state.trace.last_mut() {
            step.left = Some(Word(u64::from(task.number())));
        }
    }
}

/// The slots of the waiters, notified or not.
fn slots(state: &State, condvar: ObjectId) -> impl Iterator<Item = u64> + '_ {
    waiting(state, condvar).map(|(_, slot)| slot)
}

/// The waiters, notified or not, with their slots.
fn waiting(state: &State, condvar: ObjectId) -> impl Iterator<Item = (TaskId, u64)> + '_ {
    let asks = state.alive.iter().filter_map(|task| Some((*task, state.tasks[task.index()].asks.as_ref()?)));
    asks.filter(move |(_, ask)| std::ptr::eq(ask.op, &raw const WAIT) && ask.object == condvar)
        .map(|(task, ask)| (task, ask.key))
}

/// The slots of the waiters that were not notified yet. The caller notifies some of them in this step.
fn asleep(moment: &mut Moment<'_>, condvar: ObjectId) -> u64 {
    let asleep = slots(moment.state, condvar).fold(0, |asleep, slot| asleep | slot) & !*moment.word();
    if asleep == 0 {
        // The notification has no effect.
        moment.progress(Progress::Looked);
    } else {
        moment.gives();
    }
    asleep
}
