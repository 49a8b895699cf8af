//! Formatting to a file descriptor without allocation, as signal handlers need it.

use std::ffi::c_int;
use std::fmt;

/// Writes text to a file descriptor. Its buffer is small, since signal handlers run on a small stack.
pub(super) struct FdWriter {
    /// `None` if the bytes are only counted.
    to: Option<c_int>,
    buffer: [u8; 256],
    len: usize,
    /// How many bytes were written in all.
    total: usize,
}

impl FdWriter {
    pub(super) fn new(to: c_int) -> Self {
        Self { to: Some(to), buffer: [0; 256], len: 0, total: 0 }
    }

    /// How many bytes `write` writes.
    pub(super) fn measure(write: impl FnOnce(&mut Self) -> fmt::Result) -> usize {
        let mut sink = Self { to: None, buffer: [0; 256], len: 0, total: 0 };
        // Counting never fails.
        let _ = write(&mut sink);
        sink.total
    }

    /// Writes the contents of the buffer to the file descriptor.
    pub(super) fn flush(&mut self) -> fmt::Result {
        let mut rest = &self.buffer[..std::mem::take(&mut self.len)];
        while let Some(to) = self.to.filter(|_| !rest.is_empty()) {
            // SAFETY: a plain call into libc with a valid buffer, which signal handlers may make.
            let written = unsafe { libc::write(to, rest.as_ptr().cast(), rest.len()) };
            let Ok(written @ 1..) = usize::try_from(written) else { return Err(fmt::Error) };
            rest = &rest[written..];
        }
        Ok(())
    }
}

impl fmt::Write for FdWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.total += text.len();
        if self.to.is_none() {
            return Ok(());
        }
        for &byte in text.as_bytes() {
            if self.len == self.buffer.len() {
                self.flush()?;
            }
            self.buffer[self.len] = byte;
            self.len += 1;
        }
        Ok(())
    }
}
