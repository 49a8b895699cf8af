//! The queue of blocks, and what is done to a block.

use std::collections::VecDeque;

use raddle::sync::{Condvar, Mutex};

/// Numbers of blocks on their way to those who compress.
#[derive(Default)]
pub(super) struct Fifo {
    blocks: Mutex<Blocks>,
    changed: Condvar,
}

#[derive(Default)]
struct Blocks {
    waiting: VecDeque<usize>,
    closed: bool,
}

impl Fifo {
    pub(super) fn push(&self, block: usize) {
        self.blocks.lock().unwrap().waiting.push_back(block);
        self.changed.notify_one();
    }

    /// No more blocks will come.
    pub(super) fn close(&self) {
        self.blocks.lock().unwrap().closed = true;
        self.changed.notify_all();
    }

    /// Waits for a block; `None` if there are no more.
    pub(super) fn next(&self) -> Option<usize> {
        let nothing = |blocks: &mut Blocks| blocks.waiting.is_empty() && !blocks.closed;
        let mut blocks = self.changed.wait_while(self.blocks.lock().unwrap(), nothing).unwrap();
        blocks.waiting.pop_front()
    }
}

/// Runs of equal bytes, each as how many and which.
pub(super) fn compress(block: &[u8]) -> Vec<u8> {
    block.chunk_by(|a, b| a == b).flat_map(|run| [u8::try_from(run.len()).expect("blocks are short"), run[0]]).collect()
}

/// The reverse; what is cut off counts as nothing.
pub(super) fn decompress(compressed: &[u8]) -> Vec<u8> {
    compressed.chunks_exact(2).flat_map(|run| vec![run[1]; run[0].into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        for block in [b"".as_slice(), b"a", b"aaab", b"abab"] {
            assert_eq!(decompress(&compress(block)), block);
        }
        assert_eq!(compress(b"aaab"), [3, b'a', 1, b'b']);
    }
}
