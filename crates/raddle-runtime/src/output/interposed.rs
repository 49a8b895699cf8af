//! Redirects output by definitions of `write` and `writev` that replace those of libc.
//!
//! Writes to the descriptors 1 and 2 go to the descriptor that the calling OS thread has set, if it has set one. All others go to the kernel
//! unchanged. Signal handlers may call both functions: they read a thread-local number and make a system call.
//!
//! We check [once](works) whether the linker has used these functions instead of those of libc. If it has not, nothing is redirected, and
//! threads are started in the usual way.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
use std::{ptr, thread};

use super::Sink;
use crate::panics;

thread_local! {
    /// Where this OS thread's output goes; [`NONE`] if it is not redirected.
    static SINK: Cell<c_int> = const { Cell::new(NONE) };
    /// True if something was written since the thread's output was redirected.
    static WRITTEN: Cell<bool> = const { Cell::new(false) };
}

const NONE: c_int = -1;

/// A descriptor that no file has. Our `write` returns success for it.
const PROBE: c_int = -77;

/// Where a write to `fd` goes.
fn target(fd: c_int) -> c_int {
    let sink = SINK.get();
    if sink == NONE || !(fd == libc::STDOUT_FILENO || fd == libc::STDERR_FILENO) {
        return fd;
    }
    WRITTEN.set(true);
    sink
}

/// As `write` of libc.
///
/// # Safety
///
/// As for `write` of libc: there are `count` bytes at `buffer`.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, count: usize) -> isize {
    if fd == PROBE {
        return count as isize;
    }
    // SAFETY: the caller's arguments for the same system call; only the descriptor may be another that is open.
    unsafe { libc::syscall(libc::SYS_write, c_long::from(target(fd)), buffer, count) as isize }
}

/// As `writev` of libc.
///
/// # Safety
///
/// As for `writev` of libc: there are `count` valid buffers at `buffers`.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_writev, c_long::from(target(fd)), buffers, c_long::from(count)) as isize }
}

/// Whether the standard library writes with the functions above.
fn works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        // The linker includes only functions that are used.
        std::hint::black_box([write as *const () as usize, writev as *const () as usize]);
        // SAFETY: no file has this descriptor, and it is not closed.
        let mut probe = ManuallyDrop::new(unsafe { File::from_raw_fd(PROBE) });
        probe.write(b"?").is_ok_and(|written| written == 1) && null().is_some()
    })
}

/// The file that discards what is written to it.
fn null() -> Option<&'static File> {
    static NULL: OnceLock<Option<File>> = OnceLock::new();
    NULL.get_or_init(|| OpenOptions::new().write(true).open("/dev/null").ok()).as_ref()
}

/// Makes a file in memory.
fn file_in_memory() -> io::Result<File> {
    // SAFETY: a plain system call with a `'static` name. Nothing else owns the descriptor that it returns.
    unsafe {
        let fd = libc::syscall(libc::SYS_memfd_create, c"raddle".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from_raw_fd(fd as c_int)) }
    }
}

/// Calls `body` on an OS thread that was not started by the standard library, and waits for it. That thread, and those that it
/// starts, do not write to the test harness's buffer. The error is what `body` panicked with.
pub fn apart<R: Send>(body: impl FnOnce() -> R + Send) -> thread::Result<R> {
    if !works() {
        return Ok(body());
    }
    let mut result = None;
    let run = || result = Some(panic::catch_unwind(AssertUnwindSafe(body)));
    let mut run: Option<Box<dyn FnOnce() + Send + '_>> = Some(Box::new(run));
    let argument = (&raw mut run).cast::<c_void>();
    let mut id = 0;
    // SAFETY: `start` gets the argument that it expects. The argument lives until the thread is joined, and nothing else uses it before.
    let joined = unsafe {
        libc::pthread_create(&raw mut id, ptr::null(), start, argument) == 0
            && libc::pthread_join(id, ptr::null_mut()) == 0
    };
    if !joined && let Some(run) = run.take() {
        // No thread could be started. The caller will start threads itself and report the error.
        run();
    }
    drop(run);
    result.unwrap_or_else(|| Err(Box::new("raddle bug: a thread ended before its work") as Box<dyn Any + Send>))
}

/// The function that such a thread runs.
extern "C" fn start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: see `apart`.
    let run = unsafe { &mut *argument.cast::<Option<Box<dyn FnOnce() + Send>>>() };
    if let Some(run) = run.take() {
        run();
    }
    ptr::null_mut()
}

/// Redirects the output of the calling OS thread until it is dropped.
#[derive(Debug)]
pub struct Redirected {
    before: (c_int, bool),
    file: Option<File>,
    /// A redirection belongs to its OS thread.
    not_send: std::marker::PhantomData<*const ()>,
}

impl Redirected {
    /// Redirects the output of the calling OS thread, which was [started apart](apart).
    #[must_use]
    pub fn to(sink: Sink) -> Self {
        // With the panic hook, panics of Raddle itself are printed without redirection.
        panics::install();
        let before = (SINK.get(), WRITTEN.get());
        let file = match sink {
            Sink::Kept if works() => file_in_memory().ok(),
            _ => None,
        };
        let to = match (&file, sink) {
            (Some(file), _) => file.as_raw_fd(),
            (None, Sink::Unchanged) => NONE,
            (None, _) if works() => null().map_or(NONE, AsRawFd::as_raw_fd),
            (None, _) => NONE,
        };
        SINK.set(to);
        WRITTEN.set(false);
        Self { before, file, not_send: std::marker::PhantomData }
    }

    /// Ends the redirection. Returns what was written, if it was kept; `None` if nothing was written.
    #[must_use]
    pub fn end(mut self) -> Option<Vec<u8>> {
        flush();
        let mut written = Vec::new();
        if let Some(file) = &mut self.file {
            // If the output cannot be read back, it is not shown.
            let _ = file.rewind().and_then(|()| file.read_to_end(&mut written));
        }
        WRITTEN.get().then_some(written)
    }
}

impl Drop for Redirected {
    fn drop(&mut self) {
        flush();
        SINK.set(self.before.0);
        WRITTEN.set(self.before.1);
    }
}

/// Flushes an incomplete line. All threads share the buffer of standard output. Without this, the line would go where the output of the next
/// thread goes that writes.
fn flush() {
    if SINK.get() != NONE {
        let _ = io::stdout().flush();
    }
}

/// Flushes an incomplete line at the end of an execution, if the program has written anything. Otherwise the lock of the buffer, which all
/// threads share, is not taken.
pub(crate) fn flush_if_written() {
    if WRITTEN.get() {
        flush();
    }
}

/// Calls `body` without redirection. For output of Raddle itself.
pub fn unredirected<R>(body: impl FnOnce() -> R) -> R {
    let sink = SINK.replace(NONE);
    let result = body();
    SINK.set(sink);
    result
}

/// Discards what the calling OS thread writes from now on, until a redirection ends.
pub(crate) fn discard_from_here_on() {
    if works()
        && let Some(null) = null()
    {
        SINK.set(null.as_raw_fd());
    }
}

/// Ends the redirection of the calling OS thread for ever. For signal handlers that report why the process ends.
pub fn show_from_here_on() {
    SINK.set(NONE);
}
