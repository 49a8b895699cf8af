//! A compressed block on its way to the writer: a buffer, and how much of it counts.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::thread;

#[derive(Default)]
pub(super) struct OutputBlock {
    buffer: Mutex<Option<Vec<u8>>>,
    size: AtomicUsize,
}

impl OutputBlock {
    pub(super) fn put(&self, compressed: Vec<u8>) {
        self.size.store(compressed.len(), SeqCst);
        self.set_buffer(compressed);
    }

    /// The writer may come by after the buffer and before the size.
    pub(super) fn put_size_last(&self, compressed: Vec<u8>) {
        let size = compressed.len();
        self.set_buffer(compressed);
        self.size.store(size, SeqCst);
    }

    fn set_buffer(&self, compressed: Vec<u8>) {
        *self.buffer.lock().unwrap() = Some(compressed);
    }

    fn is_there(&self) -> bool {
        self.buffer.lock().unwrap().is_some()
    }

    /// Looks again and again until there is a buffer.
    pub(super) fn take(&self) -> Vec<u8> {
        while !self.is_there() {
            thread::yield_now();
        }
        let mut taken = self.buffer.lock().unwrap().take().expect("nobody takes a buffer but the writer");
        taken.truncate(self.size.load(SeqCst));
        taken
    }
}
