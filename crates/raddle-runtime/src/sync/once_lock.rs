//! A value that is set once, as [`std::sync::OnceLock`].

use std::fmt;

use raddle_engine::trace::{Class, Operation};

use super::once;
use super::once::gate::{AfterPanic, COMPLETE, NEW, STAGE};
use super::once_value::OnceValue;
use crate::execution::{Kind, here, word_as_number};

static GET: Operation = Operation { verb: "get", class: Class::Read };
static SET: Operation = Operation { verb: "set", class: Class::Acquire };
static GET_OR_INIT: Operation = Operation { verb: "get_or_init", class: Class::Acquire };

static ONCE_LOCK: Kind = Kind { noun: "OnceLock", show: word_as_number };

/// A value that is set once, as [`std::sync::OnceLock`]. In a `static` it starts every execution empty, unless it was set outside of any
/// execution before. A value set in an execution is dropped at its end.
///
/// Reading a value that is there needs no decision, because it never changes.
pub struct OnceLock<T> {
    value: OnceValue<T>,
}

impl<T> OnceLock<T> {
    /// Makes a `OnceLock` without a value.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { value: OnceValue::new() }
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let site = here();
        let inside = self.value.with(&ONCE_LOCK, |place| self.value.get(place, &GET, site));
        inside.unwrap_or_else(|| self.value.outside().get())
    }

    /// The value, if it is there. No other thread can use it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.own(&ONCE_LOCK).get_mut()
    }

    /// Waits until the value is there and returns it.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let site = here();
        let inside = self.value.with(&ONCE_LOCK, |place| {
            once::wait(place, |word, _| word & STAGE == COMPLETE, site);
            self.value.value(place)
        });
        inside.unwrap_or_else(|| self.value.outside().wait())
    }

    /// Sets the value. If another thread is making it, waits until that is done.
    ///
    /// # Errors
    ///
    /// If a value is there already: `value`.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let site = here();
        let mut value = Some(value);
        let inside = self.value.with(&ONCE_LOCK, |place| {
            let value = value.take().expect("raddle bug: a value is set twice");
            self.value.set(place, &SET, site, value)
        });
        inside.unwrap_or_else(|| self.value.outside().set(value.take().expect("raddle bug: a value is set twice")))
    }

    /// The value. `f` makes it if it is not there. If another thread is making it, waits until that is done.
    ///
    /// If `f` panics, there is still no value. If `f` asks for the value, that is a deadlock.
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        let site = here();
        let mut f = Some(f);
        let mut make = || f.take().expect("raddle bug: a value is made twice")();
        let how = (&GET_OR_INIT, AfterPanic::Retry, NEW);
        let inside = self.value.with(&ONCE_LOCK, |place| {
            self.value.get_or_make(place, how, site, &mut make).expect("raddle bug: a OnceLock is poisoned")
        });
        inside.unwrap_or_else(|| self.value.outside().get_or_init(make))
    }

    /// The value, if it is there.
    #[must_use]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out, if it is there.
    pub fn take(&mut self) -> Option<T> {
        self.value.own(&ONCE_LOCK).take()
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
        Self { value: OnceValue::full(value) }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
