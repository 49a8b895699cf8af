//! The cell whose contents are copied or moved in and out, as [`std::cell::Cell`].

use std::cell;
use std::cmp::Ordering;
use std::fmt;

use super::access::AccessTracker;
use crate::execution::{Kind, here, word_as_number};

static CELL: Kind = Kind { noun: "Cell", show: word_as_number };

/// Memory that may be changed through a shared reference, as [`std::cell::Cell`]. [`get`](Self::get) is a read; all other
/// operations count as writes.
pub struct Cell<T: ?Sized> {
    tracker: AccessTracker,
    inner: cell::Cell<T>,
}

impl<T> Cell<T> {
    /// Makes a cell that contains `value`.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { tracker: AccessTracker::new(), inner: cell::Cell::new(value) }
    }

    /// Sets the contents to `value`.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Exchanges the contents of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        self.tracker.write(&CELL, here());
        other.tracker.write(&CELL, here());
        self.inner.swap(&other.inner);
    }

    /// Sets the contents to `value`, and returns what they were.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.tracker.write(&CELL, here());
        self.inner.replace(value)
    }

    /// The contents.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.tracker.write(&CELL, here());
        self.inner.into_inner()
    }
}

impl<T: Copy> Cell<T> {
    /// A copy of the contents. A read.
    #[track_caller]
    pub fn get(&self) -> T {
        self.tracker.read(&CELL, here());
        self.inner.get()
    }

    /// Replaces the contents by the result of `change`: a read, then a write.
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(T) -> T) {
        self.set(change(self.get()));
    }
}

impl<T: Default> Cell<T> {
    /// Takes the contents and leaves the default value.
    #[track_caller]
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

impl<T: ?Sized> Cell<T> {
    /// A pointer to the contents. Raddle does not see its use, so this counts as a write.
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        self.tracker.lend(&CELL, here());
        self.inner.as_ptr()
    }

    /// The contents. No other thread can use them.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.tracker.write(&CELL, here());
        self.inner.get_mut()
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new(self.get())
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
