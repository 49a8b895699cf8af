//! Parking, sleeping and yielding.

use std::time::Duration;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Progress, here};
use crate::time::{CLOCK, begin_timed_wait};
use crate::uncontrolled;

static YIELD: Operation = Operation { verb: "yield", class: Class::Yield };
static PARK: Operation = Operation { verb: "park", class: Class::Wait };
static UNPARK: Operation = Operation { verb: "unpark", class: Class::Notify };
static SLEEP: Operation = Operation { verb: "sleep", class: Class::Time };

/// Lets other threads run first, as [`std::thread::yield_now`].
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    let site = here();
    if current::with(|execution| yield_in(execution, site)).is_none() {
        uncontrolled::note("thread::yield_now", None);
        std::thread::yield_now();
    }
}

#[inline(always)]
pub(crate) fn yield_in(execution: &Execution, site: Site) {
    execution.step(Ask::new(&YIELD, ObjectId::NONE, Effect::Read, site), |_| ());
}

/// Waits until [unparked](super::Thread::unpark), as [`std::thread::park`]. May also return spuriously.
#[track_caller]
pub fn park() {
    let site = here();
    if current::with(|execution| park_in(execution, None, site)).is_none() {
        uncontrolled::note("thread::park", None);
        std::thread::park();
    }
}

/// Waits until [unparked](super::Thread::unpark), but not much longer than `timeout`, as [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    let site = here();
    if current::with(|execution| park_in(execution, Some(timeout), site)).is_none() {
        uncontrolled::note("thread::park_timeout", None);
        std::thread::park_timeout(timeout);
    }
}

fn park_in(execution: &Execution, timeout: Option<Duration>, site: Site) {
    let deadline = timeout.map(|timeout| begin_timed_wait(execution, timeout, site));
    let signal = execution.state.borrow_mut().task().signal;
    let ask = Ask::new(&PARK, signal, Effect::Change, site);
    let ready: fn(u64, u64) -> bool = |token, _| token != 0;
    let ask = Ask { role: Role::Takes, ordered: Ordered::ACQUIRE, ready: Some(ready), deadline, ..ask };
    let may_wake = execution.look_at_budget(site);
    if !execution.wakes_for_no_reason(may_wake, &ask) {
        execution.step(ask, |moment| {
            if moment.variant() == Variant::Ready {
                *moment.word() = 0;
            }
        });
    }
}

pub(super) fn unpark(execution: &Execution, task: TaskId, site: Site) {
    let signal = execution.state.borrow().tasks[task.index()].signal;
    let ask = Ask { role: Role::Gives, ordered: Ordered::BOTH, ..Ask::new(&UNPARK, signal, Effect::Change, site) };
    execution.step(ask, |moment| *moment.word() = 1);
}

/// Waits until `duration` has passed on the virtual clock, as [`std::thread::sleep`].
#[track_caller]
pub fn sleep(duration: Duration) {
    let site = here();
    if current::with(|execution| sleep_in(execution, duration, site)).is_none() {
        uncontrolled::note("thread::sleep", None);
        std::thread::sleep(duration);
    }
}

/// Sleeps. A sleep ends only by its timeout. A sleep of length zero is a yield.
fn sleep_in(execution: &Execution, duration: Duration, site: Site) {
    if duration.is_zero() {
        return yield_in(execution, site);
    }
    let deadline = begin_timed_wait(execution, duration, site);
    let never: fn(u64, u64) -> bool = |_, _| false;
    let ask = Ask::new(&SLEEP, CLOCK, Effect::Change, site);
    execution.step(Ask { ready: Some(never), deadline: Some(deadline), ..ask }, |moment| {
        moment.progress(Progress::Neutral);
    });
}
