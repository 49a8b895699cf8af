//! The atomic integers, `AtomicBool` and `AtomicPtr`.

use std::fmt;
use std::sync::atomic;

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site, Word};

use super::Ordering;
use crate::execution::{Kind, Moment, Place, Tag, here};

static LOAD: Operation = Operation { verb: "load", class: Class::Read };
static STORE: Operation = Operation { verb: "store", class: Class::Write };

macro_rules! atomic_int {
    ($atomic:ident, $int:ty) => {
        /// X
        pub struct $atomic {
            tag: Tag,
            inner: atomic::$atomic,
        }
        static KIND: Kind = Kind { noun: stringify!($atomic), show: |w| (w.0 as $int).to_string() };
        impl $atomic {
            /// X
            #[track_caller]
            pub const fn new(v: $int) -> Self {
                Self { tag: Tag::new(), inner: atomic::$atomic::new(v) }
            }
            fn with<R>(&self, body: impl FnOnce(Place<'_>) -> R) -> Option<R> {
                self.tag.with(&KIND, |_| self.inner.load(Ordering::Relaxed) as u64, body)
            }
            /// X
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $int {
                let site = here();
                self.with(|p| {
                    p.step(&LOAD, Effect::Read, Ordered::ACQUIRE, site, |m| {
                        let v = *m.word();
                        m.found(v);
                        v as $int
                    })
                })
                .unwrap_or_else(|| self.inner.load(order))
            }
            /// X
            #[track_caller]
            pub fn fetch_add(&self, d: $int, order: Ordering) -> $int {
                let site = here();
                self.with(|p| {
                    p.step(&STORE, Effect::Change, Ordered::BOTH, site, |m| {
                        let v = *m.word();
                        m.found(v);
                        let n = (v as $int).wrapping_add(d) as u64;
                        *m.word() = n;
                        m.left(n);
                        v as $int
                    })
                })
                .unwrap_or_else(|| self.inner.fetch_add(d, order))
            }
        }
    };
}
atomic_int!(AtomicUsize, usize);
