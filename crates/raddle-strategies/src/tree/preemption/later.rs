//! What one worker has for the next iteration, in blocks that are small enough to be handed around, and how much all of them have.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::frontier::{Frontier, Level};

/// A block is closed when it has grown to this.
const BLOCK_BYTES: usize = 16 << 10;

/// The work of the next iteration that is not on the board yet.
#[derive(Debug)]
pub(super) struct Later {
    /// What all workers together may have.
    room: usize,
    blocks: Vec<Frontier>,
    bytes: usize,
    /// What all had in bytes, when this worker last looked.
    elsewhere: usize,
    /// Nothing is kept any more.
    full: bool,
    account: Arc<Mutex<Account>>,
}

/// What is on the board.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// What was put there by the iteration with this bound, in bytes.
    bound: u32,
    bytes: usize,
    /// It was too much, so nothing more is kept.
    full: bool,
}

impl Later {
    /// With so many bytes for all.
    pub fn new(room: usize) -> Self {
        Self { room, blocks: Vec::new(), bytes: 0, elsewhere: 0, full: false, account: Arc::default() }
    }

    /// For another worker.
    pub fn copy(&self) -> Self {
        Self { account: Arc::clone(&self.account), ..Self::new(self.room) }
    }

    /// A piece of the iteration with this bound is begun; `full` if something was left out there before.
    pub fn begin(&mut self, bound: u32, full: bool) {
        self.blocks.clear();
        self.bytes = 0;
        self.book(bound, full);
    }

    /// Keeps a branch; see [`Frontier::add`]. Says no if there is no room.
    pub fn add(&mut self, branch: &[Level], known: usize) -> bool {
        if !self.full {
            if self.blocks.last().is_none_or(|block| block.bytes() >= BLOCK_BYTES) {
                self.blocks.push(Frontier::default());
            }
            let block = self.blocks.last_mut().expect("there is one now");
            self.bytes -= block.bytes();
            block.add(branch, known);
            self.bytes += block.bytes();
            self.full = self.elsewhere + self.bytes > self.room;
        }
        if self.full {
            self.blocks.clear();
            self.bytes = 0;
        }
        !self.full
    }

    /// What was kept since it was asked last.
    pub fn take(&mut self, bound: u32) -> Vec<Frontier> {
        self.book(bound, self.full);
        self.bytes = 0;
        let mut blocks = mem::take(&mut self.blocks);
        blocks.iter_mut().for_each(Frontier::close);
        blocks
    }

    fn book(&mut self, bound: u32, full: bool) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        if account.bound != bound {
            *account = Account { bound, ..Account::default() };
        }
        account.bytes += self.bytes;
        account.full |= full;
        (self.elsewhere, self.full) = (account.bytes, account.full);
    }
}
