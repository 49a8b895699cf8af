//! A mutual exclusion lock, as [`std::sync::Mutex`].
//!
//! Who holds it is decided by the engine, so the lock of `std` inside is always free when a task gets here; it keeps the
//! data safe from whoever else might hold the value, and does all the work outside an execution.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use super::contents;
use crate::execution::{Kind, Met, Moment, Place, Progress, Tag, here, panicking, word_as_number};

static LOCK: Operation = Operation { verb: "lock", class: Class::Acquire };
static TRY_LOCK: Operation = Operation { verb: "try_lock", class: Class::Update };
static UNLOCK: Operation = Operation { verb: "unlock", class: Class::Release };
static UNLOCK_TO_WAIT: Operation = Operation { verb: "unlock to wait", class: Class::Release };
static IS_POISONED: Operation = Operation { verb: "is_poisoned", class: Class::Read };
static CLEAR_POISON: Operation = Operation { verb: "clear_poison", class: Class::Write };

static MUTEX: Kind = Kind { noun: "Mutex", show: word_as_number };

/// The word of a mutex: held or not, poisoned or not.
const HELD: u64 = 1;
const POISONED: u64 = 2;

/// A mutual exclusion lock, as [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    /// An execution has changed the data.
    changed_inside: AtomicBool,
    inner: sync::Mutex<T>,
}

impl<T> Mutex<T> {
    /// A lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { tag: Tag::new(), changed_inside: AtomicBool::new(false), inner: sync::Mutex::new(value) }
    }

    /// The data.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error still has the data.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison_seen_by_owner(here());
        let value = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Calls `body` with the lock's place in the running execution, having looked whether it brings contents along.
    #[inline(always)]
    #[track_caller]
    fn with<R>(&self, site: Site, body: impl FnOnce(Place<'_>) -> R) -> Option<R> {
        let leaks = Cell::new(false);
        let first = |met| {
            leaks.set(met == Met::InEarlierExecution && self.changed_inside.load(Ordering::Relaxed));
            if met == Met::Never && self.inner.is_poisoned() { POISONED } else { 0 }
        };
        self.tag.with(&MUTEX, first, |place| {
            if leaks.get() {
                place.fail_leaking(site);
            }
            body(place)
        })
    }

    /// Takes the lock, waiting until it is free.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: somebody panicked while holding it. The error still has the guard.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock_at(here())
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn lock_at(&self, site: Site) -> LockResult<MutexGuard<'_, T>> {
        let taken = self.with(site, |place| {
            place.step_when((|word, _| word & HELD == 0, 0), &LOCK, Ordered::ACQUIRE, site, |moment| {
                moment.progress(Progress::Neutral);
                moment.hold();
                *moment.word() |= HELD;
                *moment.word() & POISONED != 0
            })
        });
        match taken {
            Some(poisoned) => self.guard(site, poisoned),
            None => match self.inner.lock() {
                Ok(data) => Ok(MutexGuard::outside(self, data, site)),
                Err(poisoned) => Err(PoisonError::new(MutexGuard::outside(self, poisoned.into_inner(), site))),
            },
        }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// If it is not, or if it is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = here();
        let taken = self.with(site, |place| {
            place.step(&TRY_LOCK, Effect::Change, Ordered::ACQUIRE, site, |moment| {
                let word = *moment.word();
                moment.found(word & HELD);
                if word & HELD != 0 {
                    moment.only_looked(Ordered::RELAXED);
                    return None;
                }
                moment.hold();
                *moment.word() |= HELD;
                Some(word & POISONED != 0)
            })
        });
        match taken {
            Some(None) => Err(TryLockError::WouldBlock),
            Some(Some(poisoned)) => Ok(self.guard(site, poisoned)?),
            None => match self.inner.try_lock() {
                Ok(data) => Ok(MutexGuard::outside(self, data, site)),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                Err(TryLockError::Poisoned(poisoned)) => {
                    Err(PoisonError::new(MutexGuard::outside(self, poisoned.into_inner(), site)).into())
                }
            },
        }
    }

    /// The guard of a lock that the engine has granted.
    #[track_caller]
    fn guard(&self, site: Site, poisoned: bool) -> LockResult<MutexGuard<'_, T>> {
        let data = match self.inner.try_lock() {
            Ok(data) => data,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.with(site, |place| place.fail_held_elsewhere(site));
                panic!("raddle: this Mutex is held outside this execution; make it inside the test")
            }
        };
        self.with(site, |place| contents::note(place.execution, &*data));
        let panicking = panicking();
        let guard = MutexGuard { lock: self, data: Some(data), site, inside: true, changed: false, panicking };
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Whether somebody panicked while holding the lock.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        let site = here();
        let inside = self.with(site, |place| {
            place.step(&IS_POISONED, Effect::Read, Ordered::RELAXED, site, |moment| *moment.word() & POISONED != 0)
        });
        inside.unwrap_or_else(|| self.inner.is_poisoned())
    }

    /// Whether it is poisoned, as its only owner sees it: nobody else can notice when, so this is no step.
    #[track_caller]
    fn poison_seen_by_owner(&self, site: Site) -> bool {
        let word = |place: Place<'_>| place.execution.state.borrow().objects[place.object.index()].word;
        self.with(site, |place| word(place) & POISONED != 0).unwrap_or_else(|| self.inner.is_poisoned())
    }

    /// Forgets that somebody panicked while holding the lock.
    #[track_caller]
    pub fn clear_poison(&self) {
        let site = here();
        let inside = self.with(site, |place| {
            place.step(&CLEAR_POISON, Effect::Change, Ordered::RELAXED, site, |moment| *moment.word() &= !POISONED);
        });
        inside.unwrap_or_else(|| self.inner.clear_poison());
    }

    /// The data; nobody else can hold the lock.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error still has the data.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poison_seen_by_owner(here());
        let data = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Holds a [`Mutex`] until it is dropped, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// There until the guard is dropped.
    data: Option<sync::MutexGuard<'a, T>>,
    /// Where the lock was taken.
    site: Site,
    /// Whether the engine granted it.
    inside: bool,
    /// Whether the data was lent out to be changed.
    changed: bool,
    /// Whether the thread was panicking when it took the lock.
    panicking: bool,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn outside(lock: &'a Mutex<T>, data: sync::MutexGuard<'a, T>, site: Site) -> Self {
        Self { lock, data: Some(data), site, inside: false, changed: false, panicking: false }
    }

    /// Whether the engine granted the lock.
    pub(super) fn is_inside(&self) -> bool {
        self.inside
    }

    /// The lock of `std` that was taken, outside of any execution.
    pub(super) fn into_std(mut self) -> (&'a Mutex<T>, sync::MutexGuard<'a, T>) {
        (self.lock, self.data.take().expect("raddle bug: a guard without its data"))
    }

    /// Releases the lock, in one step with whatever `begin` does.
    #[track_caller]
    pub(super) fn release_to_wait<R>(
        mut self,
        site: Site,
        begin: impl FnOnce(&mut Moment<'_>) -> R,
    ) -> (Released<'a, T>, R) {
        drop(self.data.take());
        let Self { lock, changed, site: taken_at, .. } = self;
        if changed {
            lock.changed_inside.store(true, Ordering::Relaxed);
        }
        let begun = lock.with(site, |place| {
            place.step(&UNLOCK_TO_WAIT, Effect::Change, Ordered::RELEASE, site, |moment| {
                if !changed {
                    // The look was where the lock was taken, not where the waiting begins: taking the lock again after the
                    // wait must not count as looking again.
                    moment.progress(Progress::Neutral);
                    moment.looked_from(taken_at);
                }
                moment.release();
                moment.gives();
                *moment.word() &= !HELD;
                begin(moment)
            })
        });
        (Released { lock, taken_at }, begun.expect("raddle bug: a lock that the engine granted is in no execution"))
    }

    /// Asks `condition` whether to wait. If so, it is taken to have left the data as it was.
    pub(super) fn has_to_wait(&mut self, condition: &mut impl FnMut(&mut T) -> bool) -> bool {
        let wait = condition(self.data.as_mut().expect("raddle bug: a guard without its data"));
        self.changed |= !wait;
        wait
    }
}

