//! What [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock) share: taking the lock, the guard's data, poisoning.
//!
//! In an execution the engine decides which task holds a lock. The lock of `std` inside is then free for the task that the engine
//! chose; it gives access to the data. Outside of any execution the lock of `std` does all the work.
//!
//! Poison belongs to the execution as well: it is a bit of the object's word, and the lock of `std` is left unpoisoned, so that a
//! `static` lock starts the next execution without poison.

pub(super) mod api;

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use super::contents;
use crate::coroutine::current;
use crate::execution::{Kind, Met, Moment, ObjectRef, Progress, Tag, panicking, word_as_number};

static IS_POISONED: Operation = Operation { verb: "is_poisoned", class: Class::Read };
static CLEAR_POISON: Operation = Operation { verb: "clear_poison", class: Class::Write };

static MUTEX: Kind = Kind { noun: "Mutex", show: word_as_number };
static RW_LOCK: Kind = Kind { noun: "RwLock", show: word_as_number };

/// Bit of a lock's word: one task holds the lock alone.
pub(super) const HELD_ALONE: u64 = 1;
/// Bit of a lock's word: the lock is poisoned. The bits above this one count readers.
pub(super) const POISONED: u64 = 2;

/// True if any task holds the lock with this word, alone or with other readers.
pub(crate) fn is_held(word: u64) -> bool {
    word & !POISONED != 0
}

/// The lock of `std` inside a lock.
pub(super) trait StdLock {
    const KIND: &'static Kind;
    fn is_poisoned(&self) -> bool;
    fn clear_poison(&self);
}

impl<T: ?Sized> StdLock for sync::Mutex<T> {
    const KIND: &'static Kind = &MUTEX;

    fn is_poisoned(&self) -> bool {
        self.is_poisoned()
    }

    fn clear_poison(&self) {
        self.clear_poison();
    }
}

impl<T: ?Sized> StdLock for sync::RwLock<T> {
    const KIND: &'static Kind = &RW_LOCK;

    fn is_poisoned(&self) -> bool {
        self.is_poisoned()
    }

    fn clear_poison(&self) {
        self.clear_poison();
    }
}

/// A lock: its object in the running execution, and the lock of `std` with the data.
pub(super) struct Lock<S: ?Sized> {
    tag: Tag,
    /// True if a task of any execution has changed the data. Such data must not reach the next execution.
    changed_inside: AtomicBool,
    /// True if the lock was poisoned before the first execution that used it. Executions may leave the lock of `std` poisoned, so it is
    /// not asked again.
    poisoned_outside: AtomicBool,
    inner: S,
}

impl<S> Lock<S> {
    #[track_caller]
    pub(super) const fn new(inner: S) -> Self {
        Self {
            tag: Tag::new(),
            changed_inside: AtomicBool::new(false),
            poisoned_outside: AtomicBool::new(false),
            inner,
        }
    }
}

impl<S: StdLock> Lock<S> {
    /// The lock of `std`, and whether this lock is poisoned.
    #[track_caller]
    pub(super) fn into_inner(self, site: Site) -> (S, bool) {
        let poisoned = self.is_poisoned_for_owner(site);
        (self.inner, poisoned)
    }
}

