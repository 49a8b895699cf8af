//! Snapshots: copies of the program along the path of the latest execution. The next execution continues from one of them.
//!
//! Each snapshot is at the point that a prefix of the choices of the latest execution leads to. The next execution continues from the
//! deepest snapshot on the part that both have in common; deeper ones are dropped. Snapshots change only the time of a search, not its
//! result.
//!
//! In depth-first order a search needs at most as many copies as executions: a point with k alternatives is copied k - 1 times, since the
//! last alternative uses the snapshot itself. A strategy that returns to few of its points would waste most copies. So the more points an
//! execution passes, the larger is the [distance](Gains) between snapshots, and the search makes none while they save less than they cost.

use crate::system::System;
use crate::trace::Mark;

/// The snapshots, deepest last.
#[derive(Debug)]
#[doc(hidden)]
pub struct SnapshotStack<S> {
    stack: Vec<Snapshot<S>>,
    /// Snapshots that are not used any more: memory for the next ones.
    spare: Vec<S>,
    /// The seed of all executions that the snapshots belong to.
    seed: Option<u64>,
    /// As far as is known, the program can be copied.
    able: bool,
    gains: Gains,
}

#[derive(Debug)]
struct Snapshot<S> {
    /// `None` while an execution that continues from here has it, and has not yet said whether others will.
    system: Option<S>,
    /// The number of choices that lead here.
    depth: usize,
    alternatives: u32,
    /// How many alternatives were begun. A copy after the last one would be useless.
    begun: u32,
    /// The position in the trace.
    mark: Mark,
}

/// The largest number of snapshots. Beyond that, some near the root are dropped.
const MOST: usize = 256;

/// The largest number of old snapshots whose memory is kept.
const MOST_SPARE: usize = 32;

impl<S> Default for SnapshotStack<S> {
    fn default() -> Self {
        Self { stack: Vec::new(), spare: Vec::new(), seed: None, able: true, gains: Gains::default() }
    }
}

impl<S: System> SnapshotStack<S> {
    /// Whether executions continue from snapshots.
    pub(super) fn has_copies(&self) -> bool {
        self.able
    }

    /// Whether an execution uses the snapshots. An execution that begins at the root with another seed does not change them; one that has a
    /// prefix and another seed cannot use them.
    pub(super) fn follows(&mut self, seed: u64, from_root: bool) -> bool {
        let same = *self.seed.get_or_insert(seed) == seed;
        if !same && !from_root {
            self.stack.clear();
            self.seed = Some(seed);
        }
        same || !from_root
    }

    /// Called when an execution begins that has this many choices in common with the latest. `leaves` says whether it takes another choice
    /// at a depth.
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

    /// Takes the deepest snapshot. Returns it with its number of choices and its position in the trace. The caller must [give it
    /// back](Self::give_back) before it continues from there.
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

    /// Gives back the snapshot that the execution has taken, if it has taken one here, with the number of alternatives that it has begun.
    /// The snapshot stays if alternatives are left and the execution is not `over`.
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

    /// Notes that so many more alternatives of the point at this depth were begun without a copy.
    pub(super) fn begin_more(&mut self, depth: usize, alternatives: u32) {
        if let Some(last) = self.stack.last_mut().filter(|last| last.depth == depth) {
            last.begun += alternatives;
        }
    }

    /// Called when an execution is over.
    pub(super) fn leave(&mut self, system: S) {
        if self.able && !self.stack.is_empty() && self.spare.len() < MOST_SPARE {
            self.spare.push(system);
        }
    }

    /// Called when an execution passes the only point beyond its first `own` choices that the next one may continue from.
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

    /// Called when an execution passes a point with several alternatives.
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

/// Makes a copy, in the memory of an old snapshot if there is one.
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

/// Measures what snapshots save, over some executions at a time.
///
/// With a snapshot at every n-th of the p points that an execution passes, it makes p / n copies, and repeats n / 2 steps. A copy costs
/// about as much as a few steps, so n near the root of p is best.
#[derive(Debug)]
struct Gains {
    /// The distance between snapshots, in choices.
    spacing: usize,
    /// The number of executions until snapshots are made again.
    resting: u32,
    /// The length of the latest such pause.
    rest: u32,
    executions: u32,
    window: u32,
    /// Steps that were not repeated.
    saved: u64,
    copies: u64,
    passed: u64,
}

/// The savings are evaluated after at most so many executions; earlier at first.
const WINDOW: u32 = 64;

/// The number of steps that a copy has to save.
const COPY: u64 = 2;

/// The shortest and the longest pause, in executions.
const REST: (u32, u32) = (512, 1 << 16);

impl Default for Gains {
    fn default() -> Self {
        // The first execution shows how many points there are. Until then there is one snapshot, at the first point.
        Self { spacing: usize::MAX, resting: 0, rest: REST.0, executions: 0, window: 1, saved: 0, copies: 0, passed: 0 }
    }
}

impl Gains {
    /// Called when an execution begins. Returns true if snapshots are not worth their cost from now on.
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
