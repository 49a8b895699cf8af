//! Aborts of a task: survived by leaving the task where it calls `abort`.
//!
//! A destructor that panics while a panic unwinds its task ends the process: the panic hook is called a last time, and when
//! it returns, `abort` raises SIGABRT. Staying in the hook for ever would keep the lock that guards the hook, and whoever
//! wants to set another one (the test harness does so at its end) would wait for ever. So the hook returns, and the handler
//! of the signal hands control back from the fiber, which is never resumed. The C library holds no lock while it raises
//! the signal, because a handler may be there that does not return.

/// Whether fibers are left in the signal's handler; elsewhere they are left in the hook.
pub(crate) const IN_HANDLER: bool = cfg!(unix);

/// Installs the handler, once per process.
pub(super) fn install() {
    #[cfg(unix)]
    unix::install();
}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;

    use crate::coroutine::current;

    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    pub(super) fn install() {
        BEFORE.get_or_init(|| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: plain calls into libc with valid pointers; an all-zero `sigaction` is a valid one.
            unsafe {
                let mut ours = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                ours.sa_sigaction = handle as *const () as usize;
                // Not on the alternate stack: control leaves from here, and that stack is used again.
                ours.sa_flags = libc::SA_NODEFER;
                libc::sigaction(libc::SIGABRT, &raw const ours, before.as_mut_ptr());
                before.assume_init()
            }
        });
    }

    extern "C" fn handle(signal: c_int) {
        // The flag is set by the hook on this very OS thread, just before.
        if current::with(|execution| execution.lane.aborting.replace(false)) == Some(true) {
            current::with(|execution| execution.lane.suspend());
            unreachable!("raddle bug: a task that aborted was resumed");
        }
        let before = BEFORE.get().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: puts back what was there, or asks for what is there, and raises the signal again for whoever that is.
        unsafe {
            libc::sigaction(signal, before, ptr::null_mut());
            libc::raise(signal);
        }
    }
}
