//! The board of one process.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::remains::{Remains, Waiting};
use super::state::State;
use super::{Beat, Board, Commit, Job, Place, Taken, Tally, Then};
use crate::piece::Piece;
use crate::search::{Found, Limits};
use crate::strategy::Given;
use crate::strategy::dpor::News;

/// A queue, a table of what is out, and totals.
pub struct Local {
    state: Mutex<State>,
    changed: Condvar,
    /// Workers that wait for a piece.
    hungry: AtomicIsize,
    /// Pieces that wait for a worker.
    supply: AtomicIsize,
    /// A failure was found, and the search is not to go on after one.
    failing: AtomicBool,
    /// Shared with whoever may stop the search from outside.
    pub(crate) told_to_stop: Arc<AtomicBool>,
    /// The search is over, whoever said so.
    stopped: AtomicBool,
    workers: usize,
    keep_going: bool,
    last_number: u64,
}

impl Local {
    /// A board for a search of which this is left.
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

    fn try_take_from(&self, state: &mut State) -> Taken<'_> {
        if self.is_stopped() {
            return Taken::Never;
        }
        if let Some(waiting) = state.next(self.workers, self.failing.load(Relaxed)) {
            let piece = waiting.piece.clone();
            let ticket = state.hand_out(waiting);
            self.supply.store(state.supply(), Relaxed);
            return Taken::Piece(Job { board: self, ticket, closed: false, piece });
        }
        if state.is_out() {
            return Taken::NotNow;
        }
        self.changed.notify_all();
        Taken::Never
    }

    /// Lets those who wait look again, after a change.
    fn wake(&self, state: MutexGuard<'_, State>) {
        self.supply.store(state.supply(), Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    /// Where executions go by number, the budget is for those before this one.
    pub(crate) fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Adds what was done by a worker that gives its piece back as it was.
    pub(crate) fn add(&self, tally: Tally) {
        self.lock().total.add(tally);
    }

    /// What was committed so far.
    pub(crate) fn total(&self) -> Tally {
        self.lock().total.clone()
    }

    /// What was committed so far, and what is left if all workers were lost now.
    pub(crate) fn snapshot(&self) -> Remains {
        let state = self.lock();
        let State { queue, later, out, trunk, total, claim, .. } = &*state;
        let pieces = out.iter().flatten().chain(queue).chain(later.values().flatten()).cloned().collect();
        let claim = trunk.claim().max(*claim);
        let failed = total.found.as_ref().and_then(Found::known);
        Remains { pieces, trunk: trunk.clone(), total: total.clone(), claim, learnt: None, failed }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed) || self.told_to_stop.load(Relaxed)
    }

    /// What was done and what is left; call when all workers have stopped.
    pub(crate) fn remains(&self) -> Remains {
        let mut state = self.lock();
        let State { queue, later, trunk, total, claim, .. } = &mut *state;
        let pieces = mem::take(queue).into_iter().chain(mem::take(later).into_values().flatten()).collect();
        let (trunk, total) = (mem::take(trunk), mem::take(total));
        let claim = trunk.claim().max(*claim);
        let failed = total.found.as_ref().and_then(Found::known);
        Remains { pieces, trunk, total, claim, learnt: None, failed }
    }
}

impl Board for Local {
    fn take(&self) -> Option<Job<'_>> {
        let mut state = self.lock();
        loop {
            match self.try_take_from(&mut state) {
                Taken::Piece(job) => return Some(job),
                Taken::Never => return None,
                Taken::NotNow => {
                    self.hungry(1);
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    self.hungry(-1);
                }
            }
        }
    }

    fn try_take(&self) -> Taken<'_> {
        self.try_take_from(&mut self.lock())
    }

    fn hungry(&self, more: isize) {
        self.hungry.fetch_add(more, Relaxed);
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
        let under = state.out[job.ticket].as_ref().expect("raddle bug: a commit without a piece").under;
        if tally.found.is_some() && !self.keep_going {
            self.failing.store(true, Relaxed);
        }
        state.total.add(tally);
        state.claim = state.claim.max(claim);
        let (under, taken) = match given {
            Given::Nothing => (under, None),
            Given::Pieces(pieces) => {
                pieces.into_iter().for_each(|piece| state.put(Waiting { piece, under }));
                (under, None)
            }
            Given::Levels(levels) => {
                let (under, taken) = state.trunk.grow(under, levels);
                (under, Some(taken))
            }
        };
        later.into_iter().for_each(|piece| state.put(Waiting { piece, under: None }));
        match then {
            Then::GoesOn(piece) => state.out[job.ticket] = Some(Waiting { piece, under }),
            Then::Leaves(piece) => {
                state.close(job.ticket);
                state.queue.push_front(Waiting { piece, under });
                job.closed = true;
            }
            Then::TakesTurns(piece) => {
                state.close(job.ticket);
                state.put_back(Waiting { piece, under });
                job.closed = true;
            }
            Then::AllDone(claim) => {
                state.close(job.ticket);
                state.queue.clear();
                state.note(claim);
                job.closed = true;
                self.stopped.store(true, Relaxed);
            }
            Then::Done(claim) => {
                let closed = state.close(job.ticket).piece;
                if let (Some(place), Piece::Reduced(piece)) = (under, closed) {
                    let untold = taken.is_none() && piece.is_untold();
                    state.trunk.finish(place, taken.unwrap_or(piece.taken()), untold);
                } else if let (Some(place), Some(taken)) = (under, taken) {
                    state.trunk.finish(place, taken, false);
                }
                state.note(claim);
                job.closed = true;
            }
        }
        self.wake(state);
    }

    fn offer(&self, job: &mut Job<'_>, news: News) {
        let mut state = self.lock();
        let out = state.out[job.ticket].as_mut().expect("raddle bug: an offer without a piece");
        let under = out.under.expect("raddle bug: news for above from a piece with nothing above");
        if let (Some(_), Piece::Reduced(piece)) = (&news.first, &mut out.piece) {
            piece.is_known();
        }
        if let Some(item) = news.first {
            state.trunk.know(under, item);
        }
        for (depth, plan) in news.plans {
            state.trunk.plan(under, depth, plan);
        }
        self.wake(state);
    }

    fn stop(&self) {
        // Under the lock, so that nobody who is about to wait misses it.
        let _state = self.lock();
        self.stopped.store(true, Relaxed);
        self.changed.notify_all();
    }

    fn settled(&self) -> bool {
        let state = self.lock();
        state.queue.is_empty() && state.later.is_empty() && state.trunk.is_empty() && !state.is_out()
    }

    fn depth(&self) -> usize {
        self.lock().supply().unsigned_abs()
    }

    fn first_failing(&self) -> Option<Place> {
        self.lock().first_failing()
    }

    fn lost(&self, ticket: usize) {
        let mut state = self.lock();
        let waiting = state.close(ticket);
        state.queue.push_front(waiting);
        self.wake(state);
    }
}
