//! A work-stealing deque of fixed size, after Chase and Lev ("Dynamic circular work-stealing deque", 2005) with the orderings of Lê et
//! al. ("Correct and efficient work-stealing for weak memory models", 2013). The owner pushes and pops at the bottom, thieves
//! take from the top.

use super::types::{AtomicUsize, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

pub struct Deque<const PLANTED: bool> {
    /// Both begin at 1, so that `bottom` can be one below `top`.
    top: AtomicUsize,
    bottom: AtomicUsize,
    jobs: Vec<AtomicUsize>,
}

impl<const PLANTED: bool> Deque<PLANTED> {
    pub fn new(capacity: usize) -> Self {
        let jobs = (0..capacity).map(|_| AtomicUsize::new(0)).collect();
        Deque { top: AtomicUsize::new(1), bottom: AtomicUsize::new(1), jobs }
    }

    fn job(&self, at: usize) -> &AtomicUsize {
        &self.jobs[at % self.jobs.len()]
    }

    /// For the owner only. Gives the job back if there is no room.
    pub fn push(&self, job: usize) -> Result<(), usize> {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        if bottom - top == self.jobs.len() {
            return Err(job);
        }
        self.job(bottom).store(job, Relaxed);
        self.bottom.store(bottom + 1, Release);
        Ok(())
    }

    /// For the owner only.
    pub fn pop(&self) -> Option<usize> {
        let last = self.bottom.load(Relaxed) - 1;
        self.bottom.store(last, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > last {
            self.bottom.store(last + 1, Relaxed);
            return None;
        }
        let job = self.job(last).load(Relaxed);
        if top < last {
            return Some(job);
        }
        // The planted bug: a thief may take the last job as well.
        let won = PLANTED || self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(last + 1, Relaxed);
        if PLANTED {
            self.top.store(top + 1, Release);
        }
        won.then_some(job)
    }

    /// For anyone. `None` also if somebody else was faster.
    pub fn steal(&self) -> Option<usize> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return None;
        }
        let job = self.job(top).load(Relaxed);
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok().then_some(job)
    }
}
