//! The board of one process.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::remains::Remains;
use super::state::State;
use super::{Beat, Board, Commit, ExecutionPosition, Job, TakeResult, Tally, Then, Wait};
use crate::search::{Found, Limits};

/// A queue, a table of the pieces that workers have, and totals.
pub struct Local {
    state: Mutex<State>,
    changed: Condvar,
    /// The number of workers that wait for a piece.
    hungry: AtomicIsize,
    /// The number of pieces that wait for a worker.
    supply: AtomicIsize,
    /// A failure was found, and the search ends after one.
    failing: AtomicBool,
    /// Shared with the caller, who may stop the search.
    pub(crate) told_to_stop: Arc<AtomicBool>,
    /// The search is over, for whatever reason.
    stopped: AtomicBool,
    workers: usize,
    keep_going: bool,
    last_number: u64,
}

impl Local {
    /// A board for the rest of a search.
    pub(crate) fn new(remains: Remains, limits: &Limits, numbers: (u64, Option<Vec<u64>>), workers: usize) -> Self {
        let failing = remains.total.found.is_some() && !limits.keep_going;
        let state = State::new(remains, limits, numbers);
        Self {
            last_number: state.last,
            state: Mutex::new(state),
            changed: Condvar::new(),
            hungry: AtomicIsize::new(0),
            supply: AtomicIsize::new(0),
            failing: AtomicBool::new(failing),
            told_to_stop: Arc::default(),
            stopped: AtomicBool::new(false),
            workers,
            keep_going: limits.keep_going,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_take_from(&self, state: &mut State) -> TakeResult<'_> {
        if self.is_stopped() {
            return TakeResult::Never;
        }
        if let Some(piece) = state.next(self.workers, self.failing.load(Relaxed)) {
            let ticket = state.hand_out(piece.clone());
            self.supply.store(state.supply(), Relaxed);
            return TakeResult::Piece(Job { board: self, ticket, closed: false, piece });
        }
        if state.is_out() {
            return TakeResult::NotNow;
        }
        self.changed.notify_all();
        TakeResult::Never
    }

    /// Wakes the workers that wait, after a change.
    fn wake(&self, state: MutexGuard<'_, State>) {
        self.supply.store(state.supply(), Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    /// If executions are numbered, the budget is for those before this one.
    pub(crate) fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Adds the results of a worker that were interrupted by time. A resumed search repeats this work, so it is not saved; only the report
    /// of this search includes it.
    pub(crate) fn add_cut_off(&self, tally: Tally) {
        self.lock().cut_off.add(tally);
    }

    /// The results in all: `committed`, which will not be repeated, and the interrupted ones.
    pub(crate) fn with_cut_off(&self, mut committed: Tally) -> Tally {
        committed.add(self.lock().cut_off.clone());
        committed
    }

    /// The committed results.
    pub(crate) fn total(&self) -> Tally {
        self.lock().total.clone()
    }

    /// The committed results, and the rest of the search if all workers were lost now.
    pub(crate) fn snapshot(&self) -> Remains {
        let state = self.lock();
        let State { queue, later, out, total, claim, .. } = &*state;
        let pieces = out.iter().flatten().chain(queue).chain(later.values().flatten()).cloned().collect();
        let failed = total.found.as_ref().and_then(Found::known);
        Remains { pieces, total: total.clone(), claim: *claim, checkpoint: None, failed }
    }

    /// A worker that got the answer that there is no piece now does not ask again.
    pub(crate) fn waits_no_more(&self) {
        self.hungry.fetch_sub(1, Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed) || self.told_to_stop.load(Relaxed)
    }

    /// The results and the rest. Called when all workers have stopped.
    pub(crate) fn remains(&self) -> Remains {
        let mut state = self.lock();
        let State { queue, later, total, claim, .. } = &mut *state;
        let pieces = mem::take(queue).into_iter().chain(mem::take(later).into_values().flatten()).collect();
        let total = mem::take(total);
        let failed = total.found.as_ref().and_then(Found::known);
        Remains { pieces, total, claim: *claim, checkpoint: None, failed }
    }
}

impl Board for Local {
    fn take(&self, wait: Wait) -> TakeResult<'_> {
        let mut state = self.lock();
        loop {
            let taken = self.try_take_from(&mut state);
            match (wait, &taken) {
                (Wait::UntilThereIsOne, TakeResult::NotNow) => {
                    self.hungry.fetch_add(1, Relaxed);
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    self.hungry.fetch_sub(1, Relaxed);
                    continue;
                }
                (Wait::No { still_waits: false }, TakeResult::NotNow) => self.hungry.fetch_add(1, Relaxed),
                (Wait::No { still_waits: true }, TakeResult::Piece(_) | TakeResult::Never) => {
                    self.hungry.fetch_sub(1, Relaxed)
                }
                _ => 0,
            };
            return taken;
        }
    }

    fn beat(&self) -> Beat {
        if self.is_stopped() {
            Beat::Stop
        } else if self.failing.load(Relaxed) {
            Beat::Failing
        } else if self.hungry.load(Relaxed) > self.supply.load(Relaxed) {
            Beat::Share
        } else {
            Beat::GoOn
        }
    }

    fn give_back(&self, unused: u64) {
        if let Some(left) = &mut self.lock().left {
            *left += unused;
        }
    }

    fn allow(&self) -> u64 {
        let mut state = self.lock();
        let Some(left) = &mut state.left else { return u64::MAX };
        let allowed = (*left / (2 * self.workers as u64)).clamp(1, 1_000).min(*left);
        *left -= allowed;
        allowed
    }

    fn commit(&self, job: &mut Job<'_>, commit: Commit) {
        let Commit { tally, given, later, claim, then } = commit;
        let mut state = self.lock();
        if tally.found.is_some() && !self.keep_going {
            self.failing.store(true, Relaxed);
        }
        state.total.add(tally);
        state.claim = state.claim.max(claim);
        given.into_iter().chain(later).for_each(|piece| state.put(piece));
        if !matches!(then, Then::GoesOn(_)) {
            state.close(job.ticket);
            job.closed = true;
        }
        match then {
            Then::GoesOn(piece) => state.out[job.ticket] = Some(piece),
            // Once there is a failure, a worker that leaves a piece has found nothing in it that comes before that failure.
            Then::Leaves(piece) if self.failing.load(Relaxed) && state.is_done_by_failure(&piece) => {}
            Then::Leaves(piece) => state.queue.push_front(piece),
            Then::AllDone(claim) => {
                state.queue.clear();
                state.note(claim);
                self.stopped.store(true, Relaxed);
            }
            Then::Done(claim) => state.note(claim),
        }
        self.wake(state);
    }

    fn stop(&self) {
        // Under the lock, so that a worker that is about to wait does not miss it.
        let _state = self.lock();
        self.stopped.store(true, Relaxed);
        self.changed.notify_all();
    }

    fn first_failing(&self) -> Option<ExecutionPosition> {
        self.lock().first_failing()
    }

    fn lost(&self, ticket: usize) {
        let mut state = self.lock();
        let piece = state.close(ticket);
        state.queue.push_front(piece);
        self.wake(state);
    }
}
