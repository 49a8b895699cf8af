//! A lock for many readers or one writer, as [`std::sync::RwLock`]. What it shares with `Mutex` is in [`lock`](super::lock).
//!
//! Readers do not synchronise with one another, only with writers. So the happens-before that readers pass on to the next writer has an
//! object of its own.

mod guard;

use std::fmt;
use std::sync::{self, LockResult, PoisonError, TryLockResult};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

pub use self::guard::{RwLockReadGuard, RwLockWriteGuard};
use super::lock::api::lock_api;
use super::lock::{HELD_ALONE, Lock, POISONED, hold_alone, is_held, map_lock, map_try, with_poison};
use crate::execution::{Ask, Kind, Moment, ObjectRef, Progress, Tag, here, word_as_number};

static READ: Operation = Operation { verb: "lock for reading", class: Class::Acquire };
static WRITE: Operation = Operation { verb: "lock for writing", class: Class::Acquire };
static TRY_READ: Operation = Operation { verb: "try_read", class: Class::Update };
static TRY_WRITE: Operation = Operation { verb: "try_write", class: Class::Update };
static UNLOCK_READ: Operation = Operation { verb: "unlock after reading", class: Class::Release };
static UNLOCK_WRITE: Operation = Operation { verb: "unlock after writing", class: Class::Release };

static READERS: Kind = Kind { noun: "readers of an RwLock", show: word_as_number };

/// One reader, in a lock's word.
const READER: u64 = 4;

/// A lock for many readers or one writer, as [`std::sync::RwLock`].
///
/// In an execution, a thread can read as long as no other thread writes, even if a writer waits. On some systems the lock of `std` makes
/// readers wait behind a waiting writer; a thread that reads twice at the same time can deadlock there, and Raddle does not find that.
pub struct RwLock<T: ?Sized> {
    /// The object that readers release to and writers acquire from.
    readers: Tag,
    lock: Lock<sync::RwLock<T>>,
}

impl<T> RwLock<T> {
    /// Makes a lock that nobody holds.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { readers: Tag::new(), lock: Lock::new(sync::RwLock::new(value)) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Calls `body` with the places of the lock and of `readers` in the running execution; `None` outside of any.
    #[track_caller]
    fn with_readers<R>(&self, site: Site, body: impl FnOnce(ObjectRef<'_>, ObjectRef<'_>) -> R) -> Option<R> {
        self.lock.with(site, |place| self.readers.with(&READERS, |_| 0, |readers| body(place, readers))).flatten()
    }

    /// Takes the lock together with other readers. Blocks until no other thread writes.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: a thread panicked while it was writing. The error still has the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = here();
        let granted = self.lock.with(site, |place| {
            let ready: fn(u64, u64) -> bool = |word, _| word & HELD_ALONE == 0;
            let ask = Ask::new(&READ, place.object, Effect::Read, site);
            let ask = Ask { role: Role::Takes, ordered: Ordered::ACQUIRE, ready: Some(ready), ..ask };
            place.execution.step(ask, take_to_read)
        });
        let held = self.lock.taken(site, granted, sync::RwLock::try_read, sync::RwLock::read);
        map_lock(held, |held| RwLockReadGuard { lock: self, held })
    }

    /// Takes the lock together with other readers, if no other thread writes.
    ///
    /// # Errors
    ///
    /// If another thread writes, or if the lock is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = here();
        let granted = self.lock.with(site, |place| {
            place.step(&TRY_READ, Effect::Read, Ordered::ACQUIRE, site, |moment| {
                if *moment.word() & HELD_ALONE != 0 {
                    moment.only_looked(Ordered::RELAXED);
                    return None;
                }
                Some(take_to_read(moment))
            })
        });
        let held = self.lock.tried(site, granted, sync::RwLock::try_read);
        map_try(held, |held| RwLockReadGuard { lock: self, held })
    }

    /// Takes the lock alone. Blocks until no other thread holds it.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: a thread panicked while it was writing. The error still has the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = here();
        let granted = self.with_readers(site, |place, readers| {
            place.step_when((|word, _| !is_held(word), 0), &WRITE, Ordered::ACQUIRE, site, |moment| {
                take_to_write(moment, readers)
            })
        });
        let held = self.lock.taken(site, granted, sync::RwLock::try_write, sync::RwLock::write);
        map_lock(held, |held| RwLockWriteGuard { held })
    }

    /// Takes the lock alone, if no other thread holds it.
    ///
    /// # Errors
    ///
    /// If another thread holds the lock, or if it is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = here();
        let granted = self.with_readers(site, |place, readers| {
            place.step(&TRY_WRITE, Effect::Change, Ordered::ACQUIRE, site, |moment| {
                if is_held(*moment.word()) {
                    // The holder may be a reader. Taking the lock to read is recorded as a read, because readers do not exclude one
                    // another. Two reads are independent, so this failure has to be recorded as a change.
                    moment.changed_nothing(Ordered::RELAXED);
                    return None;
                }
                Some(take_to_write(moment, readers))
            })
        });
        let held = self.lock.tried(site, granted, sync::RwLock::try_write);
        map_try(held, |held| RwLockWriteGuard { held })
    }
}

lock_api!(RwLock, "while it was writing");

/// Lets the current task hold the lock as one more reader. Returns whether the lock is poisoned.
fn take_to_read(moment: &mut Moment<'_>) -> bool {
    moment.progress(Progress::Neutral);
    moment.hold();
    *moment.word() += READER;
    *moment.word() & POISONED != 0
}

/// Lets the current task hold the lock as the writer. Returns whether the lock is poisoned.
fn take_to_write(moment: &mut Moment<'_>, readers: ObjectRef<'_>) -> bool {
    moment.progress(Progress::Neutral);
    moment.touch(readers.access(Effect::Read, Ordered::ACQUIRE));
    hold_alone(moment)
}
