//! Keeps back what the standard library prints before it aborts the process, where the process does not abort.
//!
//! After the panic hook has returned, the standard library writes a line straight to the standard error and aborts. Where the abort is
//! [cut off](super::cut_off) and becomes a failure of one execution, the line would be wrong, and there would be one for each execution
//! that fails. So the standard error leads into a pipe between the two, for some microseconds. What other threads write there meanwhile
//! is passed on.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn begin() {}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use self::linux::begin;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use self::linux::end;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::*};

    /// What the standard library prints.
    const LINE: &[u8] = b"thread caused non-unwinding panic. aborting.\n";

    /// Whether somebody keeps the standard error.
    static TAKEN: AtomicBool = AtomicBool::new(false);
    /// The standard error as it was, and the end of the pipe that is read; -1 while nobody keeps it.
    static BEFORE: AtomicI32 = AtomicI32::new(-1);
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    /// Called by the panic hook of a task that is about to abort. If the system has no descriptors left, the line is printed.
    pub(crate) fn begin() {
        while TAKEN.swap(true, Acquire) {
            std::thread::yield_now();
        }
        let mut pipe: [c_int; 2] = [-1; 2];
        // SAFETY: plain calls into libc with valid arguments; the descriptors belong to nobody else.
        unsafe {
            let before = libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, 3);
            if before < 0 || libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                libc::close(before);
                return TAKEN.store(false, Release);
            }
            libc::fcntl(pipe[0], libc::F_SETFL, libc::O_NONBLOCK);
            libc::dup2(pipe[1], libc::STDERR_FILENO);
            libc::close(pipe[1]);
            BEFORE.store(before, Relaxed);
            PIPE.store(pipe[0], Relaxed);
        }
    }

    /// Called by the handler of the abort that was announced.
    pub(in crate::coroutine) fn end() {
        let (before, pipe) = (BEFORE.swap(-1, Relaxed), PIPE.swap(-1, Relaxed));
        if before < 0 {
            return;
        }
        // SAFETY: plain calls into libc, which handlers of signals may make, with descriptors that `begin` has opened.
        unsafe {
            libc::dup2(before, libc::STDERR_FILENO);
            libc::close(before);
            let mut text = [0_u8; 512];
            while let Ok(len @ 1..) = usize::try_from(libc::read(pipe, text.as_mut_ptr().cast(), text.len())) {
                pass_on(&text[..len]);
            }
            libc::close(pipe);
        }
        TAKEN.store(false, Release);
    }

    /// Writes what was kept back, but for the line.
    fn pass_on(text: &[u8]) {
        let at = text.windows(LINE.len()).position(|part| part == LINE);
        let (before, after) = at.map_or((text, &[][..]), |at| (&text[..at], &text[at + LINE.len()..]));
        for part in [before, after].into_iter().filter(|part| !part.is_empty()) {
            // SAFETY: a plain call into libc with a valid buffer, which handlers of signals may make.
            unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
        }
    }
}
