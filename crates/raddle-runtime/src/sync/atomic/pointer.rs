//! The atomic pointer.
//!
//! In an execution the word of the object is the address of the pointer. The provenance of the pointer is exposed when it is stored, and a
//! load returns a pointer with exposed provenance.

use std::fmt;
use std::ptr;
use std::sync::atomic;

use raddle_engine::trace::{Class, Operation, Site};

use super::Ordering;
use super::shared::shared_operations;
use super::step;
use crate::execution::{Kind, ObjectRef, Tag, here};

static PTR: Kind = Kind { noun: "AtomicPtr", show: |word| format!("{:#x}", word.0) };

/// A pointer shared between threads, as [`std::sync::atomic::AtomicPtr`].
pub struct AtomicPtr<T> {
    tag: Tag,
    /// The value outside of any execution, and the one that every execution starts with.
    inner: atomic::AtomicPtr<T>,
}

fn to_word<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

fn from_word<T>(word: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(word as usize)
}

shared_operations!(AtomicPtr[T], *mut T, PTR, to_word, from_word);

/// Read-modify-write operations of one step each: `name |before, argument| the new pointer`.
macro_rules! pointer_operations {
    ($($(#[$doc:meta])* $name:ident |$before:ident, $argument:ident| $after:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[track_caller]
            pub fn $name(&self, $argument: usize, order: Ordering) -> *mut T {
                static OP: Operation = Operation { verb: stringify!($name), class: Class::Update };
                let change = |$before: *mut T| $after;
                self.update_with(&OP, order, here(), change).unwrap_or_else(|| self.update_outside(order, change))
            }
        )*
    };
}

impl<T> AtomicPtr<T> {
    pointer_operations! {
        /// Moves the pointer up by `value` times the size of a `T`, wrapping around, and returns what it was.
        fetch_ptr_add |before, value| before.wrapping_add(value);
        /// Moves the pointer down by `value` times the size of a `T`, wrapping around, and returns what it was.
        fetch_ptr_sub |before, value| before.wrapping_sub(value);
        /// Moves the pointer up by `value` bytes, wrapping around, and returns what it was.
        fetch_byte_add |before, value| before.wrapping_byte_add(value);
        /// Moves the pointer down by `value` bytes, wrapping around, and returns what it was.
        fetch_byte_sub |before, value| before.wrapping_byte_sub(value);
        /// Adds the bits of `value` to the address, and returns what the pointer was.
        fetch_or |before, value| before.map_addr(|address| address | value);
        /// Keeps the bits of the address that are also in `value`, and returns what the pointer was.
        fetch_and |before, value| before.map_addr(|address| address & value);
        /// Inverts the bits of the address that are in `value`, and returns what the pointer was.
        fetch_xor |before, value| before.map_addr(|address| address ^ value);
    }

    /// Updates the pointer outside of any execution. `std` has these operations only since 1.91.
    fn update_outside(&self, order: Ordering, change: impl Fn(*mut T) -> *mut T) -> *mut T {
        let updated = self.inner.fetch_update(order, Ordering::Relaxed, |before| Some(change(before)));
        updated.expect("raddle bug: an update that cannot fail failed")
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}
