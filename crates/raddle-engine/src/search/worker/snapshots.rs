//! Copies of a program along the way that an execution went, for the next ones to go on from.
//!
//! Each snapshot is at the point that a prefix of the choices of the latest execution leads to. The next execution takes over
//! from the deepest copy on the part that both have in common; what lies beyond is dropped. Whether there are copies changes
//! nothing but the time a search takes.
//!
//! In depth-first order a search needs no more copies than it has executions: a point with k alternatives is copied k - 1 times,
//! since the last one goes on with the copy itself. Strategies that come back to few of the points they pass would copy in
//! vain, so the more points an execution passes, the wider the copies are [spaced](Gains); they rest where they save less
//! than they cost.

use crate::system::System;
use crate::trace::Mark;

/// The snapshots, deepest last.
#[derive(Debug)]
#[doc(hidden)]
pub struct SnapshotStack<S> {
    stack: Vec<Snapshot<S>>,
    /// Of executions that have ended: memory for the next copies.
    spare: Vec<S>,
    /// All executions that the copies stand for have this one.
    seed: Option<u64>,
    /// The program can be copied, as far as is known.
    able: bool,
    gains: Gains,
}

#[derive(Debug)]
struct Snapshot<S> {
    /// `None` while an execution that goes on from here has it, and has not said whether others will come.
    system: Option<S>,
    /// How many choices lead here.
    depth: usize,
    alternatives: u32,
    /// How many of them were begun; what is copied after the last one is copied in vain.
    begun: u32,
    /// What had happened by then.
    mark: Mark,
}

/// The most snapshots at a time; beyond that, some near the root are dropped.
const MOST: usize = 256;

/// The most old snapshots whose memory is reused.
const MOST_SPARE: usize = 32;

impl<S> Default for SnapshotStack<S> {
    fn default() -> Self {
        Self { stack: Vec::new(), spare: Vec::new(), seed: None, able: true, gains: Gains::default() }
    }
}

impl<S: System> SnapshotStack<S> {
    /// Whether executions go on from copies.
    pub(super) fn has_copies(&self) -> bool {
        self.able
    }

    /// Whether an execution has to do with the copies. One that begins at the root with other random numbers leaves them as they
    /// are; one that has a way to go with other numbers has no use for them.
    pub(super) fn follows(&mut self, seed: u64, from_root: bool) -> bool {
        let same = *self.seed.get_or_insert(seed) == seed;
        if !same && !from_root {
            self.stack.clear();
            self.seed = Some(seed);
        }
        same || !from_root
    }

    /// An execution begins that has this many choices in common with the latest; `leaves` says whether it takes another choice at a
    /// depth.
    pub(super) fn settle(&mut self, common: usize, leaves: impl Fn(usize) -> bool) {
        if !self.able {
            return;
        }
        let within = self.stack.iter().rposition(|kept| kept.depth <= common).map_or(0, |last| last + 1);
        for kept in self.stack.drain(within..) {
            if self.spare.len() < MOST_SPARE {
                self.spare.extend(kept.system);
            }
        }
        if let Some(last) = self.stack.last_mut() {
            last.begun += u32::from(leaves(last.depth));
        }
        if self.gains.rest_now() {
            self.stack.clear();
        }
    }

    /// The deepest copy, how many choices lead there, and what has happened until then. To be [given back](Self::give_back) before it
    /// goes on from there.
    pub(super) fn go_on(&mut self) -> Option<(S, usize, Mark)> {
        loop {
            let last = self.stack.last_mut()?;
            let Some(system) = last.system.take() else {
                self.stack.pop();
                continue;
            };
            self.gains.saved += last.mark.steps() as u64;
            return Some((system, last.depth, last.mark));
        }
    }

    /// An execution goes on from the copy that it was given, if it was given one here, and has begun so many more alternatives. A copy
    /// stays if there are others and the execution is not `over`.
    pub(super) fn give_back(&mut self, system: &mut S, depth: usize, begun: u32, over: bool) -> bool {
        let Some(last) = self.stack.last_mut().filter(|last| last.depth == depth && last.system.is_none()) else {
            return false;
        };
        last.begun += begun;
        if over || last.begun >= last.alternatives {
            self.stack.pop();
            return true;
        }
        self.gains.copies += 1;
        last.system = copy(system, &mut self.spare);
        true
    }

