//! A condition variable, as [`std::sync::Condvar`].
//!
//! A wait has three steps. In the first, the task releases the mutex and begins to wait. In the second it is woken. In the third it takes
//! the mutex again.

mod waiters;

use std::fmt;
use std::sync;
use std::time::Duration;

use raddle_engine::trace::Site;

use self::waiters::Woken;
use super::lock::map_lock;
use super::{LockResult, MutexGuard};
use crate::execution::{Kind, ObjectRef, Tag, here, word_as_number};

static CONDVAR: Kind = Kind { noun: "Condvar", show: word_as_number };

/// A condition variable, as [`std::sync::Condvar`].
///
/// In an execution, the strategy decides which of several waiters [`notify_one`](Self::notify_one) wakes. Waits end spuriously as often as
/// the settings allow. A wait with a timeout may time out at any point until it is notified.
pub struct Condvar {
    tag: Tag,
    inner: sync::Condvar,
}

/// Whether a wait has timed out, as [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the wait has timed out.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Makes a condition variable that nobody waits on.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { tag: Tag::new(), inner: sync::Condvar::new() }
    }

    /// Releases the mutex, waits to be notified, and takes the mutex again. May also return spuriously.
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
        let waited = guard.wait_outside(site, |data| map_lock(self.inner.wait(data), |data| (data, ())));
        map_lock(waited, |(guard, ())| guard)
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
            return map_lock(guard, |guard| (guard, WaitTimeoutResult(woken.timed_out)));
        }
        let waited = guard.wait_outside(site, |data| self.inner.wait_timeout(data, timeout));
        map_lock(waited, |(guard, result)| (guard, WaitTimeoutResult(result.timed_out())))
    }

    /// Waits as [`wait_timeout`](Self::wait_timeout) does. The result has false if the wait has timed out.
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
        let waited = self.wait_timeout(guard, Duration::from_millis(ms.into()));
        map_lock(waited, |(guard, result)| (guard, !result.timed_out()))
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
                guard = map_lock(taken, |guard| (guard, WaitTimeoutResult(woken.timed_out)))?.0;
            } else {
                guard = self.wait_timeout(guard, left)?.0;
                passed = real_start.elapsed();
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one waiter. Does nothing if there is none.
    #[track_caller]
    pub fn notify_one(&self) {
        let site = here();
        let inside = self.with(|place| waiters::notify_one(place, site));
        inside.unwrap_or_else(|| self.inner.notify_one());
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        let site = here();
        let inside = self.with(|place| waiters::notify_all(place, site));
        inside.unwrap_or_else(|| self.inner.notify_all());
    }

    #[track_caller]
    fn with<R>(&self, body: impl FnOnce(ObjectRef<'_>) -> R) -> Option<R> {
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
