//! The public operations that `Mutex` and `RwLock` share word by word, and those of their guards.

/// The operations of a lock on its data and its poison. `$when` says when a panic poisons it.
macro_rules! lock_api {
    ($lock:ident, $when:literal) => {
        impl<T> $lock<T> {
            /// Returns the data.
            ///
            /// # Errors
            ///
            /// If the lock is poisoned; the error still has the data.
            #[track_caller]
            pub fn into_inner(self) -> LockResult<T> {
                let (inner, poisoned) = self.lock.into_inner(here());
                with_poison(inner.into_inner().unwrap_or_else(PoisonError::into_inner), poisoned)
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[doc = concat!("Whether a thread panicked ", $when, ".")]
            #[track_caller]
            pub fn is_poisoned(&self) -> bool {
                self.lock.is_poisoned(here())
            }

            #[doc = concat!("Clears the poison that a thread left when it panicked ", $when, ".")]
            #[track_caller]
            pub fn clear_poison(&self) {
                self.lock.clear_poison(here());
            }

            /// Returns the data. No other thread can hold the lock.
            ///
            /// # Errors
            ///
            /// If the lock is poisoned; the error still has the data.
            #[track_caller]
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                let (inner, poisoned) = self.lock.get_mut(here());
                with_poison(inner.get_mut().unwrap_or_else(PoisonError::into_inner), poisoned)
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.lock.fmt(f)
            }
        }

        impl<T: Default> Default for $lock<T> {
            #[track_caller]
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            #[track_caller]
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }
    };
}

/// What a guard gives access to.
macro_rules! guard_api {
    ($guard:ident) => {
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.held
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

/// Access to the data for a guard that holds its lock alone.
macro_rules! guard_api_mut {
    ($guard:ident) => {
        guard_api!($guard);

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.held
            }
        }
    };
}

pub(in crate::sync) use {guard_api, guard_api_mut, lock_api};
