//! One worker's work for the next iteration, in blocks small enough to be shared; and the memory that all workers use for it.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::frontier::{PreemptionFrontier, PreemptionLevel};

/// A block is closed when it has reached this size.
const BLOCK_BYTES: usize = 16 << 10;

/// The work for the next iteration that is not on the board yet.
#[derive(Debug)]
pub(super) struct NextIteration {
    /// The memory that all workers together may use, in bytes.
    limit: usize,
    blocks: Vec<PreemptionFrontier>,
    bytes: usize,
    /// The memory that all workers used when this worker last looked, in bytes.
    all_bytes: usize,
    /// The limit is reached; nothing more is stored.
    full: bool,
    account: Arc<Mutex<Account>>,
}

/// The work that is on the board.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// The bytes that were put there during the iteration with this bound.
    bound: u32,
    bytes: usize,
    /// The limit was reached; nothing more is stored.
    full: bool,
}

impl NextIteration {
    /// With so many bytes for all workers.
    pub fn new(limit: usize) -> Self {
        Self { limit, blocks: Vec::new(), bytes: 0, all_bytes: 0, full: false, account: Arc::default() }
    }

    /// For another worker, with the same limit.
    pub fn copy(&self) -> Self {
        Self { account: Arc::clone(&self.account), ..Self::new(self.limit) }
    }

    /// Begins a piece of the iteration with this bound. `full` if something of it was dropped before.
    pub fn begin(&mut self, bound: u32, full: bool) {
        self.blocks.clear();
        self.bytes = 0;
        self.update_account(bound, full);
    }

    /// Stores a branch; see [`PreemptionFrontier::add`]. Returns false if the limit is reached.
    pub fn add(&mut self, branch: &[PreemptionLevel], known: usize) -> bool {
        if !self.full {
            if self.blocks.last().is_none_or(|block| block.bytes() >= BLOCK_BYTES) {
                self.blocks.push(PreemptionFrontier::default());
            }
            let block = self.blocks.last_mut().expect("there is one now");
            self.bytes -= block.bytes();
            block.add(branch, known);
            self.bytes += block.bytes();
            self.full = self.all_bytes + self.bytes > self.limit;
        }
        if self.full {
            self.blocks.clear();
            self.bytes = 0;
        }
        !self.full
    }

    /// Returns what was stored since the latest call.
    pub fn take(&mut self, bound: u32) -> Vec<PreemptionFrontier> {
        self.update_account(bound, self.full);
        self.bytes = 0;
        let mut blocks = mem::take(&mut self.blocks);
        blocks.iter_mut().for_each(PreemptionFrontier::close);
        blocks
    }

    fn update_account(&mut self, bound: u32, full: bool) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        if account.bound != bound {
            *account = Account { bound, ..Account::default() };
        }
        account.bytes += self.bytes;
        account.full |= full;
        (self.all_bytes, self.full) = (account.bytes, account.full);
    }
}
