//! The running execution of this OS thread.

use std::cell::Cell;
use std::ptr;

use crate::execution::Execution;

thread_local! {
    static CURRENT: Cell<*const Execution> = const { Cell::new(ptr::null()) };
}

/// Makes `execution` the running one on this OS thread while `body` runs.
#[inline(always)]
pub(crate) fn enter<R>(execution: &Execution, body: impl FnOnce() -> R) -> R {
    struct Restore(*const Execution);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(execution));
    body()
}

/// Calls `body` with the execution that the calling code is part of; `None` outside of any.
#[inline(always)]
pub(crate) fn with<R>(body: impl FnOnce(&Execution) -> R) -> Option<R> {
    let current = CURRENT.get();
    if current.is_null() {
        return None;
    }
    // SAFETY: `enter` sets the pointer from a reference and resets it before that reference ends. Code on a fiber runs only inside
    // `resume`, which is called inside `enter`.
    Some(body(unsafe { &*current }))
}

/// Whether the calling code is part of an execution.
#[inline]
pub(crate) fn inside() -> bool {
    !CURRENT.get().is_null()
}
