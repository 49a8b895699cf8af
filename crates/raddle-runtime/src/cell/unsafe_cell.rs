//! The cell behind every type that changes what it shares, as [`std::cell::UnsafeCell`].

use std::cell;
use std::fmt;

use super::watch::Watch;
use crate::execution::{Kind, here, word_as_number};

static UNSAFE_CELL: Kind = Kind { noun: "UnsafeCell", show: word_as_number };

/// Memory that may be changed through a shared reference, as [`std::cell::UnsafeCell`].
///
/// Use [`with`](Self::with) to read and [`with_mut`](Self::with_mut) to write: so reads that happen at the same time, which is
/// fine, can be told from writes. [`get`](Self::get) hands out a `*mut T` and counts as a write.
///
/// An access counts from the moment it begins. Use the pointer for that access only and ask again for the next one: what is
/// done through an old pointer is not seen.
///
/// ```
/// use raddle_runtime::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: nobody else has a reference to the cell.
/// cell.with_mut(|value| unsafe { *value += 1 });
/// // SAFETY: as above.
/// assert_eq!(cell.with(|value| unsafe { *value }), 2);
/// ```
pub struct UnsafeCell<T: ?Sized> {
    watch: Watch,
    inner: cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with `value` in it.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { watch: Watch::new(), inner: cell::UnsafeCell::new(value) }
    }

    /// The contents. A write.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.watch.write(&UNSAFE_CELL, here());
        self.inner.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `read` with a pointer to the contents, to be read through. A read.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.watch.read(&UNSAFE_CELL, here());
        read(self.inner.get().cast_const())
    }

    /// Calls `write` with a pointer to the contents, to be written through. A write.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.watch.write(&UNSAFE_CELL, here());
        write(self.inner.get())
    }

    /// A pointer to the contents. What is done with it cannot be seen, so this counts as a write, even if the pointer is only
    /// read through: prefer [`with`](Self::with) and [`with_mut`](Self::with_mut).
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.watch.lend(&UNSAFE_CELL, here());
        self.inner.get()
    }

    /// The contents; nobody else can use them. A write.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.watch.write(&UNSAFE_CELL, here());
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
