//! Thread-local values, as [`std::thread_local!`].
//!
//! Inside an execution each task has values of its own, made when first used and dropped when the task ends: the latest one
//! first, each marked as destroyed before its destructor runs, as `std` does. What a destructor makes anew is dropped next.
//! Outside, a key stands for a thread-local value of `std`'s.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::rc::Rc;

use crate::coroutine::current;
use crate::execution::Execution;

/// Declares thread-local values, as [`std::thread_local!`].
///
/// ```
/// use std::cell::Cell;
///
/// raddle_runtime::thread_local! {
///     /// Made anew in each thread.
///     pub static COUNT: Cell<u32> = const { Cell::new(1) };
///     static NAMES: Vec<String> = vec!["a".to_owned()];
/// }
///
/// COUNT.set(COUNT.get() + 1);
/// assert_eq!(COUNT.get(), 2);
/// assert_eq!(NAMES.with(Vec::len), 1);
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attr])* $vis static $name: $t = const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty = const $init:block) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            const FIRST: $t = $init;
            fn first() -> $t {
                FIRST
            }
            ::std::thread_local! {
                static OUTSIDE: $t = const { FIRST };
            }
            $crate::thread::LocalKey::new(first, &OUTSIDE)
        };
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attr])* $vis static $name: $t = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty = $init:expr) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn first() -> $t {
                $init
            }
            ::std::thread_local! {
                static OUTSIDE: $t = first();
            }
            $crate::thread::LocalKey::new(first, &OUTSIDE)
        };
    };
}

/// A key to a thread-local value, as [`std::thread::LocalKey`]. Made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    first: fn() -> T,
    outside: &'static std::thread::LocalKey<T>,
}

/// The thread's value is being dropped, or was, as [`std::thread::AccessError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    #[must_use]
    pub const fn new(first: fn() -> T, outside: &'static std::thread::LocalKey<T>) -> Self {
        Self { first, outside }
    }

    /// Calls `f` with the thread's value, making it if it was not used before.
    ///
    /// # Panics
    ///
    /// If the value is being dropped, or was.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(f).expect("cannot access a thread-local value during or after destruction")
    }

    /// Calls `f` with the thread's value, making it if it was not used before.
    ///
    /// # Errors
    ///
    /// If the value is being dropped, or was.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match current::with(|execution| self.inside(execution, self.first)) {
            Some(value) => value.map(|value| f(&value)),
            None => self.outside.try_with(f).map_err(|_| AccessError),
        }
    }

    /// The running task's value, made by `first` if it was not there.
    fn inside(&'static self, execution: &Execution, first: impl FnOnce() -> T) -> Result<Rc<T>, AccessError> {
        let key = std::ptr::from_ref(self).addr();
        let found = execution.state.borrow_mut().task().locals.find(key);
        let value = match found {
            Some(Slot::Destroyed) => return Err(AccessError),
            Some(Slot::Alive(value)) => value,
            // Making the value may take operations and use other keys, even this one.
            None => {
                let value: Rc<dyn Any> = Rc::new(first());
                let drops = std::mem::needs_drop::<T>();
                let before = execution.state.borrow_mut().task().locals.insert(key, value.clone(), drops);
                drop(before);
                value
            }
        };
        Ok(value.downcast().expect("raddle bug: a thread-local value of another type"))
    }

    /// Calls `f` with the thread's value; a thread without one gets `value` instead of what the declaration says, and else
    /// `f` gets it too.
    fn with_or_first<R>(&'static self, value: T, f: impl FnOnce(&T, T) -> R) -> Option<Result<(), R>> {
        let mut value = Some(value);
        let found = current::with(|execution| {
            self.inside(execution, || value.take().expect("raddle bug: a first value was taken twice"))
        });
        let found = found?.expect("cannot access a thread-local value during or after destruction");
        Some(value.map_or(Ok(()), |value| Err(f(&found, value))))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the thread's value, without making the declared one first.
    ///
    /// # Panics
    ///
    /// If the value is being dropped, or was.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if current::inside() {
            self.with_or_first(Cell::new(value), |cell, value| cell.set(value.into_inner()));
        } else {
            self.outside.set(value);
        }
    }

    /// A copy of the thread's value.
    ///
    /// # Panics
    ///
    /// If the value is being dropped, or was.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the thread's value and leaves the default.
    ///
    /// # Panics
    ///
    /// If the value is being dropped, or was.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the thread's value and returns the one before.
    ///
    /// # Panics
    ///
    /// If the value is being dropped, or was.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the thread's value.
    ///
    /// # Panics
    ///
    /// If the value is borrowed to be changed, is being dropped, or was.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the thread's value, to be changed.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, is being dropped, or was.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the thread's value, without making the declared one first.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, is being dropped, or was.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if current::inside() {
            self.with_or_first(RefCell::new(value), |cell, value| drop(cell.replace(value.into_inner())));
        } else {
            self.outside.set(value);
        }
    }

    /// Takes the thread's value and leaves the default.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, is being dropped, or was.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the thread's value and returns the one before.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, is being dropped, or was.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// The thread-local values of a task, in the order in which they were made. Those of a task that never ended are never
/// dropped: the execution they belong to is over.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<Local>,
}

struct Local {
    /// The key's address.
    key: usize,
    /// Whether dropping it runs any code.
    drops: bool,
    slot: Slot,
}

#[derive(Clone)]
enum Slot {
    Alive(Rc<dyn Any>),
    Destroyed,
}

impl Locals {
    /// Whether dropping any of them runs code.
    pub(crate) fn have_destructors(&self) -> bool {
        self.values.iter().any(|local| local.drops)
    }

    fn find(&self, key: usize) -> Option<Slot> {
        self.values.iter().find(|local| local.key == key).map(|local| local.slot.clone())
    }

    /// Adds a value; returns the one that making it has made already.
    fn insert(&mut self, key: usize, value: Rc<dyn Any>, drops: bool) -> Option<Local> {
        let before = self.values.iter().position(|local| local.key == key).map(|at| self.values.remove(at));
        self.values.push(Local { key, drops, slot: Slot::Alive(value) });
        before
    }

    /// Takes away the next value to be dropped, now that the task ends; `None` if there is none left.
    pub(crate) fn take(&mut self) -> Option<Rc<dyn Any>> {
        let next = self.values.iter_mut().rev().find(|local| local.drops && matches!(local.slot, Slot::Alive(_)));
        let Some(local) = next else {
            // Nothing can run any more that would use the others.
            self.values.clear();
            return None;
        };
        match std::mem::replace(&mut local.slot, Slot::Destroyed) {
            Slot::Alive(value) => Some(value),
            Slot::Destroyed => None,
        }
    }
}

impl Drop for Locals {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut self.values));
    }
}
