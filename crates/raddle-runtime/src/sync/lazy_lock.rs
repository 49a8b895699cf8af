//! A value that is made when it is first used, as [`std::sync::LazyLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_engine::trace::{Class, Operation, Site};

use super::once::gate::{AfterPanic, POISONED};
use super::once_value::OnceValue;
use super::statics;
use crate::execution::{Kind, here, word_as_number};

static FORCE: Operation = Operation { verb: "force", class: Class::Acquire };
static GET: Operation = Operation { verb: "get", class: Class::Read };

static LAZY_LOCK: Kind = Kind { noun: "LazyLock", show: word_as_number };

const PANICKED: &str = "the function that was to make the value of this LazyLock has panicked";

/// A value that is made when it is first used, as [`std::sync::LazyLock`]. In a `static` it is made again in every execution, unless it was
/// made outside of any execution before.
///
/// The function of a `static` is a function pointer, so every execution can call it. A closure can be called only once. If a `LazyLock` with
/// a closure outlives executions, the first execution that uses it calls the closure, and the next one fails, because the value would leak
/// from one execution into the other.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceValue<T>,
    /// `None` once it was called, if it cannot be called again.
    make: Mutex<Option<F>>,
    /// True if `make` has panicked outside of any execution.
    poisoned_outside: AtomicBool,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Makes a `LazyLock` whose value `f` will make.
    #[track_caller]
    pub const fn new(f: F) -> Self {
        Self { value: OnceValue::new(), make: Mutex::new(Some(f)), poisoned_outside: AtomicBool::new(false) }
    }

    /// The value, made now if it was not made before. If another thread is making it, waits until that is done. The same as `&*this`.
    ///
    /// If the function uses the value that it makes, that is a deadlock.
    ///
    /// # Panics
    ///
    /// If the function has panicked, now or before.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.force_at(here())
    }

    #[track_caller]
    fn force_at(&self, site: Site) -> &T {
        let how = (&FORCE, AfterPanic::Refuse, POISONED);
        let inside = self.value.with(&LAZY_LOCK, |place| {
            self.value.get_or_make(place, how, site, || match self.function() {
                Some(make) => make(),
                None => {
                    place.fail_leaking(site);
                    // This is reached only in a destructor that runs because of a panic.
                    panic!("raddle: the closure of this LazyLock was called by an earlier execution")
                }
            })
        });
        match inside {
            Some(value) => value.expect(PANICKED),
            None => self.value.outside().get_or_init(|| self.make_outside()),
        }
    }

    fn make_outside(&self) -> T {
        assert!(!self.poisoned_outside.swap(true, Ordering::Relaxed), "{PANICKED}");
        let make = self
            .function()
            .expect("raddle: the closure of this LazyLock was called inside an execution; make it there");
        let value = make();
        self.poisoned_outside.store(false, Ordering::Relaxed);
        value
    }

    /// Takes the function, or copies it if it can be called again.
    fn function(&self) -> Option<F> {
        let mut make = self.make.lock().unwrap_or_else(PoisonError::into_inner);
        match make.as_ref().and_then(statics::same_function) {
            Some(again) => Some(again),
            None => make.take(),
        }
    }

    /// The value, made now if it was not made before. No other thread can use it.
    ///
    /// # Panics
    ///
    /// If the function has panicked, now or before.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        this.force_at(here());
        this.value.own(&LAZY_LOCK).get_mut().expect("raddle bug: a value that was just made is gone")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        let site = here();
        let inside = this.value.with(&LAZY_LOCK, |place| this.value.get(place, &GET, site));
        inside.unwrap_or_else(|| this.value.outside().get())
    }

    /// The value, if it was made. No other thread can use it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.value.own(&LAZY_LOCK).get_mut()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.force_at(here())
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => shown.field(value).finish(),
            None => shown.field(&format_args!("<uninit>")).finish(),
        }
    }
}
