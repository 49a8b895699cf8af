//! Few preemptions first (iterative context bounding; Musuvathi and Qadeer, PLDI 2007): all executions without a preemption, then all
//! with one, then with two, and so on. Most bugs need one or two. They are found early, with a short explanation.
//!
//! **What a preemption is.** The running task is the one whose step was decided last. Before the first decision, it is the task
//! that took the first step without a decision, if there is one. If the running task is enabled in the ordinary way, letting another task
//! step is a preemption. All else is free:
//!
//! - a switch away from a task that is blocked or has ended;
//! - a switch away from a task that has just yielded;
//! - a switch away from a task that could only continue by a timeout or a spurious wakeup: it is blocked, and the scheduler does not decide
//!   when its time has come;
//! - any alternative of the running task itself (a timeout, a message): there is no switch;
//! - data choices, which do not change the running task either.
//!
//! If another task's wait ends by a timeout or a spurious wakeup while the running task is enabled, that is a preemption as well.
//!
//! **Iterations.** An execution with exactly `b` preemptions is run in iteration `b` and in no other. Iteration `b` walks the subtrees
//! that begin with a `b`-th preemption, depth-first and by free choices only. It stores the preemptions that it skips in a frontier,
//! for iteration `b + 1`. So the first failure is one with the fewest preemptions. An iteration is a
//! [stage](raddle_engine::piece::Piece::stage) of the search: this strategy runs one piece of one iteration, and the board begins the next
//! iteration when all pieces are done. If several workers share an iteration, it depends on timing which of its failures is found first.
//!
//! **Caching.** Two prefixes with the same happens-before relation lead to the same state. If also the same task is running, or a switch
//! is free, then all continuations have the same cost, so the second prefix is pruned. Iterations come in order, so the first
//! prefix had at most as many preemptions. Hence nothing is lost, at any bound. Prefixes are identified by a 64-bit hash. Nothing is
//! pruned from a point on at which a wait could end by a timeout or a spurious wakeup, because it was not shown that the
//! happens-before relation determines the clock.
//!
//! **Memory** is bounded. The frontier takes one or two bytes for each new point of an execution, four at a skipped preemption, and at
//! most 256 MiB. If that is not enough, the search ends after the iteration, and claims only its bound. The cache stores at most four
//! million prefixes; later ones are not pruned. The cache is not saved with an interrupted search, so a resumed search may run
//! executions that are equivalent to earlier ones.

mod frontier;
mod next_iteration;
mod share;

use std::ops::Range;

use raddle_engine::facts::Fact;
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Decision, Equivalence, Needs, Next, Run, Sharing, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Class, Step, Trace};

use self::frontier::{PreemptionFrontier, PreemptionLevel};
use self::next_iteration::NextIteration;
use crate::states::visited::{Visited, is_timeout_or_spurious};

/// The memory for the next iteration: enough for about ten million executions of a small program.
const FRONTIER_BYTES: usize = 256 << 20;

/// The largest number of cached prefixes: about 72 MiB.
const MAX_PREFIXES: usize = 1 << 22;

/// Runs all executions, those with few preemptions first.
#[derive(Debug)]
pub struct Preemption {
    most: u32,
    /// Every execution of the current piece has so many preemptions.
    bound: u32,
    /// True if `levels` is the branch to be walked next.
    path_ready: bool,
    /// The current branch.
    levels: Vec<PreemptionLevel>,
    /// So many of its levels stay as they are until the subtree is done.
    fixed: usize,
    /// So many of its levels were part of an earlier execution.
    known: usize,
    /// The rest of this iteration's piece.
    remaining: PreemptionFrontier,
    /// The frontier for the next iteration.
    next: NextIteration,
    /// Some skipped preemption was not stored.
    dropped_some: bool,
    visited: Option<Visited>,
}

impl Preemption {
    /// Continues until no execution has more preemptions.
    #[must_use]
    pub fn unbounded() -> Self {
        Self::up_to(u32::MAX)
    }

    /// Runs all executions with at most so many preemptions.
    #[must_use]
    pub fn up_to(most: u32) -> Self {
        Self {
            most,
            bound: 0,
            path_ready: true,
            levels: Vec::new(),
            fixed: 0,
            known: 0,
            remaining: PreemptionFrontier::default(),
            next: NextIteration::new(FRONTIER_BYTES),
            dropped_some: false,
            visited: Some(Visited::new(MAX_PREFIXES)),
        }
    }

