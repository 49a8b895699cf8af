//! A value that is made when it is first used, as [`std::sync::LazyLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_engine::trace::{Class, Operation, Site};

use super::once::gate::{AfterPanic, POISONED};
use super::slot::Slot;
use super::statics;
use crate::execution::{Kind, here, word_as_number};

static FORCE: Operation = Operation { verb: "force", class: Class::Acquire };
static GET: Operation = Operation { verb: "get", class: Class::Read };

static LAZY_LOCK: Kind = Kind { noun: "LazyLock", show: word_as_number };

const PANICKED: &str = "the function that was to make the value of this LazyLock has panicked";

/// A value that is made when it is first used, as [`std::sync::LazyLock`]. In a `static` it is made anew in every execution, unless it was made
/// outside of any before.
///
/// The function of a `static` is a function pointer and can be called in every execution. A closure that was moved into a
/// `LazyLock` which outlives executions is called by the first of them that uses it; the next one fails, since the value would leak
/// from one into the other.
pub struct LazyLock<T, F = fn() -> T> {
    slot: Slot<T>,
    /// There until it is called, and after that if it can be called again.
    make: Mutex<Option<F>>,
    /// `make` has panicked outside of any execution.
    poisoned_outside: AtomicBool,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` will make.
    #[track_caller]
    pub const fn new(f: F) -> Self {
        Self { slot: Slot::new(), make: Mutex::new(Some(f)), poisoned_outside: AtomicBool::new(false) }
    }

    /// The value, made now if it was not made before; waits for whoever makes it. As `&*this`.
    ///
    /// A function that uses the value it is about to make waits for itself, which is a deadlock.
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
        let inside = self.slot.with(&LAZY_LOCK, |place| {
            self.slot.get_or_make(place, how, site, || match self.function() {
                Some(make) => make(),
                None => {
                    place.fail_leaking(site);
                    // The execution goes on only in a destructor that runs because of a panic.
                    panic!("raddle: the closure of this LazyLock was called by an earlier execution")
                }
            })
        });
        match inside {
            Some(value) => value.expect(PANICKED),
            None => self.slot.outside().get_or_init(|| self.make_outside()),
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

    /// The function, left where it is if it can be called again.
    fn function(&self) -> Option<F> {
        let mut make = self.make.lock().unwrap_or_else(PoisonError::into_inner);
        match make.as_ref().and_then(statics::same_function) {
            Some(again) => Some(again),
            None => make.take(),
        }
    }

    /// The value, made now if it was not made before; nobody else can use it.
    ///
    /// # Panics
    ///
    /// If the function has panicked, now or before.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        this.force_at(here());
        this.slot.own(&LAZY_LOCK).get_mut().expect("raddle bug: a value that was just made is gone")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        let site = here();
        let inside = this.slot.with(&LAZY_LOCK, |place| this.slot.get(place, &GET, site));
        inside.unwrap_or_else(|| this.slot.outside().get())
    }

    /// The value, if it was made; nobody else can use it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.slot.own(&LAZY_LOCK).get_mut()
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
