//! The atomic boolean.

use std::fmt;
use std::sync::atomic;

use raddle_engine::trace::{Class, Operation, Site};

use super::Ordering;
use super::shared::{shared_operations, update_operations};
use super::step;
use crate::execution::{Kind, ObjectRef, Tag, here};

static BOOL: Kind = Kind { noun: "AtomicBool", show: |word| (word.0 != 0).to_string() };
static FETCH_NOT: Operation = Operation { verb: "fetch_not", class: Class::Update };

/// A boolean shared between threads, as [`std::sync::atomic::AtomicBool`].
pub struct AtomicBool {
    tag: Tag,
    /// The value outside of any execution, and the one that every execution starts with.
    inner: atomic::AtomicBool,
}

shared_operations!(AtomicBool [], bool, BOOL, u64::from, |word: u64| word != 0);

impl AtomicBool {
    update_operations! { bool;
        /// Sets the value to its logical and with `value`, and returns what it was.
        fetch_and |before, value: bool| before & value;
        /// Sets the value to the negation of its logical and with `value`, and returns what it was.
        fetch_nand |before, value: bool| !(before & value);
        /// Sets the value to its logical or with `value`, and returns what it was.
        fetch_or |before, value: bool| before | value;
        /// Sets the value to its exclusive or with `value`, and returns what it was.
        fetch_xor |before, value: bool| before ^ value;
    }

    /// Negates the value, and returns what it was.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        let inside = self.update_with(&FETCH_NOT, order, here(), |before| !before);
        inside.unwrap_or_else(|| self.inner.fetch_not(order))
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}
