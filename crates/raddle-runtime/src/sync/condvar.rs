//! A condition variable, as [`std::sync::Condvar`].
//!
//! A wait is three steps: the mutex is released and the waiting begins, in one; the task is woken; it takes the mutex again.

mod waiters;

use std::fmt;
use std::sync;
use std::time::Duration;

use raddle_engine::trace::Site;

use self::waiters::Woken;
use super::{LockResult, MutexGuard, PoisonError};
use crate::execution::{Kind, Place, Tag, here, word_as_number};

static CONDVAR: Kind = Kind { noun: "Condvar", show: word_as_number };

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
        let mut start = None;
        let mut passed = Duration::ZERO;
        while guard.has_to_wait(&mut condition) {
            let Some(left) = timeout.checked_sub(passed).filter(|left| !left.is_zero()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            if inside {
                let (taken, woken) = self.wait_inside(guard, Some(left), site);
                passed = Duration::from_nanos(woken.to - *start.get_or_insert(woken.from));
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
        let inside = self.with(|place| waiters::notify_one(place, site));
        inside.unwrap_or_else(|| self.inner.notify_one());
    }

    /// Wakes all who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        let site = here();
        let inside = self.with(|place| waiters::notify_all(place, site));
        inside.unwrap_or_else(|| self.inner.notify_all());
    }

    #[track_caller]
    fn with<R>(&self, body: impl FnOnce(Place<'_>) -> R) -> Option<R> {
        self.tag.with(&CONDVAR, |_| 0, body)
    }

    /// The three steps of a wait.
    fn wait_inside<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, Woken) {
        let waited = self.with(|place| {
            let (lock, begun) = guard.release_to_wait(site, |moment| waiters::begin(moment, place, timeout));
            assert!(begun.same_mutex, "raddle: this Condvar was used with another Mutex before; use it with one only");
            let woken = waiters::sleep(place, &begun, timeout, site);
            (lock, woken)
        });
        let (lock, woken) = waited.expect("raddle bug: the engine granted a lock outside an execution");
        (lock.lock_again(site), woken)
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