/// A lock that was released for the time of a wait.
pub(super) struct Released<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    taken_at: Site,
}

impl<'a, T: ?Sized> Released<'a, T> {
    /// Takes the lock again; as far as those who spin go, it was taken where it was taken before.
    pub(super) fn lock_again(self, site: Site) -> LockResult<MutexGuard<'a, T>> {
        let back = |mut guard: MutexGuard<'a, T>| {
            guard.site = self.taken_at;
            guard
        };
        self.lock.lock_at(site).map(back).map_err(|poisoned| PoisonError::new(back(poisoned.into_inner())))
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let Some(data) = self.data.take() else { return };
        drop(data);
        if !self.inside {
            return;
        }
        let (lock, changed) = (self.lock, self.changed);
        let poisons = panicking() && !self.panicking;
        if poisons {
            // What poisons the lock for this execution must not poison the value for the next.
            lock.inner.clear_poison();
        }
        if changed {
            lock.changed_inside.store(true, Ordering::Relaxed);
        }
        lock.with(self.site, |place| {
            place.step(&UNLOCK, Effect::Change, Ordered::RELEASE, self.site, |moment| {
                moment.gives();
                // Data that nobody could change is as it was: whoever polls it has only looked.
                moment.progress(if changed || poisons { Progress::Changed } else { Progress::Looked });
                moment.release();
                *moment.word() &= !HELD;
                if poisons {
                    *moment.word() |= POISONED;
                }
            });
        });
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("raddle bug: a guard without its data")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed = true;
        self.data.as_mut().expect("raddle bug: a guard without its data")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
