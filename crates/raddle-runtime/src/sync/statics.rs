//! Values of `static`s, which belong to the execution that has made them.
//!
//! A `OnceLock` or `LazyLock` that outlives executions is empty at the start of each of them. So its value cannot be stored in it. It is
//! stored in the tables of the execution and dropped at the end of the execution. Two things here need unsafe code: a reference to such a
//! value has the lifetime of the `OnceLock`, and a function is called again although its type promises only that it can be called once.

use std::any::type_name;
use std::mem::{ManuallyDrop, needs_drop, size_of};
use std::ptr::{self, NonNull};

/// A value of any type that the execution owns.
pub(crate) struct StaticValue {
    value: NonNull<()>,
    /// Drops a value of its type without freeing its memory.
    drop: unsafe fn(NonNull<()>),
    /// Frees that memory.
    free: unsafe fn(NonNull<()>),
    dropped: bool,
    /// The name of its type, checked before each use.
    type_name: &'static str,
}

impl StaticValue {
    /// Stores a value for a `OnceLock` or `LazyLock` that several executions use.
    ///
    /// Its type need not be `'static`. Several executions reach the `OnceLock` only from outside: through a `static`, or because the test's
    /// function has captured it. All types that are reached in this way outlive the executions.
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

    /// Drops the value without freeing its memory: destructors of other values may still look at it.
    pub(crate) fn drop_value(&mut self) {
        if !std::mem::replace(&mut self.dropped, true) {
            // SAFETY: `drop` was made by `new` together with `value`, and this happens once.
            unsafe { (self.drop)(self.value) };
        }
    }

    /// The value. `'a` is the lifetime of the `OnceLock` whose value this is.
    ///
    /// The reference must not be used after the execution has ended. The compiler cannot check that. No code of the execution runs then: its
    /// tasks have ended, were unwound, or are never resumed. But if a task has stored the reference in a `static` of `std`, or passed it to
    /// an OS thread, code outside the execution can use a value that is dropped.
    pub(super) fn get<'a, T>(&self) -> &'a T {
        assert!(
            self.type_name == type_name::<T>(),
            "raddle bug: a value of type {} is used as {}",
            self.type_name,
            type_name::<T>()
        );
        // SAFETY: `value` points to a live `T`, made by `new`. There is no `&mut` to it: `into_value` takes `self`. Its memory does not
        // move with `self`. It lives until the execution ends, and so does all code that can use the reference, except in the cases named
        // above.
        unsafe { self.value.cast::<T>().as_ref() }
    }

    /// The value itself.
    pub(super) fn into_value<T>(self) -> T {
        assert!(
            self.type_name == type_name::<T>(),
            "raddle bug: a value of type {} is used as {}",
            self.type_name,
            type_name::<T>()
        );
        let value = self.value.cast::<T>();
        std::mem::forget(self);
        // SAFETY: `value` comes from a box that `new` leaked, and `self`, which would free it, is forgotten.
        *unsafe { Box::from_raw(value.as_ptr()) }
    }
}

impl Drop for StaticValue {
    fn drop(&mut self) {
        self.drop_value();
        // SAFETY: `free` was made by `new` together with `value`, the value is gone, and this happens once.
        unsafe { (self.free)(self.value) };
    }
}

/// A copy of the function, if it is a function pointer, as the initialiser of a `static` always is. A closure may not be `Copy`, and there is
/// no way to ask.
pub(super) fn same_function<F>(function: &F) -> Option<F> {
    // The name of a function pointer's type starts with the keyword `fn`. The path of another type cannot contain a keyword.
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
    fn values_are_there_until_dropped_or_taken() {
        struct CountsDrops(Rc<Cell<u32>>);
        impl Drop for CountsDrops {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Rc::new(Cell::new(0));
        let value = StaticValue::new(CountsDrops(dropped.clone()));
        assert_eq!(value.get::<CountsDrops>().0.get(), 0);
        drop(value);
        assert_eq!(dropped.get(), 1);
        let taken: CountsDrops = StaticValue::new(CountsDrops(dropped.clone())).into_value();
        assert_eq!(dropped.get(), 1);
        drop(taken);
        assert_eq!(dropped.get(), 2);
        StaticValue::new(()).get::<()>();
    }

    #[test]
    #[should_panic(expected = "raddle bug: a value of type u8 is used as i8")]
    fn a_value_of_another_type_is_not_handed_out() {
        StaticValue::new(1_u8).get::<i8>();
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
