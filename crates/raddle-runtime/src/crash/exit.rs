//! Reports a program that calls `exit` in the middle of an execution.

use std::sync::Once;

use super::account::{Reason, tell};
use super::attending;

/// The exit code of a process whose tests have failed.
pub(super) const FAILED: i32 = 101;

/// Installs the function that `exit` calls, once per process.
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
        // SAFETY: a plain call into libc. Other functions that `exit` would call are skipped, as in a crash: they may wait for locks that
        // tasks of the execution hold.
        unsafe { libc::_exit(FAILED) };
    }
}
