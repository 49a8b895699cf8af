//! The cell for interior mutability, as [`std::cell::UnsafeCell`].

use std::cell;
use std::fmt;

use super::access::AccessTracker;
use crate::execution::{Kind, here, word_as_number};

static UNSAFE_CELL: Kind = Kind { noun: "UnsafeCell", show: word_as_number };

/// Memory that may be changed through a shared reference, as [`std::cell::UnsafeCell`].
///
/// Use [`with`](Self::with) to read and [`with_mut`](Self::with_mut) to write, so that Raddle can tell reads from writes: two reads do not
/// race. [`get`](Self::get) returns a `*mut T` and counts as a write.
///
/// An access is recorded when it begins. Use the pointer only for this access, and call `with` or `with_mut` again for the next one. Raddle
/// does not see what happens through an old pointer.
///
/// ```
/// use raddle_runtime::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: there is no other reference to the cell.
/// cell.with_mut(|value| unsafe { *value += 1 });
/// // SAFETY: as above.
/// assert_eq!(cell.with(|value| unsafe { *value }), 2);
/// ```
pub struct UnsafeCell<T: ?Sized> {
    tracker: AccessTracker,
    inner: cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Makes a cell that contains `value`.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { tracker: AccessTracker::new(), inner: cell::UnsafeCell::new(value) }
    }

    /// The contents. A write.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.tracker.write(&UNSAFE_CELL, here());
        self.inner.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `read` with a pointer to the contents, for reading. A read.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.tracker.read(&UNSAFE_CELL, here());
        read(self.inner.get().cast_const())
    }

    /// Calls `write` with a pointer to the contents, for writing. A write.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.tracker.write(&UNSAFE_CELL, here());
        write(self.inner.get())
    }

    /// A pointer to the contents. Raddle does not see its use, so this counts as a write, even if the pointer is used only to read. Prefer
    /// [`with`](Self::with) and [`with_mut`](Self::with_mut).
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.tracker.lend(&UNSAFE_CELL, here());
        self.inner.get()
    }

    /// The contents. No other thread can use them. A write.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.tracker.write(&UNSAFE_CELL, here());
        self.inner.get_mut()
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
