//! Thread-local values, as [`std::thread_local!`].
//!
//! In an execution each task has values of its own. A value is made when it is first used and dropped when the task ends. The latest value is
//! dropped first, and each is marked as destroyed before its destructor runs, as in `std`. A value that a destructor makes is dropped next.
//! Outside of any execution, a key refers to a thread-local value of `std`.

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
///     /// Each thread has its own.
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

/// The error if the thread's value is being dropped, or was, as [`std::thread::AccessError`].
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

    /// The value of the running task. `first` makes it if it is not there.
    fn inside(&'static self, execution: &Execution, first: impl FnOnce() -> T) -> Result<Rc<T>, AccessError> {
        let key = std::ptr::from_ref(self).addr();
        let found = execution.state.borrow_mut().task().locals.find(key);
        let value = match found {
            Some(LocalState::Destroyed) => return Err(AccessError),
            Some(LocalState::Alive(value)) => value,
            // `first` may ask for operations and use other keys, even this one.
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

    /// If the thread has no value yet, sets it to `value`, not to the declared initial value. Otherwise calls `f` with the thread's value and
    /// `value`.
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

/// The thread-local values of a task, in the order in which they were made. The values of a task that never ends are never dropped.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<Local>,
}

struct Local {
    /// The key's address.
    key: usize,
    /// True if its type has a destructor.
    drops: bool,
    state: LocalState,
}

#[derive(Clone)]
enum LocalState {
    Alive(Rc<dyn Any>),
    Destroyed,
}

impl Locals {
    /// Whether there are no values.
    pub(crate) fn are_none(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether any value has a destructor.
    pub(crate) fn have_destructors(&self) -> bool {
        self.values.iter().any(|local| local.drops)
    }

    fn find(&self, key: usize) -> Option<LocalState> {
        self.values.iter().find(|local| local.key == key).map(|local| local.state.clone())
    }

    /// Adds a value. Returns the value that was there before, if the initialiser of this one has already made one.
    fn insert(&mut self, key: usize, value: Rc<dyn Any>, drops: bool) -> Option<Local> {
        let before = self.values.iter().position(|local| local.key == key).map(|at| self.values.remove(at));
        self.values.push(Local { key, drops, state: LocalState::Alive(value) });
        before
    }

    /// Takes the next value to be dropped when the task ends. `None` if there is none left.
    pub(crate) fn take(&mut self) -> Option<Rc<dyn Any>> {
        let next =
            self.values.iter_mut().rev().find(|local| local.drops && matches!(local.state, LocalState::Alive(_)));
        let Some(local) = next else {
            // The others have no destructors, and no code runs any more that could use them.
            self.values.clear();
            return None;
        };
        match std::mem::replace(&mut local.state, LocalState::Destroyed) {
            LocalState::Alive(value) => Some(value),
            LocalState::Destroyed => None,
        }
    }
}

impl Drop for Locals {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut self.values));
    }
}
