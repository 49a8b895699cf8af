//! A condition variable, as [`std::sync::Condvar`].
//!
//! A wait is three steps: the mutex is released and the waiting begins, in one; the task is woken; it takes the mutex again.
//! Who waits is told by what the tasks ask for, so it needs no list. Each waiter has a slot among the low bits of the
//! condition variable's word, and is woken when its bit is set. The high bits name the mutex it is used with.

use std::fmt;
use std::sync;
use std::time::Duration;

use raddle_engine::ids::ObjectId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site};

use super::{LockResult, MutexGuard, PoisonError};
use crate::coroutine::current;
use crate::execution::{Ask, Kind, Moment, Place, Progress, State, Tag, here, word_as_number};
use crate::time::{CLOCK, after};

static WAIT: Operation = Operation { verb: "wait", class: Class::Wait };
static NOTIFY_ONE: Operation = Operation { verb: "notify_one", class: Class::Notify };
static NOTIFY_ALL: Operation = Operation { verb: "notify_all", class: Class::Notify };
static WAKE: Operation = Operation { verb: "which to wake", class: Class::Choice };

static CONDVAR: Kind = Kind { noun: "Condvar", show: word_as_number };

/// Slots of one waiter each. If all are taken, the others share one more, and are woken together: who is woken although
/// another was meant is woken for no reason, which may happen at any time.
const SLOTS: u64 = (1 << CROWD.trailing_zeros()) - 1;
const CROWD: u64 = 1 << 39;
const MUTEX_SHIFT: u32 = 40;

/// A condition variable, as [`std::sync::Condvar`].
///
/// In an execution, which of several waiters [`notify_one`](Self::notify_one) wakes is for the strategy to decide, waits end
/// for no reason as often as the settings allow, and a wait with a timeout may time out however soon it is notified.
pub struct Condvar {
    tag: Tag,
    inner: sync::Condvar,
}

/// Whether a wait ended because its time had come, as [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time had come.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable that nobody waits on.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { tag: Tag::new(), inner: sync::Condvar::new() }
    }

    /// Releases the mutex and waits to be notified, then takes the mutex again. May also return for no reason.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again; the error still has the guard.
    ///
    /// # Panics
    ///
    /// In an execution, if this condition variable was used with another mutex before.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let site = here();
        if guard.is_inside() {
            return self.wait_inside(guard, None, site).0;
        }
        let (lock, data) = guard.into_std();
        match self.inner.wait(data) {
            Ok(data) => Ok(MutexGuard::outside(lock, data, site)),
            Err(poisoned) => Err(PoisonError::new(MutexGuard::outside(lock, poisoned.into_inner(), site))),
        }
    }

    /// Waits as [`wait`](Self::wait) does, again and again while `condition` is true.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again; the error still has the guard.
    ///
    /// # Panics
    ///
    /// In an execution, if this condition variable was used with another mutex before.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while guard.has_to_wait(&mut condition) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits as [`wait`](Self::wait) does, but not much longer than `timeout`.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again; the error still has the guard.
    ///
    /// # Panics
    ///
    /// In an execution, if this condition variable was used with another mutex before.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let site = here();
        if guard.is_inside() {
            let (guard, woken) = self.wait_inside(guard, Some(timeout), site);
            return with_result(guard, woken.timed_out);
        }
        let (lock, data) = guard.into_std();
        match self.inner.wait_timeout(data, timeout) {
            Ok((data, result)) => with_result(Ok(MutexGuard::outside(lock, data, site)), result.timed_out()),
            Err(poisoned) => {
                let (data, result) = poisoned.into_inner();
                with_result(Err(PoisonError::new(MutexGuard::outside(lock, data, site))), result.timed_out())
            }
        }
    }

    /// Waits as [`wait_timeout`](Self::wait_timeout) does; false if the time had come.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again; the error still has the guard.
    ///
    /// # Panics
    ///
    /// In an execution, if this condition variable was used with another mutex before.
    #[deprecated(note = "replaced by `Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// Waits as [`wait_timeout`](Self::wait_timeout) does, again and again while `condition` is true, but not much longer
    /// than `timeout` in all.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it is taken again; the error still has the guard.
    ///
    /// # Panics
    ///
    /// In an execution, if this condition variable was used with another mutex before.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let site = here();
        let inside = guard.is_inside();
        let real_start = std::time::Instant::now();
        let start = current::with(|execution| execution.state.borrow().now()).unwrap_or(0);
        let mut passed = Duration::ZERO;
        while guard.has_to_wait(&mut condition) {
            let Some(left) = timeout.checked_sub(passed).filter(|left| !left.is_zero()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            if inside {
                let (taken, woken) = self.wait_inside(guard, Some(left), site);
                passed = Duration::from_nanos(woken.at - start);
                guard = taken.or_else(|poisoned| with_time_out(poisoned, woken.timed_out))?;
            } else {
                guard = self.wait_timeout(guard, left)?.0;
                passed = real_start.elapsed();
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one of those who wait. Without effect if nobody does.
    #[track_caller]
    pub fn notify_one(&self) {
        let site = here();
        let inside = self.tag.with(
            &CONDVAR,
            |_| 0,
            |place| {
                let asleep = place.step(&NOTIFY_ONE, Effect::Change, Ordered::RELAXED, site, |moment| {
                    let asleep = asleep(moment.state, place.object);
                    if asleep.count_ones() <= 1 {
                        wake(moment, asleep);
                    }
                    asleep
                });
                if asleep.count_ones() > 1 {
                    let drawn = place.execution.choose(asleep.count_ones(), site, &WAKE);
                    // Nothing can have happened since.
                    let rest = (0..drawn).fold(asleep, |rest, _| rest & (rest - 1));
                    place.execution.state.borrow_mut().objects[place.object.index()].word |= 1 << rest.trailing_zeros();
                }
            },
        );
        inside.unwrap_or_else(|| self.inner.notify_one());
    }

    /// Wakes all who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        let site = here();
        let inside = self.tag.with(
            &CONDVAR,
            |_| 0,
            |place| {
                place.step(&NOTIFY_ALL, Effect::Change, Ordered::RELAXED, site, |moment| {
                    let asleep = asleep(moment.state, place.object);
                    wake(moment, asleep);
                });
            },
        );
        inside.unwrap_or_else(|| self.inner.notify_all());
    }

    /// The three steps of a wait.
    fn wait_inside<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, Woken) {
        let waited = self.tag.with(
            &CONDVAR,
            |_| 0,
            |place| {
                let (lock, (same_mutex, now)) = guard.release_to_wait(site, |moment| begin(moment, place.object));
                assert!(same_mutex, "raddle: this Condvar was used with another Mutex before; use it with one only");
                let woken = sleep(place, timeout.map(|timeout| after(now, timeout)), site);
                (lock, woken)
            },
        );
        let (lock, woken) = waited.expect("raddle bug: the engine granted a lock outside an execution");
        (lock.lock_again(site), woken)
    }
}