    /// So many more alternatives of the point at this depth were begun without a copy.
    pub(super) fn begin_more(&mut self, depth: usize, alternatives: u32) {
        if let Some(last) = self.stack.last_mut().filter(|last| last.depth == depth) {
            last.begun += alternatives;
        }
    }

    /// An execution is over.
    pub(super) fn leave(&mut self, system: S) {
        if self.able && !self.stack.is_empty() && self.spare.len() < MOST_SPARE {
            self.spare.push(system);
        }
    }

    /// An execution passes a point that the next one may go on from, and from no other one beyond its first `own` choices that it
    /// has passed.
    pub(super) fn keep(&mut self, system: &mut S, depth: usize, own: usize, alternatives: u32, mark: Mark) {
        if !self.able || self.gains.resting > 0 {
            return;
        }
        self.gains.copies += 1;
        let Some(system) = copy(system, &mut self.spare) else {
            self.able = false;
            return;
        };
        let others = self.stack.iter().rposition(|kept| kept.depth < own).map_or(0, |last| last + 1);
        self.stack.truncate(others);
        self.stack.push(Snapshot { system: Some(system), depth, alternatives, begun: 1, mark });
    }

    /// An execution passes a point with several alternatives.
    pub(super) fn pass(&mut self, system: &mut S, depth: usize, alternatives: u32, mark: Mark) {
        let near = self.stack.last().is_some_and(|last| depth - last.depth.min(depth) < self.gains.spacing);
        if !self.able || near || self.gains.resting > 0 {
            self.gains.passed += u64::from(self.able);
            return;
        }
        self.gains.passed += 1;
        self.gains.copies += 1;
        let Some(system) = copy(system, &mut self.spare) else {
            self.able = false;
            return;
        };
        if self.stack.len() == MOST {
            let mut place = 0;
            self.stack.retain(|_| {
                place += 1;
                place > MOST / 2 || place % 2 == 1
            });
        }
        self.stack.push(Snapshot { system: Some(system), depth, alternatives, begun: 1, mark });
    }
}

/// A copy, in the memory of one that is not used any more if there is one.
fn copy<S: System>(system: &mut S, spare: &mut Vec<S>) -> Option<S> {
    let snapshots = system.snapshots()?;
    Some(match spare.pop() {
        Some(mut spare) => {
            snapshots.fork_onto(&mut spare);
            spare
        }
        None => snapshots.fork(),
    })
}

/// What the copies bring, learnt from a number of executions at a time.
///
/// With copies at every n-th of the p points that an execution passes on its own, it makes p / n of them, and takes n / 2 steps
/// again. A copy costs about as much as a few steps, so n near the root of p is best.
#[derive(Debug)]
struct Gains {
    /// Copies are at least so many choices apart.
    spacing: usize,
    /// Executions until copies are made again.
    resting: u32,
    /// How long that was last.
    rest: u32,
    executions: u32,
    window: u32,
    /// Steps that were not run again.
    saved: u64,
    copies: u64,
    passed: u64,
}

/// Executions after which it is thought over, at most; less at first.
const WINDOW: u32 = 64;

/// Steps that a copy has to save.
const COPY: u64 = 2;

/// Executions to rest for at first, and at most.
const REST: (u32, u32) = (512, 1 << 16);

impl Default for Gains {
    fn default() -> Self {
        // The first execution shows how far it is; until then there is one copy, at the first point.
        Self { spacing: usize::MAX, resting: 0, rest: REST.0, executions: 0, window: 1, saved: 0, copies: 0, passed: 0 }
    }
}

impl Gains {
    /// One more execution begins; whether copies are not worth their while from here on.
    fn rest_now(&mut self) -> bool {
        if self.resting > 0 {
            self.resting -= 1;
            return false;
        }
        self.executions += 1;
        if self.executions <= self.window {
            return false;
        }
        let Self { saved, copies, passed, .. } = *self;
        let passed = usize::try_from(passed / u64::from(self.window)).unwrap_or(usize::MAX);
        self.spacing = passed.isqrt().max(1);
        let vain = self.window == WINDOW && saved < COPY * copies;
        self.window = (2 * self.window).min(WINDOW);
        self.rest = if vain { (self.rest * 2).min(REST.1) } else { REST.0 };
        self.resting = if vain { self.rest } else { 0 };
        (self.executions, self.saved, self.copies, self.passed) = (1, 0, 0, 0);
        vain
    }
}
