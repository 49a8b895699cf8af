//! Values of `static`s, which belong to the execution that made them.
//!
//! A `OnceLock` or `LazyLock` that outlives executions starts afresh in each of them, so its value cannot live in it: it is
//! kept here, among the tables of the execution, and dropped at its end. The two pieces of unsafe code are that a reference to
//! such a value is given the lifetime of the `OnceLock`, and that a function is called again although its type only
//! promises to be callable once.

use std::any::type_name;
use std::mem::{ManuallyDrop, needs_drop, size_of};
use std::ptr::{self, NonNull};

/// A value that is dropped with the execution.
pub(crate) struct Kept {
    value: NonNull<()>,
    /// How to drop a value of its type, leaving its memory.
    drop: unsafe fn(NonNull<()>),
    /// How to free that memory.
    free: unsafe fn(NonNull<()>),
    dropped: bool,
    /// The name of its type, to find our own mistakes before they do harm.
    type_name: &'static str,
}

impl Kept {
    /// Keeps a value of something that is used by several executions.
    ///
    /// That it is, is the reason why a type that is not `'static` does no harm here: what several executions can reach is
    /// reached from outside of them, through a `static` or what the test's function has captured, and all such types
    /// outlive them.
    pub(super) fn new<T>(value: T) -> Self {
        /// SAFETY: to be called once, with a pointer to a live `T`.
        unsafe fn drop_value<T>(value: NonNull<()>) {
            // SAFETY: the caller's promise.
            unsafe { value.cast::<T>().drop_in_place() };
        }
        /// SAFETY: to be called once, with what `Box::leak` gave for a `T` that was dropped in its place.
        unsafe fn free<T>(value: NonNull<()>) {
            // SAFETY: the caller's promise; `ManuallyDrop` has the same layout and drops nothing.
            drop(unsafe { Box::from_raw(value.cast::<ManuallyDrop<T>>().as_ptr()) });
        }
        let value = NonNull::from(Box::leak(Box::new(value))).cast();
        Self { value, drop: drop_value::<T>, free: free::<T>, dropped: false, type_name: type_name::<T>() }
    }

    /// Drops the value but keeps its memory: the destructors of others may still look at what it was.
    pub(crate) fn drop_value(&mut self) {
        if !std::mem::replace(&mut self.dropped, true) {
            // SAFETY: `drop` was made by `new` together with `value`, and this happens once.
            unsafe { (self.drop)(self.value) };
        }
    }

    /// The value. `'a` is the lifetime of the `OnceLock` whose value this is.
    ///
    /// The reference must not be used after the execution has ended, which the compiler cannot see. Code of the execution is
    /// not running then: its tasks have ended, or have been unwound, or are never resumed. But a task that has put the
    /// reference into a `static` of `std`, or handed it to a thread of the system's, lets others use a value that is gone.
    pub(super) fn get<'a, T>(&self) -> &'a T {
        assert!(
            self.type_name == type_name::<T>(),
            "raddle bug: a {} was kept, a {} is wanted",
            self.type_name,
            type_name::<T>()
        );
        // SAFETY: `value` points to a live `T`, made by `new`, which nobody else has by `&mut`: `into_value` takes `self`. Its
        // memory does not move with `self`. It lives until the execution ends, and so does whoever can use the reference,
        // with the exception named above.
        unsafe { self.value.cast::<T>().as_ref() }
    }

    /// The value itself.
    pub(super) fn into_value<T>(self) -> T {
        assert!(
            self.type_name == type_name::<T>(),
            "raddle bug: a {} was kept, a {} is wanted",
            self.type_name,
            type_name::<T>()
        );
        let value = self.value.cast::<T>();
        std::mem::forget(self);
        // SAFETY: `value` comes from a box that `new` leaked, and `self`, which would free it, is forgotten.
        *unsafe { Box::from_raw(value.as_ptr()) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.drop_value();
        // SAFETY: `free` was made by `new` together with `value`, the value is gone, and this happens once.
        unsafe { (self.free)(self.value) };
    }
}

/// A second one of the same function, if it is a function pointer: the type of every initialiser of a `static`. A closure
/// can be called only once unless its type says otherwise, which cannot be asked.
pub(super) fn same_function<F>(function: &F) -> Option<F> {
    // The name of a function pointer's type starts with the keyword, and that of no other type does: a path to a type or a
    // closure cannot contain a keyword.
    let is_pointer = type_name::<F>().starts_with("fn(");
    let looks_like_one = size_of::<F>() == size_of::<fn()>() && !needs_drop::<F>();
    if !is_pointer || !looks_like_one {
        return None;
    }
    // SAFETY: a function pointer is `Copy`, so its bytes are another one.
    Some(unsafe { ptr::read(function) })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn kept_values_are_there_until_dropped_or_taken() {
        struct Counts(Rc<Cell<u32>>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Rc::new(Cell::new(0));
        let kept = Kept::new(Counts(dropped.clone()));
        assert_eq!(kept.get::<Counts>().0.get(), 0);
        drop(kept);
        assert_eq!(dropped.get(), 1);
        let taken: Counts = Kept::new(Counts(dropped.clone())).into_value();
        assert_eq!(dropped.get(), 1);
        drop(taken);
        assert_eq!(dropped.get(), 2);
        Kept::new(()).get::<()>();
    }

    #[test]
    #[should_panic(expected = "raddle bug: a u8 was kept, a i8 is wanted")]
    fn a_value_of_another_type_is_not_handed_out() {
        Kept::new(1_u8).get::<i8>();
    }

    #[test]
    fn only_function_pointers_are_copied() {
        fn seven() -> u32 {
            7
        }
        let pointer: fn() -> u32 = seven;
        assert_eq!(same_function(&pointer).expect("a function pointer")(), 7);
        let text = String::from("moved");
        assert!(same_function(&move || text.len()).is_none());
        let number = 7_usize;
        assert!(same_function(&move || number).is_none());
        assert!(same_function(&seven).is_none());
    }
}
