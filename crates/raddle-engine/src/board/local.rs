//! The board of one process.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Beat, Board, Commit, Job, Place, Taken, Tally, Then};
use crate::piece::Piece;
use crate::replay::Script;
use crate::search::Limits;
use crate::strategy::dpor::{News, Trunk};
use crate::strategy::{Claim, Given};

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
    stopped: AtomicBool,
    workers: usize,
    keep_going: bool,
}

/// What is left of a search, as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct Remains {
    pub(crate) pieces: Vec<Waiting>,
    pub(crate) trunk: Trunk,
    pub(crate) total: Tally,
    pub(crate) claim: Claim,
}

/// A piece that nobody has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub piece: Piece,
    /// The place in the trunk that it hangs under.
    pub under: Option<usize>,
}

struct State {
    /// What can be taken now.
    queue: VecDeque<Waiting>,
    /// What is in the queue and what is out belongs to this stage.
    stage: u32,
    /// What comes after it, by stage.
    later: BTreeMap<u32, VecDeque<Waiting>>,
    trunk: Trunk,
    /// By ticket: what it was at the latest commit.
    out: Vec<Option<Waiting>>,
    total: Tally,
    /// The worst that was said of any piece.
    claim: Claim,
    /// Executions that may still be run and that nobody has reserved.
    left: Option<u64>,
    /// The executions before this number are run by one worker; nothing else is handed out before they are.
    warm_up: u64,
    warming: bool,
}

impl Local {
    /// A board for a search that begins with `piece`.
    pub(crate) fn new(remains: Remains, limits: &Limits, warm_up: u64, workers: usize) -> Self {
        let Remains { pieces, trunk, total, claim } = remains;
        let mut state = State {
            queue: VecDeque::new(),
            stage: pieces.iter().map(|waiting| waiting.piece.stage()).min().unwrap_or(0),
            later: BTreeMap::new(),
            trunk,
            out: Vec::new(),
            total,
            claim,
            left: limits.executions,
            warm_up,
            warming: false,
        };
        pieces.into_iter().for_each(|waiting| state.put(waiting));
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            hungry: AtomicIsize::new(0),
            supply: AtomicIsize::new(0),
            failing: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            workers,
            keep_going: limits.keep_going,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_take_from(&self, state: &mut State) -> Taken<'_> {
        if self.stopped.load(Relaxed) {
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

    /// What was committed so far.
    pub(crate) fn total(&self) -> Tally {
        self.lock().total.clone()
    }

    /// What was done and what is left; call when all workers have stopped.
    pub(crate) fn remains(&self) -> Remains {
        let mut state = self.lock();
        let State { queue, later, trunk, total, claim, .. } = &mut *state;
        let pieces = mem::take(queue).into_iter().chain(mem::take(later).into_values().flatten()).collect();
        let (trunk, total) = (mem::take(trunk), mem::take(total));
        let claim = trunk.claim().max(*claim);
        Remains { pieces, trunk, total, claim }
    }
}

impl Remains {
    /// A search of which nothing has been done.
    pub(crate) fn of_all(piece: Piece, trunk: Trunk) -> Self {
        let pieces = vec![Waiting { piece, under: None }];
        Self { pieces, trunk, total: Tally::default(), claim: Claim::Exhausted }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.trunk.is_empty()
    }

    /// The stage that is not done; 0 if there are none.
    pub(crate) fn stage(&self) -> u32 {
        self.pieces.iter().map(|waiting| waiting.piece.stage()).min().unwrap_or(0)
    }

    /// What was done.
    #[must_use]
    pub fn total(&self) -> &Tally {
        &self.total
    }

    /// Whether it can have come from a search: a file may say anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let hangs = |waiting: &Waiting| waiting.under.is_none_or(|place| self.trunk.has(place));
        self.trunk.is_sound() && self.pieces.iter().all(|waiting| hangs(waiting) && waiting.piece.is_sound())
    }
}

impl State {
    fn next(&mut self, workers: usize, failing: bool) -> Option<Waiting> {
        if self.left == Some(0) || self.warming {
            return None;
        }
        if failing {
            self.drop_what_comes_later();
        }
        let all_done = self.queue.is_empty() && !self.is_out();
        if all_done && let Some((stage, pieces)) = self.later.pop_first() {
            (self.stage, self.queue) = (stage, pieces);
        }
        let next = match self.queue.pop_front() {
            Some(waiting) => waiting,
            None if failing => return None,
            None => {
                let (place, subtree) = self.trunk.take()?;
                Waiting { piece: Piece::Reduced(subtree), under: Some(place) }
            }
        };
        let Piece::Numbers { from, to } = next.piece else { return Some(next) };
        let end = if from < self.warm_up { self.warm_up } else { from + self.block(workers) }.min(to);
        self.warming = from < self.warm_up;
        if end < to {
            self.queue.push_front(Waiting { piece: Piece::Numbers { from: end, to }, under: None });
        }
        Some(Waiting { piece: Piece::Numbers { from, to: end }, under: None })
    }

    /// Adds a piece that nobody has had.
    fn put(&mut self, waiting: Waiting) {
        let stage = waiting.piece.stage();
        if stage == self.stage {
            self.queue.push_back(waiting);
        } else if self.claim == Claim::Exhausted {
            self.later.entry(stage).or_default().push_back(waiting);
        }
    }

    /// A piece is done. Where something of it was left out, nothing is begun that would build on it.
    fn note(&mut self, claim: Claim) {
        self.claim = self.claim.max(claim);
        if self.claim != Claim::Exhausted {
            self.later.clear();
        }
    }

    /// How many numbered executions are handed out at a time: few enough for all to end together.
    fn block(&self, workers: usize) -> u64 {
        self.left.map_or(64, |left| (left / (8 * workers as u64)).clamp(1, 256))
    }

    /// A failure was found: only what comes before it is still of interest.
    fn drop_what_comes_later(&mut self) {
        let Some(place) = self.first_failing() else { return };
        self.later.clear();
        self.queue.retain(|waiting| match (&waiting.piece, &place) {
            (Piece::Numbers { from, .. }, Place::Number(failing)) => from < failing,
            (piece, Place::Choices(choices)) => piece.may_precede(choices),
            _ => false,
        });
    }

    fn first_failing(&self) -> Option<Place> {
        let found = self.total.found.as_ref()?;
        Some(match (&found.number, &found.script) {
            (Some(number), _) => Place::Number(*number),
            // Nothing comes before it.
            (None, _) if found.probe => Place::Choices(Vec::new()),
            (None, Script::Choices { choices, .. }) => Place::Choices(choices.clone()),
            (None, _) => Place::Choices(Vec::new()),
        })
    }

    /// Pieces that wait for a worker.
    fn supply(&self) -> isize {
        isize::try_from(self.queue.len() + self.trunk.open()).unwrap_or(isize::MAX)
    }

    fn hand_out(&mut self, waiting: Waiting) -> usize {
        match self.out.iter().position(Option::is_none) {
            Some(ticket) => {
                self.out[ticket] = Some(waiting);
                ticket
            }
            None => {
                self.out.push(Some(waiting));
                self.out.len() - 1
            }
        }
    }

    fn is_out(&self) -> bool {
        self.out.iter().any(Option::is_some)
    }

    fn close(&mut self, ticket: usize) -> Waiting {
        let waiting = self.out[ticket].take().expect("raddle bug: a piece was closed twice");
        if matches!(waiting.piece, Piece::Numbers { from, .. } if from < self.warm_up) {
            self.warming = false;
        }
        waiting
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
        if self.stopped.load(Relaxed) {
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
