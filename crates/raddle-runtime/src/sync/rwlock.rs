//! A lock for many readers or one writer, as [`std::sync::RwLock`].
//!
//! As with the mutex, the engine decides who holds it, and the lock of `std` inside is free for whoever it grants it to. Readers
//! do not order memory for one another, only for writers, so what they publish is kept by an object of its own.

mod guard;

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

pub use self::guard::{RwLockReadGuard, RwLockWriteGuard};
use super::contents;
use crate::execution::{Ask, Kind, Met, Moment, Place, Progress, Tag, here, word_as_number};

static READ: Operation = Operation { verb: "lock for reading", class: Class::Acquire };
static WRITE: Operation = Operation { verb: "lock for writing", class: Class::Acquire };
static TRY_READ: Operation = Operation { verb: "try_read", class: Class::Update };
static TRY_WRITE: Operation = Operation { verb: "try_write", class: Class::Update };
static UNLOCK_READ: Operation = Operation { verb: "unlock after reading", class: Class::Release };
static UNLOCK_WRITE: Operation = Operation { verb: "unlock after writing", class: Class::Release };
static IS_POISONED: Operation = Operation { verb: "is_poisoned", class: Class::Read };
static CLEAR_POISON: Operation = Operation { verb: "clear_poison", class: Class::Write };

static RW_LOCK: Kind = Kind { noun: "RwLock", show: word_as_number };
static READERS: Kind = Kind { noun: "readers of an RwLock", show: word_as_number };

/// The word of a lock: whether somebody writes, whether it is poisoned, and above that how many read.
const WRITER: u64 = 1;
const POISONED: u64 = 2;
const READER: u64 = 4;

/// A lock for many readers or one writer, as [`std::sync::RwLock`].
///
/// In an execution, readers are let in as long as nobody writes, whoever waits to write. The locks of some systems make readers wait
/// behind a waiting writer; that a thread that reads asks to read once more and so waits for itself there is not found.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    /// The object that keeps what readers publish.
    readers: Tag,
    /// An execution has changed the data.
    changed_inside: AtomicBool,
    inner: sync::RwLock<T>,
}

impl<T> RwLock<T> {
    /// A lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        let changed_inside = AtomicBool::new(false);
        Self { tag: Tag::new(), readers: Tag::new(), changed_inside, inner: sync::RwLock::new(value) }
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

impl<T: ?Sized> RwLock<T> {
    /// Calls `body` with the lock's place in the running execution, having looked whether it brings contents along.
    #[track_caller]
    fn with<R>(&self, site: Site, body: impl FnOnce(Place<'_>) -> R) -> Option<R> {
        let leaks = Cell::new(false);
        let first = |met| {
            leaks.set(met == Met::InEarlierExecution && self.changed_inside.load(Ordering::Relaxed));
            if met == Met::Never && self.inner.is_poisoned() { POISONED } else { 0 }
        };
        self.tag.with(&RW_LOCK, first, |place| {
            if leaks.get() {
                place.fail_leaking(site);
            }
            body(place)
        })
    }

    /// What the lock of `std` gives to one to whom the engine has granted it.
    fn granted<G>(&self, site: Site, taken: TryLockResult<G>) -> G {
        match taken {
            Ok(data) => data,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.with(site, |place| place.fail_held_elsewhere(site));
                panic!("raddle: this RwLock is held outside this execution; make it inside the test")
            }
        }
    }

    /// The same with the place of what readers publish.
    #[track_caller]
    fn with_both<R>(&self, site: Site, body: impl FnOnce(Place<'_>, Place<'_>) -> R) -> Option<R> {
        self.with(site, |place| self.readers.with(&READERS, |_| 0, |readers| body(place, readers))).flatten()
    }

    /// Takes the lock together with other readers, waiting until nobody writes.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: somebody panicked while writing. The error still has the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = here();
        let taken = self.with(site, |place| {
            let ready: fn(u64, u64) -> bool = |word, _| word & WRITER == 0;
            let ask = Ask::new(&READ, place.object, Effect::Read, site);
            let ask = Ask { role: Role::Takes, ordered: Ordered::ACQUIRE, ready: Some(ready), ..ask };
            place.execution.step(ask, take_to_read)
        });
        match taken {
            Some(poisoned) => self.read_guard(site, poisoned),
            None => {
                let outside = |data| RwLockReadGuard::new(self, data, site, false);
                self.inner.read().map(outside).map_err(|e| PoisonError::new(outside(e.into_inner())))
            }
        }
    }