impl<S: StdLock + ?Sized> Lock<S> {
    /// Calls `body` with the lock's place in the running execution; `None` outside of any. The execution fails if the data was changed
    /// in an earlier execution.
    #[inline(always)]
    #[track_caller]
    pub(super) fn with<R>(&self, site: Site, body: impl FnOnce(ObjectRef<'_>) -> R) -> Option<R> {
        let leaks = Cell::new(false);
        let first = |met| {
            leaks.set(met == Met::InEarlierExecution && self.changed_inside.load(Ordering::Relaxed));
            if met == Met::Never {
                self.poisoned_outside.store(self.inner.is_poisoned(), Ordering::Relaxed);
            }
            if self.poisoned_outside.load(Ordering::Relaxed) { POISONED } else { 0 }
        };
        self.tag.with(S::KIND, first, |place| {
            if leaks.get() {
                place.fail_leaking(site);
            }
            body(place)
        })
    }

    /// The guard of a lock that was taken by blocking. `granted` is what the step in an execution returned: whether the lock is poisoned.
    /// Outside of any execution it is `None`, and `block` takes the lock.
    #[inline(always)]
    #[track_caller]
    pub(super) fn taken<'a, G: Deref>(
        &'a self,
        site: Site,
        granted: Option<bool>,
        try_take: impl FnOnce(&'a S) -> TryLockResult<G>,
        block: impl FnOnce(&'a S) -> LockResult<G>,
    ) -> LockResult<Held<'a, S, G>> {
        match granted {
            Some(poisoned) => self.grant(site, poisoned, try_take),
            None => map_lock(block(&self.inner), |data| Held::outside(self, data, site)),
        }
    }

    /// The guard of a lock that was taken if it was free. `granted` is what the step in an execution returned: `None` if another task
    /// holds the lock, else whether it is poisoned.
    #[track_caller]
    pub(super) fn tried<'a, G: Deref>(
        &'a self,
        site: Site,
        granted: Option<Option<bool>>,
        try_take: impl FnOnce(&'a S) -> TryLockResult<G>,
    ) -> TryLockResult<Held<'a, S, G>> {
        match granted {
            Some(None) => Err(TryLockError::WouldBlock),
            Some(Some(poisoned)) => Ok(self.grant(site, poisoned, try_take)?),
            None => map_try(try_take(&self.inner), |data| Held::outside(self, data, site)),
        }
    }

    /// The guard of a lock that the engine has granted to the current task.
    #[inline(always)]
    #[track_caller]
    fn grant<'a, G: Deref>(
        &'a self,
        site: Site,
        poisoned: bool,
        try_take: impl FnOnce(&'a S) -> TryLockResult<G>,
    ) -> LockResult<Held<'a, S, G>> {
        let data = match try_take(&self.inner) {
            Ok(data) => data,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.with(site, |place| place.fail_held_elsewhere(site));
                panic!("raddle: this {} is held outside this execution; make it inside the test", S::KIND.noun)
            }
        };
        current::with(|execution| contents::note(execution, &*data));
        let held =
            Held { lock: self, data: Some(data), site, inside: true, changed: false, panicked_before: panicking() };
        with_poison(held, poisoned)
    }

    /// Whether a task panicked while it held the lock alone.
    #[track_caller]
    pub(super) fn is_poisoned(&self, site: Site) -> bool {
        let inside = self.with(site, |place| {
            place.step(&IS_POISONED, Effect::Read, Ordered::RELAXED, site, |moment| *moment.word() & POISONED != 0)
        });
        inside.unwrap_or_else(|| self.inner.is_poisoned())
    }

    /// Whether the lock is poisoned, asked by the only owner of the lock. No other task can notice, so this is no step.
    #[track_caller]
    fn is_poisoned_for_owner(&self, site: Site) -> bool {
        let word = |place: ObjectRef<'_>| place.execution.state.borrow().objects[place.object.index()].word;
        self.with(site, |place| word(place) & POISONED != 0).unwrap_or_else(|| self.inner.is_poisoned())
    }

    #[track_caller]
    pub(super) fn clear_poison(&self, site: Site) {
        let inside = self.with(site, |place| {
            place.step(&CLEAR_POISON, Effect::Change, Ordered::RELAXED, site, |moment| *moment.word() &= !POISONED);
        });
        inside.unwrap_or_else(|| self.inner.clear_poison());
    }

    /// The lock of `std`, and whether this lock is poisoned, for the only owner of the lock.
    #[track_caller]
    pub(super) fn get_mut(&mut self, site: Site) -> (&mut S, bool) {
        let poisoned = self.is_poisoned_for_owner(site);
        (&mut self.inner, poisoned)
    }
}

impl<S: fmt::Debug + ?Sized> fmt::Debug for Lock<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// What each guard has: the lock, and the guard of `std` that gives access to the data.
pub(super) struct Held<'a, S: StdLock + ?Sized, G> {
    lock: &'a Lock<S>,
    /// `None` once the guard has released the lock.
    data: Option<G>,
    /// Where the task took the lock.
    pub(super) site: Site,
    /// True if the engine granted the lock, false outside of any execution.
    inside: bool,
    /// True if the holder may have changed the data.
    changed: bool,
    /// True if the task was already panicking when it took the lock. Then its panic does not poison the lock, as in `std`.
    panicked_before: bool,
}

