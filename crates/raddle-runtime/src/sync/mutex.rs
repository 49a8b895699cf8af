//! A mutual exclusion lock, as [`std::sync::Mutex`]. What it shares with `RwLock` is in [`lock`](super::lock).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self, LockResult, PoisonError, TryLockResult};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use super::lock::api::{guard_api, guard_api_mut, lock_api};
use super::lock::{HELD_ALONE, Held, Lock, hold_alone, is_held, map_lock, map_try, with_poison};
use crate::execution::{Moment, Progress, here};

static LOCK: Operation = Operation { verb: "lock", class: Class::Acquire };
static TRY_LOCK: Operation = Operation { verb: "try_lock", class: Class::Update };
static UNLOCK: Operation = Operation { verb: "unlock", class: Class::Release };
static UNLOCK_TO_WAIT: Operation = Operation { verb: "unlock to wait", class: Class::Release };

/// A mutual exclusion lock, as [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    lock: Lock<sync::Mutex<T>>,
}

impl<T> Mutex<T> {
    /// Makes a lock that nobody holds.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { lock: Lock::new(sync::Mutex::new(value)) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock. Blocks until it is free.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: a thread panicked while it held the lock. The error still has the guard.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        lock_at(&self.lock, here())
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// If it is not free, or if it is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = here();
        let granted = self.lock.with(site, |place| {
            place.step(&TRY_LOCK, Effect::Change, Ordered::ACQUIRE, site, |moment| {
                let word = *moment.word();
                moment.found(word & HELD_ALONE);
                if is_held(word) {
                    moment.only_looked(Ordered::RELAXED);
                    return None;
                }
                Some(hold_alone(moment))
            })
        });
        map_try(self.lock.tried(site, granted, sync::Mutex::try_lock), |held| MutexGuard { held })
    }
}

lock_api!(Mutex, "while it held the lock");

/// Takes a lock for the code at `site`. Blocks until it is free.
#[inline(always)]
#[track_caller]
fn lock_at<T: ?Sized>(lock: &Lock<sync::Mutex<T>>, site: Site) -> LockResult<MutexGuard<'_, T>> {
    let granted = lock.with(site, |place| {
        place.step_when((|word, _| !is_held(word), 0), &LOCK, Ordered::ACQUIRE, site, |moment| {
            moment.progress(Progress::Neutral);
            hold_alone(moment)
        })
    });
    map_lock(lock.taken(site, granted, sync::Mutex::try_lock, sync::Mutex::lock), |held| MutexGuard { held })
}

/// Holds a [`Mutex`] until it is dropped, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    held: Held<'a, sync::Mutex<T>, sync::MutexGuard<'a, T>>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// True if the engine granted the lock, false outside of any execution.
    pub(super) fn is_inside(&self) -> bool {
        self.held.is_inside()
    }

    /// Lets `wait` use the guard of `std`, outside of any execution. `wait` returns the guard and what else it knows; the result has a
    /// guard of ours instead.
    pub(super) fn wait_outside<R>(
        mut self,
        site: Site,
        wait: impl FnOnce(sync::MutexGuard<'a, T>) -> LockResult<(sync::MutexGuard<'a, T>, R)>,
    ) -> LockResult<(Self, R)> {
        let lock = self.held.lock();
        map_lock(wait(self.held.take_std()), |(data, result)| (Self { held: Held::outside(lock, data, site) }, result))
    }

    /// Releases the lock and calls `begin`, in one step.
    #[track_caller]
    pub(super) fn release_to_wait<R>(
        mut self,
        site: Site,
        begin: impl FnOnce(&mut Moment<'_>) -> R,
    ) -> (Released<'a, T>, R) {
        self.held.note_left();
        drop(self.held.take_std());
        let changed = self.held.note_change();
        let (lock, taken_at) = (self.held.lock(), self.held.site);
        let begun = lock.with(site, |place| {
            place.step(&UNLOCK_TO_WAIT, Effect::Change, Ordered::RELEASE, site, |moment| {
                if !changed {
                    // The task looked at the data where it took the lock, not where it begins to wait. So when it takes the lock
                    // again after the wait, this is not a second look from the same place.
                    moment.progress(Progress::Neutral);
                    moment.looked_from(taken_at);
                }
                moment.release();
                moment.gives();
                *moment.word() &= !HELD_ALONE;
                begin(moment)
            })
        });
        (Released { lock, taken_at }, begun.expect("raddle bug: a lock that the engine granted is in no execution"))
    }

    /// Asks `condition` whether to wait. If it says so, we assume that it has not changed the data.
    pub(super) fn has_to_wait(&mut self, condition: impl FnOnce(&mut T) -> bool) -> bool {
        self.held.has_to_wait(condition)
    }
}

/// A lock that a waiter released for the time of its wait.
pub(super) struct Released<'a, T: ?Sized> {
    lock: &'a Lock<sync::Mutex<T>>,
    taken_at: Site,
}

impl<'a, T: ?Sized> Released<'a, T> {
    /// Takes the lock again. Spin detection goes on as if the task had held the lock all the time, from where it first took it.
    pub(super) fn lock_again(self, site: Site) -> LockResult<MutexGuard<'a, T>> {
        map_lock(lock_at(self.lock, site), |mut guard| {
            guard.held.site = self.taken_at;
            guard
        })
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.held.unlock(&UNLOCK);
    }
}

guard_api_mut!(MutexGuard);