    /// Takes the lock together with other readers, if nobody writes.
    ///
    /// # Errors
    ///
    /// If somebody does, or if the lock is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = here();
        let taken = self.with(site, |place| {
            place.step(&TRY_READ, Effect::Read, Ordered::ACQUIRE, site, |moment| {
                if *moment.word() & WRITER != 0 {
                    moment.only_looked(Ordered::RELAXED);
                    return None;
                }
                Some(take_to_read(moment))
            })
        });
        match taken {
            Some(None) => Err(TryLockError::WouldBlock),
            Some(Some(poisoned)) => Ok(self.read_guard(site, poisoned)?),
            None => {
                let outside = |data| RwLockReadGuard::new(self, data, site, false);
                map_try(self.inner.try_read(), outside)
            }
        }
    }

    /// Takes the lock alone, waiting until nobody else holds it.
    ///
    /// # Errors
    ///
    /// If the lock is poisoned: somebody panicked while writing. The error still has the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = here();
        let taken = self.with_both(site, |place, readers| {
            place.step_when((|word, _| word & !POISONED == 0, 0), &WRITE, Ordered::ACQUIRE, site, |moment| {
                take_to_write(moment, readers)
            })
        });
        match taken {
            Some(poisoned) => self.write_guard(site, poisoned),
            None => {
                let outside = |data| RwLockWriteGuard::new(self, data, site, false);
                self.inner.write().map(outside).map_err(|e| PoisonError::new(outside(e.into_inner())))
            }
        }
    }

    /// Takes the lock alone, if nobody holds it.
    ///
    /// # Errors
    ///
    /// If somebody does, or if the lock is poisoned; in the latter case the error has the guard.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = here();
        let taken = self.with_both(site, |place, readers| {
            place.step(&TRY_WRITE, Effect::Change, Ordered::ACQUIRE, site, |moment| {
                if *moment.word() & !POISONED != 0 {
                    // What it found may be a reader, and readers count as reads, since they do not mind one another.
                    moment.changed_nothing(Ordered::RELAXED);
                    return None;
                }
                Some(take_to_write(moment, readers))
            })
        });
        match taken {
            Some(None) => Err(TryLockError::WouldBlock),
            Some(Some(poisoned)) => Ok(self.write_guard(site, poisoned)?),
            None => {
                let outside = |data| RwLockWriteGuard::new(self, data, site, false);
                map_try(self.inner.try_write(), outside)
            }
        }
    }

    /// The guard of a lock that the engine has granted.
    fn read_guard(&self, site: Site, poisoned: bool) -> LockResult<RwLockReadGuard<'_, T>> {
        let data = self.granted(site, self.inner.try_read());
        self.with(site, |place| contents::note(place.execution, &*data));
        let guard = RwLockReadGuard::new(self, data, site, true);
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// The guard of a lock that the engine has granted.
    fn write_guard(&self, site: Site, poisoned: bool) -> LockResult<RwLockWriteGuard<'_, T>> {
        let data = self.granted(site, self.inner.try_write());
        self.with(site, |place| contents::note(place.execution, &*data));
        let guard = RwLockWriteGuard::new(self, data, site, true);
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Whether somebody panicked while writing.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        let site = here();
        let inside = self.with(site, |place| {
            place.step(&IS_POISONED, Effect::Read, Ordered::RELAXED, site, |moment| *moment.word() & POISONED != 0)
        });
        inside.unwrap_or_else(|| self.inner.is_poisoned())
    }

    /// Whether the lock is poisoned, for one who has it alone: nobody can notice the look.
    fn poison_seen_by_owner(&self, site: Site) -> bool {
        let word = |place: Place<'_>| place.execution.state.borrow().objects[place.object.index()].word;
        self.with(site, word).map_or_else(|| self.inner.is_poisoned(), |word| word & POISONED != 0)
    }

    /// Forgets that somebody panicked while writing.
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

/// One more reads. Returns whether the lock is poisoned.
fn take_to_read(moment: &mut Moment<'_>) -> bool {
    moment.progress(Progress::Neutral);
    moment.hold();
    *moment.word() += READER;
    *moment.word() & POISONED != 0
}

/// One writes. Returns whether the lock is poisoned.
fn take_to_write(moment: &mut Moment<'_>, readers: Place<'_>) -> bool {
    moment.progress(Progress::Neutral);
    moment.hold();
    moment.touch(readers.access(Effect::Read, Ordered::ACQUIRE));
    *moment.word() |= WRITER;
    *moment.word() & POISONED != 0
}

fn map_try<A, B>(taken: TryLockResult<A>, into: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match taken {
        Ok(data) => Ok(into(data)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => Err(PoisonError::new(into(poisoned.into_inner())).into()),
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