    /// Runs each execution once, also those that are equivalent to others.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self { visited: None, ..self }
    }

    /// Sets the memory for the next iteration, in bytes.
    #[must_use]
    pub fn with_room(self, bytes: usize) -> Self {
        Self { next: NextIteration::new(bytes), ..self }
    }

    /// Prepares the next branch of this piece. Returns false if nothing is left.
    fn advance(&mut self) -> bool {
        self.path_ready = self.backtrack() || self.next_subtree();
        self.path_ready
    }

    /// Takes the next free choice of the subtree.
    fn backtrack(&mut self) -> bool {
        while self.levels.len() > self.fixed {
            let level = self.levels.last_mut().expect("raddle bug: no level above the fixed ones");
            if level.choice + 1 < level.free.end {
                level.choice += 1;
                return true;
            }
            self.levels.pop();
        }
        false
    }

    /// Takes the next subtree.
    fn next_subtree(&mut self) -> bool {
        let more = self.remaining.take(&mut self.levels);
        self.fixed = self.levels.len();
        more
    }

    /// Stores the preemptions that this execution skipped, and no earlier one did.
    fn store_skipped(&mut self) {
        if self.levels[self.known..].iter().all(PreemptionLevel::is_free) {
            return;
        }
        self.dropped_some |= self.bound == self.most || !self.next.add(&self.levels, self.known);
    }
}

impl Strategy for Preemption {
    fn needs(&self) -> Needs {
        let equivalence = if self.visited.is_some() { Equivalence::States } else { Equivalence::Orders };
        Needs { equivalence, ..Needs::exhaustive("preemption") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.path_ready && !self.advance() {
            return Next::Done(self.claim());
        }
        self.path_ready = false;
        prefix.extend(self.levels.iter().map(|level| Choice(level.choice)));
        self.known = self.levels.len();
        if let Some(visited) = &mut self.visited {
            visited.begin();
        }
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let alternatives = at.alternatives();
        let latest = running(so_far);
        let preempted = latest.and_then(|latest| own_choices(at, latest));
        let has_timeout_or_spurious =
            self.levels.last().is_some_and(|level| level.has_timeout_or_spurious) || offers_timeout_or_spurious(at);
        if let (Some(visited), false) = (&mut self.visited, has_timeout_or_spurious) {
            // A data choice switches no task, so the running task still matters.
            let matters = preempted.is_some() || matches!(at, Point::Data { .. });
            let who = latest.filter(|_| matters).map_or(0, |latest| u64::from(latest.task.number()) + 1);
            if !visited.visit_after(so_far, who) {
                return Decision::Prune;
            }
        }
        let free = preempted.unwrap_or(0..alternatives);
        let choice = free.start;
        self.levels.push(PreemptionLevel { choice, alternatives, free, has_timeout_or_spurious });
        Decision::Take(Choice(choice))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        self.store_skipped();
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Preemption {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Preemption {
    fn covered(&self, stage: u32) -> Option<Bound> {
        let most = stage.checked_sub(1)?;
        Some(Bound { most, unit: Unit::Preemption })
    }

    fn about_failure(&self) -> Option<Fact> {
        Some(Fact::FoundWith(self.bound, Unit::Preemption))
    }
}

/// The step that made its task the running one.
fn running(so_far: &Trace) -> Option<&Step> {
    let decided = |step: &&Step| step.alternatives > 0 && step.op.class != Class::Choice;
    let at_the_start = || so_far.steps().iter().find(|step| step.alternatives == 0);
    so_far.steps().iter().rev().find(decided).or_else(at_the_start)
}

/// The alternatives of the running task, if a switch to another task would be a preemption. `latest` is the latest step of the running task.
fn own_choices(at: &Point<'_>, latest: &Step) -> Option<Range<u32>> {
    let Point::Actions(actions) = at else { return None };
    if latest.op.class == Class::Yield {
        return None;
    }
    // Actions are ordered by task, so those of one task are adjacent.
    let from = actions.iter().position(|action| action.task == latest.task)?;
    let own = actions[from..].iter().take_while(|action| action.task == latest.task);
    let goes_on = own.clone().any(|action| !is_timeout_or_spurious(action.variant));
    let place = |at: usize| u32::try_from(at).expect("raddle bug: more than 2^32 actions");
    goes_on.then(|| place(from)..place(from + own.count()))
}

fn offers_timeout_or_spurious(at: &Point<'_>) -> bool {
    matches!(at, Point::Actions(actions) if actions.iter().any(|action| is_timeout_or_spurious(action.variant)))
}

#[cfg(test)]
mod tests;
