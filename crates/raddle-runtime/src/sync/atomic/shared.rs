//! The operations that all atomic types share.

/// The operations that every atomic type has. `$to` and `$from` turn a value into the word of an object and back.
macro_rules! shared_operations {
    ($atomic:ident [$($generic:ident)?], $value:ty, $kind:ident, $to:expr, $from:expr) => {
        impl$(<$generic>)? $atomic$(<$generic>)? {
            /// Makes an atomic that starts with `value`, in every execution.
            #[track_caller]
            #[must_use]
            pub const fn new(value: $value) -> Self {
                Self { tag: Tag::new(), inner: atomic::$atomic::new(value) }
            }

            /// Calls `body` with the atomic's place in the running execution; `None` outside of any.
            #[inline(always)]
            #[track_caller]
            fn with<R>(&self, body: impl FnOnce(ObjectRef<'_>) -> R) -> Option<R> {
                self.tag.with(&$kind, |_| $to(self.inner.load(Ordering::Relaxed)), body)
            }

            /// Copies the value of the running execution to `inner`, for access by `&mut`. No other task can observe it.
            fn copy_to_inner(&mut self) {
                if let Some(word) = self.with(step::peek) {
                    *self.inner.get_mut() = $from(word);
                    self.tag.forget();
                }
            }

            /// The value. No other thread can use it.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                self.copy_to_inner();
                self.inner.get_mut()
            }

            /// The value.
            #[track_caller]
            #[must_use]
            pub fn into_inner(mut self) -> $value {
                self.copy_to_inner();
                self.inner.into_inner()
            }

            /// Calls `change` with the value. No other thread can use it. For race detection this is a plain write: an access that is not
            /// ordered with it is reported. Race detection does not see the ordering by the count of an `Arc`.
            #[track_caller]
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                let site = here();
                let Some(word) = self.with(|place| step::write_as_plain(place, site)) else {
                    return change(self.inner.get_mut());
                };
                let mut value = $from(word);
                let result = change(&mut value);
                self.with(|place| step::set_as_plain(place, $to(value)));
                result
            }

            /// Reads the value as plain memory, for a caller that knows that no other thread changes it at the same time. A store or an
            /// update that is not ordered with it is reported as a data race.
            ///
            /// # Safety
            ///
            /// Outside an execution, no other thread may change the value at the same time.
            #[expect(unsafe_code, reason = "the caller has to exclude other threads")]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                let site = here();
                match self.with(|place| step::read_as_plain(place, site)) {
                    Some(word) => $from(word),
                    None => self.inner.load(Ordering::Relaxed),
                }
            }

            /// The memory of the value outside of any execution. In an execution the value is stored elsewhere: atomic operations do not
            /// see what is written through this pointer, and the pointer does not see their writes. Races are not noticed. Use
            /// [`unsync_load`](Self::unsync_load) and [`with_mut`](Self::with_mut) instead.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }

            /// Returns the value.
            ///
            /// # Panics
            ///
            /// If `order` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let (site, ordered) = (here(), step::load_order(order));
                let inside = self.with(|place| {
                    step::note_ordering(place.execution, order);
                    step::load(place, ordered, site)
                });
                match inside {
                    Some(word) => $from(word),
                    None => self.inner.load(order),
                }
            }

            /// Replaces the value.
            ///
            /// # Panics
            ///
            /// If `order` is `Acquire` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                let (site, ordered) = (here(), step::store_order(order));
                let inside = self.with(|place| {
                    step::note_ordering(place.execution, order);
                    step::store(place, $to(value), ordered, site);
                });
                inside.unwrap_or_else(|| self.inner.store(value, order));
            }

            /// Replaces the value and returns what it was.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                static SWAP: Operation = Operation { verb: "swap", class: Class::Update };
                let inside = self.update_with(&SWAP, order, here(), |_| value);
                inside.unwrap_or_else(|| self.inner.swap(value, order))
            }

            /// Replaces the value by the result of `change`, in one step. Returns what it was, or `None` outside of any execution.
            #[inline(always)]
            #[track_caller]
            fn update_with(
                &self,
                op: &'static Operation,
                order: Ordering,
                site: Site,
                change: impl FnOnce($value) -> $value,
            ) -> Option<$value> {
                let ordered = step::update_order(order);
                let inside = self.with(|place| {
                    step::note_ordering(place.execution, order);
                    step::update(place, op, ordered, site, |word| $to(change($from(word))))
                });
                inside.map($from)
            }

            /// Replaces the value if it is `current`. If not, this is only a read.
            ///
            /// # Errors
            ///
            /// If the value is not `current`: what it is.
            ///
            /// # Panics
            ///
            /// If `failure` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let exchange = Self::exchange(current, new, success, failure, here());
                let inside = self.with(|place| {
                    step::note_ordering(place.execution, success);
                    step::note_ordering(place.execution, failure);
                    exchange.strong(place)
                });
                match inside {
                    Some(result) => result.map($from).map_err($from),
                    None => self.inner.compare_exchange(current, new, success, failure),
                }
            }

            /// Replaces the value if it is `current`. May fail spuriously, although it is. In an execution the strategy decides where it
            /// fails spuriously. The settings limit how often, together with spurious ends of waits.
            ///
            /// # Errors
            ///
            /// If the value is not `current`, or spuriously: what it is.
            ///
            /// # Panics
            ///
            /// If `failure` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let exchange = Self::exchange(current, new, success, failure, here());
                let inside = self.with(|place| {
                    step::note_ordering(place.execution, success);
                    step::note_ordering(place.execution, failure);
                    exchange.weak(place)
                });
                match inside {
                    Some(result) => result.map($from).map_err($from),
                    None => self.inner.compare_exchange_weak(current, new, success, failure),
                }
            }

            #[inline(always)]
            #[track_caller]
            fn exchange(
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
                site: Site,
            ) -> step::Exchange {
                let (success, failure) = (step::update_order(success), step::failure_order(failure));
                step::Exchange { current: $to(current), new: $to(new), success, failure, site }
            }

            /// Replaces the value by the result of `change`: a load, then a compare-exchange. Tries again while another thread has changed
            /// the value between the two.
            ///
            /// # Errors
            ///
            /// If `change` returned `None`: the value that it got.
            ///
            /// # Panics
            ///
            /// If `fetch_order` is `Release` or `AcqRel`.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut change: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut before = self.load(fetch_order);
                while let Some(after) = change(before) {
                    match self.compare_exchange(before, after, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(found) => before = found,
                    }
                }
                Err(before)
            }

            /// The same as [`fetch_update`](Self::fetch_update).
            ///
            /// # Errors
            ///
            /// If `change` returned `None`: the value that it got.
            ///
            /// # Panics
            ///
            /// If `fetch_order` is `Release` or `AcqRel`.
            #[track_caller]
            pub fn try_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                change: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.fetch_update(set_order, fetch_order, change)
            }

            /// Replaces the value by the result of `change` and returns what it was: a load, then a compare-exchange. Tries again while
            /// another thread has changed the value between the two.
            ///
            /// # Panics
            ///
            /// If `fetch_order` is `Release` or `AcqRel`.
            #[track_caller]
            pub fn update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut change: F) -> $value
            where
                F: FnMut($value) -> $value,
            {
                let result = self.fetch_update(set_order, fetch_order, |value| Some(change(value)));
                result.expect("raddle bug: an update that cannot fail failed")
            }
        }

        impl$(<$generic>)? From<$value> for $atomic$(<$generic>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        /// Shows the value by a relaxed load, which is a step.
        impl$(<$generic>)? fmt::Debug for $atomic$(<$generic>)? {
            #[track_caller]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
            }
        }
    };
}

/// Read-modify-write operations of one step each: `name |before, argument| the new value`.
macro_rules! update_operations {
    ($value:ty; $($(#[$doc:meta])* $name:ident |$before:ident, $argument:ident: $type:ty| $after:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $name(&self, $argument: $type, order: Ordering) -> $value {
                static OP: Operation = Operation { verb: stringify!($name), class: Class::Update };
                let inside = self.update_with(&OP, order, here(), |$before| $after);
                inside.unwrap_or_else(|| self.inner.$name($argument, order))
            }
        )*
    };
}

pub(super) use {shared_operations, update_operations};
