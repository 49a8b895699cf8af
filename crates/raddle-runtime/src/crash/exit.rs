//! A program that calls `exit` in the middle of an execution.

use std::sync::Once;

use super::account::{Reason, tell};
use super::attending;

/// What a process leaves with whose tests have failed.
pub(super) const FAILED: i32 = 101;

/// Has the end of the process looked at; once per process.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a plain call into libc; the function stays where it is.
        unsafe { libc::atexit(at_exit) };
    });
}

/// Called by `exit`, on the OS thread that called it.
extern "C" fn at_exit() {
    let mut inside = false;
    attending::with_running(|_, _| inside = true);
    if inside {
        tell(Reason::Exit);
        // SAFETY: a plain call into libc. The rest of what is to be done at the end of the process is left out, as in a crash: it may
        // depend on locks that tasks of the execution hold.
        unsafe { libc::_exit(FAILED) };
    }
}
