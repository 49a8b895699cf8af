//! A value that is made once, as [`std::sync::OnceLock`].

use std::fmt;

use raddle_engine::trace::{Class, Operation};

use super::once;
use super::once::gate::{AfterPanic, COMPLETE, NEW, STAGE};
use super::slot::Slot;
use crate::execution::{Kind, here, word_as_number};

static GET: Operation = Operation { verb: "get", class: Class::Read };
static SET: Operation = Operation { verb: "set", class: Class::Acquire };
static GET_OR_INIT: Operation = Operation { verb: "get_or_init", class: Class::Acquire };

static ONCE_LOCK: Kind = Kind { noun: "OnceLock", show: word_as_number };

/// A value that is made once, as [`std::sync::OnceLock`]. In a `static` it starts every execution empty, unless it was filled outside of
/// any before; what it is filled with in an execution is dropped at the end of that.
///
/// Looking at a value that is there is no point of decision: it stays there.
pub struct OnceLock<T> {
    slot: Slot<T>,
}

impl<T> OnceLock<T> {
    /// Without a value.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { slot: Slot::new() }
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let site = here();
        let inside = self.slot.with(&ONCE_LOCK, |place| self.slot.get(place, &GET, site));
        inside.unwrap_or_else(|| self.slot.outside().get())
    }

    /// The value, if it is there; nobody else can use it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.own(&ONCE_LOCK).get_mut()
    }

    /// The value, once it is there.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let site = here();
        let inside = self.slot.with(&ONCE_LOCK, |place| {
            once::wait(place, |word, _| word & STAGE == COMPLETE, site);
            self.slot.value(place)
        });
        inside.unwrap_or_else(|| self.slot.outside().wait())
    }

    /// Puts a value there; waits for whoever is at it.
    ///
    /// # Errors
    ///
    /// If a value is there already: `value`.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let site = here();
        let mut value = Some(value);
        let inside = self.slot.with(&ONCE_LOCK, |place| {
            let value = value.take().expect("raddle bug: a value is set twice");
            self.slot.set(place, &SET, site, value)
        });
        inside.unwrap_or_else(|| self.slot.outside().set(value.take().expect("raddle bug: a value is set twice")))
    }

    /// The value, which `f` makes if it is not there; waits for whoever is at it.
    ///
    /// An `f` that panics leaves everything as it was. An `f` that asks for the value itself waits for itself, which is a
    /// deadlock.
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        let site = here();
        let mut f = Some(f);
        let mut make = || f.take().expect("raddle bug: a value is made twice")();
        let how = (&GET_OR_INIT, AfterPanic::Retry, NEW);
        let inside = self.slot.with(&ONCE_LOCK, |place| {
            self.slot.get_or_make(place, how, site, &mut make).expect("raddle bug: a OnceLock is poisoned")
        });
        inside.unwrap_or_else(|| self.slot.outside().get_or_init(make))
    }

    /// The value, if it is there.
    #[must_use]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value away, if it is there.
    pub fn take(&mut self) -> Option<T> {
        self.slot.own(&ONCE_LOCK).take()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => Self::from(value.clone()),
            None => Self::new(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => shown.field(value).finish(),
            None => shown.field(&format_args!("<uninit>")).finish(),
        }
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self { slot: Slot::full(value) }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
