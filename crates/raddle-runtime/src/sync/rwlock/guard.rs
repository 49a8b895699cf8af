//! What holds a lock for many readers or one writer.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync;
use std::sync::atomic::Ordering;

use raddle_engine::trace::{Effect, Ordered, Site};

use super::{POISONED, READER, RwLock, UNLOCK_READ, UNLOCK_WRITE, WRITER};
use crate::execution::{Ask, Progress, panicking};

/// Holds an [`RwLock`] together with other readers until it is dropped, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// There until the guard is dropped.
    data: Option<sync::RwLockReadGuard<'a, T>>,
    /// Where the lock was taken.
    site: Site,
    /// Whether the engine granted it.
    inside: bool,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn new(lock: &'a RwLock<T>, data: sync::RwLockReadGuard<'a, T>, site: Site, inside: bool) -> Self {
        Self { lock, data: Some(data), site, inside }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.data.take());
        if !self.inside {
            return;
        }
        self.lock.with_both(self.site, |place, readers| {
            let ask = Ask::new(&UNLOCK_READ, place.object, Effect::Read, self.site);
            place.execution.step(ask, |moment| {
                moment.release();
                moment.gives();
                moment.touch(readers.access(Effect::Read, Ordered::RELEASE));
                *moment.word() -= READER;
            });
        });
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("raddle bug: a guard without its data")
    }
}

/// Holds an [`RwLock`] alone until it is dropped, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// There until the guard is dropped.
    data: Option<sync::RwLockWriteGuard<'a, T>>,
    /// Where the lock was taken.
    site: Site,
    /// Whether the engine granted it.
    inside: bool,
    /// Whether the data was lent out to be changed.
    changed: bool,
    /// Whether the thread was panicking when it took the lock.
    panicking: bool,
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn new(lock: &'a RwLock<T>, data: sync::RwLockWriteGuard<'a, T>, site: Site, inside: bool) -> Self {
        Self { lock, data: Some(data), site, inside, changed: false, panicking: panicking() }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let data = self.data.take();
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
            place.step(&UNLOCK_WRITE, Effect::Change, Ordered::RELEASE, self.site, |moment| {
                // Data that nobody could change is as it was: whoever polls it has only looked.
                moment.progress(if changed || poisons { Progress::Changed } else { Progress::Looked });
                moment.release();
                moment.gives();
                *moment.word() &= !WRITER;
                if poisons {
                    *moment.word() |= POISONED;
                }
            });
        });
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("raddle bug: a guard without its data")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed = true;
        self.data.as_mut().expect("raddle bug: a guard without its data")
    }
}

macro_rules! show_data {
    ($($guard:ident)*) => { $(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )* };
}

show_data!(RwLockReadGuard RwLockWriteGuard);