/// How a wait ended.
#[derive(Clone, Copy)]
struct Woken {
    timed_out: bool,
    /// By the virtual clock.
    at: u64,
}

/// Begins to wait, in the step that releases the mutex. Returns whether the mutex is the right one, and the time.
fn begin(moment: &mut Moment<'_>, condvar: ObjectId) -> (bool, u64) {
    // Waiters do not change anything for one another; those who notify change it for them.
    moment.touch(Access { object: condvar, effect: Effect::Read, role: Role::Plain, ordered: Ordered::RELAXED });
    let mutex = moment.object().index() as u64;
    let word = &mut moment.state.objects[condvar.index()].word;
    let before = *word >> MUTEX_SHIFT;
    if before == 0 {
        *word |= mutex << MUTEX_SHIFT;
    }
    (before == 0 || before == mutex, moment.state.now())
}

/// Waits until somebody sets the bit of a slot that is free now.
fn sleep(place: Place<'_>, deadline: Option<u64>, site: Site) -> Woken {
    let taken = slots(&place.execution.state.borrow(), place.object).fold(0, |taken, slot| taken | slot);
    let free = SLOTS & !taken;
    let slot = if free == 0 { CROWD } else { 1 << free.trailing_zeros() };
    let ready: fn(u64, u64) -> bool = |word, slot| word & slot != 0;
    let ask = Ask::new(&WAIT, place.object, Effect::Read, site);
    let ask = Ask { ready: Some(ready), key: slot, deadline, spurious: true, ..ask };
    place.execution.step(ask, |moment| {
        match moment.variant() {
            Variant::Ready => {
                moment.progress(Progress::Neutral);
                if slots(moment.state, place.object).all(|other| other != slot) {
                    *moment.word() &= !slot;
                }
            }
            // It makes sense to look again although nothing has changed.
            Variant::Spurious => {
                moment.progress(Progress::Neutral);
                moment.state.spin().changed();
            }
            Variant::TimedOut | Variant::Message(_) => {}
        }
        if deadline.is_some() {
            moment.touch(Access { object: CLOCK, effect: Effect::Read, role: Role::Plain, ordered: Ordered::RELAXED });
        }
        Woken { timed_out: moment.variant() == Variant::TimedOut, at: moment.state.now() }
    })
}

/// The slots of those who wait, notified or not.
fn slots(state: &State, condvar: ObjectId) -> impl Iterator<Item = u64> + '_ {
    let asks = state.alive.iter().filter_map(|task| state.tasks[task.index()].asks.as_ref());
    asks.filter(move |ask| std::ptr::eq(ask.op, &raw const WAIT) && ask.object == condvar).map(|ask| ask.key)
}

/// The slots of those who wait and were not notified yet.
fn asleep(state: &State, condvar: ObjectId) -> u64 {
    let word = state.objects[condvar.index()].word;
    slots(state, condvar).fold(0, |asleep, slot| asleep | slot) & !word
}

fn wake(moment: &mut Moment<'_>, asleep: u64) {
    *moment.word() |= asleep;
    if asleep == 0 {
        // Nobody sees that this has happened.
        moment.progress(Progress::Looked);
    }
}

type Waited<'a, T> = LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>;

fn with_result<T>(guard: LockResult<MutexGuard<'_, T>>, timed_out: bool) -> Waited<'_, T> {
    match guard {
        Ok(guard) => Ok((guard, WaitTimeoutResult(timed_out))),
        Err(poisoned) => with_time_out(poisoned, timed_out),
    }
}

fn with_time_out<'a, T, R>(
    poisoned: PoisonError<MutexGuard<'a, T>>,
    timed_out: bool,
) -> Result<R, PoisonError<(MutexGuard<'a, T>, WaitTimeoutResult)>> {
    Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(timed_out))))
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}