impl<'a, S: StdLock + ?Sized, G> Held<'a, S, G> {
    pub(super) fn outside(lock: &'a Lock<S>, data: G, site: Site) -> Self {
        Self { lock, data: Some(data), site, inside: false, changed: false, panicked_before: false }
    }

    pub(super) fn lock(&self) -> &'a Lock<S> {
        self.lock
    }

    pub(super) fn is_inside(&self) -> bool {
        self.inside
    }

    /// Takes the guard of `std` out; from then on this guard releases nothing.
    pub(super) fn take_std(&mut self) -> G {
        self.data.take().expect("raddle bug: a guard without its data")
    }

    /// Drops the guard of `std`. Returns true if the engine granted the lock, so that the caller has to take the step that releases it.
    #[inline(always)]
    pub(super) fn drop_std(&mut self) -> bool {
        self.data.take().is_some() && self.inside
    }

    /// Notes that the data must not reach the next execution, if the holder may have changed it. Returns whether it may have.
    pub(super) fn note_change(&self) -> bool {
        if self.changed {
            self.lock.changed_inside.store(true, Ordering::Relaxed);
        }
        self.changed
    }
}

impl<S: StdLock + ?Sized, G: Deref> Held<'_, S, G> {
    /// Records what the holder leaves behind the lock, if it may have changed the data.
    #[inline(always)]
    pub(super) fn note_left(&self) {
        if self.changed
            && self.inside
            && let Some(data) = &self.data
        {
            current::with(|execution| contents::note(execution, &**data));
        }
    }

    /// Releases a lock that is held alone.
    #[inline(always)]
    pub(super) fn unlock(&mut self, op: &'static Operation) {
        self.note_left();
        if !self.drop_std() {
            return;
        }
        let poisons = panicking() && !self.panicked_before;
        if poisons {
            // This execution poisons the lock in its own state; the lock of `std` must not be poisoned in the next one.
            self.lock.inner.clear_poison();
        }
        let changed = self.note_change();
        self.lock.with(self.site, |place| {
            place.step(op, Effect::Change, Ordered::RELEASE, self.site, |moment| {
                moment.gives();
                // A holder that could not have changed the data has only looked at it, as a loop does that polls the data.
                moment.progress(if changed || poisons { Progress::Changed } else { Progress::Looked });
                moment.release();
                *moment.word() &= !HELD_ALONE;
                if poisons {
                    *moment.word() |= POISONED;
                }
            });
        });
    }
}

impl<S: StdLock + ?Sized, G: DerefMut> Held<'_, S, G> {
    /// Asks `condition` whether to wait. If it says so, we assume that it has not changed the data.
    pub(super) fn has_to_wait(&mut self, condition: impl FnOnce(&mut G::Target) -> bool) -> bool {
        let wait = condition(self.data.as_mut().expect("raddle bug: a guard without its data"));
        self.changed |= !wait;
        wait
    }
}

impl<S: StdLock + ?Sized, G: Deref> Deref for Held<'_, S, G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        self.data.as_ref().expect("raddle bug: a guard without its data")
    }
}

impl<S: StdLock + ?Sized, G: DerefMut> DerefMut for Held<'_, S, G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        self.changed = true;
        self.data.as_mut().expect("raddle bug: a guard without its data")
    }
}

/// Lets the current task hold a lock alone, at the moment of its step. Returns whether the lock is poisoned.
#[inline(always)]
pub(super) fn hold_alone(moment: &mut Moment<'_>) -> bool {
    moment.hold();
    *moment.word() |= HELD_ALONE;
    *moment.word() & POISONED != 0
}

/// The result for a value behind a lock, as `std` gives it: an error that has the value if the lock is poisoned.
pub(super) fn with_poison<V>(value: V, poisoned: bool) -> LockResult<V> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

pub(super) fn map_lock<A, B>(taken: LockResult<A>, into: impl FnOnce(A) -> B) -> LockResult<B> {
    match taken {
        Ok(data) => Ok(into(data)),
        Err(poisoned) => Err(PoisonError::new(into(poisoned.into_inner()))),
    }
}

pub(super) fn map_try<A, B>(taken: TryLockResult<A>, into: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match taken {
        Ok(data) => Ok(into(data)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => Err(PoisonError::new(into(poisoned.into_inner())).into()),
    }
}
