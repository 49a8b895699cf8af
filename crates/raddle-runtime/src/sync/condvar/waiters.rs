//! Those who wait on a condition variable.
//!
//! Who waits is told by what the tasks ask for, so it needs no list. Each waiter has a slot among the low bits of the
//! condition variable's word, and is woken when its bit is set. The high bits name the mutex it is used with.

use std::time::Duration;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Word};

use crate::execution::{Ask, Moment, Place, Progress, State};
use crate::time::{CLOCK, after};

static WAIT: Operation = Operation { verb: "wait", class: Class::Wait };
static NOTIFY_ONE: Operation = Operation { verb: "notify_one", class: Class::Notify };
static NOTIFY_ALL: Operation = Operation { verb: "notify_all", class: Class::Notify };
static WAKE: Operation = Operation { verb: "which to wake", class: Class::Choice };

/// Slots of one waiter each. If all are taken, the others share one more, and are woken together: who is woken although
/// another was meant is woken for no reason, which may happen at any time.
const SLOTS: u64 = CROWD - 1;
const CROWD: u64 = 1 << 39;
const MUTEX_SHIFT: u32 = 40;

/// How a wait began.
pub(super) struct Begun {
    /// The mutex is the one that was used before, if any was.
    pub(super) same_mutex: bool,
    /// By the virtual clock.
    pub(super) at: u64,
    /// The wait may end for no reason.
    pub(super) may_wake: bool,
}

/// How a wait ended.
#[derive(Clone, Copy)]
pub(super) struct Woken {
    pub(super) timed_out: bool,
    /// When the wait began and when it ended, by the virtual clock.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Begins to wait, in the step that releases the mutex.
pub(super) fn begin(moment: &mut Moment<'_>, condvar: Place<'_>, timeout: Option<Duration>) -> Begun {
    // Waiters do not change anything for one another; those who notify change it for them.
    moment.touch(condvar.access(Effect::Read, Ordered::RELAXED));
    let mutex = moment.object().index() as u64;
    let word = &mut moment.state.objects[condvar.object.index()].word;
    let before = *word >> MUTEX_SHIFT;
    if before == 0 {
        *word |= mutex << MUTEX_SHIFT;
    }
    if let Some(timeout) = timeout {
        // For reports: how long it may wait.
        moment.left(after(0, timeout));
        moment.touch(Access { object: CLOCK, effect: Effect::Read, role: Role::Plain, ordered: Ordered::RELAXED });
    }
    let may_wake = moment.may_end_for_no_reason();
    Begun { same_mutex: before == 0 || before == mutex, at: moment.state.now(), may_wake }
}

/// Waits until somebody sets the bit of a slot that is free now.
pub(super) fn sleep(condvar: Place<'_>, begun: &Begun, timeout: Option<Duration>, site: Site) -> Woken {
    let from = begun.at;
    let deadline = timeout.map(|timeout| after(from, timeout));
    let taken = slots(&condvar.execution.state.borrow(), condvar.object).fold(0, |taken, slot| taken | slot);
    let free = SLOTS & !taken;
    let slot = if free == 0 { CROWD } else { 1 << free.trailing_zeros() };
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

/// Wakes one of those who wait, whom the strategy chooses.
pub(super) fn notify_one(condvar: Place<'_>, site: Site) {
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
        // Nothing can have happened since.
        let rest = (0..drawn).fold(asleep, |rest, _| rest & (rest - 1));
        let slot = 1 << rest.trailing_zeros();
        let mut state = condvar.execution.state.borrow_mut();
        state.objects[condvar.object.index()].word |= slot;
        state.stale = true;
        say_who_wakes(&mut state, condvar.object, slot);
    }
}

/// Wakes all who wait.
pub(super) fn notify_all(condvar: Place<'_>, site: Site) {
    condvar.step(&NOTIFY_ALL, Effect::Change, Ordered::RELAXED, site, |moment| {
        let asleep = asleep(moment, condvar.object);
        *moment.word() |= asleep;
        let woken = waiting(moment.state, condvar.object).filter(|(_, slot)| slot & asleep != 0).count();
        moment.found(woken as u64);
    });
}

/// Keeps in the latest step, for reports, which task the slot belongs to; not if several tasks share it.
fn say_who_wakes(state: &mut State, condvar: ObjectId, slot: u64) {
    let mut woken = waiting(state, condvar).filter(|(_, of)| *of == slot).map(|(task, _)| task);
    if let (Some(task), None) = (woken.next(), woken.next()) {
        drop(woken);
        if let Some(step) = state.trace.last_mut() {
            step.left = Some(Word(u64::from(task.number())));
        }
    }
}

/// The slots of those who wait, notified or not.
fn slots(state: &State, condvar: ObjectId) -> impl Iterator<Item = u64> + '_ {
    waiting(state, condvar).map(|(_, slot)| slot)
}

/// The tasks that wait, notified or not, with their slots.
fn waiting(state: &State, condvar: ObjectId) -> impl Iterator<Item = (TaskId, u64)> + '_ {
    let asks = state.alive.iter().filter_map(|task| Some((*task, state.tasks[task.index()].asks.as_ref()?)));
    asks.filter(move |(_, ask)| std::ptr::eq(ask.op, &raw const WAIT) && ask.object == condvar)
        .map(|(task, ask)| (task, ask.key))
}

/// The slots of those who wait and were not notified yet, to be notified now.
fn asleep(moment: &mut Moment<'_>, condvar: ObjectId) -> u64 {
    let asleep = slots(moment.state, condvar).fold(0, |asleep, slot| asleep | slot) & !*moment.word();
    if asleep == 0 {
        // Nobody sees that this has happened.
        moment.progress(Progress::Looked);
    } else {
        moment.gives();
    }
    asleep
}
