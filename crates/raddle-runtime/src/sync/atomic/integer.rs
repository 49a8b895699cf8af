//! The atomic integers.

use std::fmt;
use std::sync::atomic;

use raddle_engine::trace::{Class, Operation, Site};

use super::Ordering;
use super::shared::{shared_operations, update_operations};
use super::step;
use crate::execution::{Kind, ObjectRef, Tag, here};

macro_rules! atomic_integers {
    ($($atomic:ident $integer:ident $kind:ident;)*) => { $(
        static $kind: Kind =
            Kind { noun: stringify!($atomic), show: |word| (word.0 as $integer).to_string() };

        #[doc = concat!("An integer shared between threads, as [`std::sync::atomic::", stringify!($atomic), "`].")]
        pub struct $atomic {
            tag: Tag,
            /// The value outside of any execution, and the one that every execution starts with.
            inner: atomic::$atomic,
        }

        shared_operations!($atomic [], $integer, $kind, |value: $integer| value as u64, |word: u64| word as $integer);

        impl $atomic {
            update_operations! { $integer;
                /// Adds to the value, wrapping around, and returns what it was.
                fetch_add |before, value: $integer| before.wrapping_add(value);
                /// Subtracts from the value, wrapping around, and returns what it was.
                fetch_sub |before, value: $integer| before.wrapping_sub(value);
                /// Keeps the bits that are also in `value`, and returns what it was.
                fetch_and |before, value: $integer| before & value;
                /// Keeps the bits that are also in `value`, inverts all, and returns what it was.
                fetch_nand |before, value: $integer| !(before & value);
                /// Adds the bits of `value`, and returns what it was.
                fetch_or |before, value: $integer| before | value;
                /// Inverts the bits that are in `value`, and returns what it was.
                fetch_xor |before, value: $integer| before ^ value;
                /// Replaces the value if `value` is larger, and returns what it was.
                fetch_max |before, value: $integer| before.max(value);
                /// Replaces the value if `value` is smaller, and returns what it was.
                fetch_min |before, value: $integer| before.min(value);
            }
        }

        impl Default for $atomic {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    )* };
}

atomic_integers! {
    AtomicI8 i8 I8;
    AtomicI16 i16 I16;
    AtomicI32 i32 I32;
    AtomicI64 i64 I64;
    AtomicIsize isize ISIZE;
    AtomicU8 u8 U8;
    AtomicU16 u16 U16;
    AtomicU32 u32 U32;
    AtomicU64 u64 U64;
    AtomicUsize usize USIZE;
}
