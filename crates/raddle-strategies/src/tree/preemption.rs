//! Few preemptions first (iterative context bounding; Musuvathi and Qadeer, PLDI 2007): all orders without a preemption, then
//! all with one, then with two, and so on. Most bugs need one or two, so they are found early and with a short story.
//!
//! **What a preemption is.** Somebody is running: the task whose step was decided last; before the first decision, the task that
//! took the first step that needed none, if any did. If it could go on in the ordinary way, to let another task go on is a
//! preemption. All else is free:
//!
//! - a switch away from a task that is blocked or has ended;
//! - a switch away from a task that has just yielded: it asked for it;
//! - a switch away from a task that could only end its wait by time or for no reason: it is blocked, and whether its time has come
//!   is not up to the scheduler;
//! - the running task itself, whichever way out of its wait or whichever message it takes: nobody is switched;
//! - data choices, which do not change who is running either.
//!
//! That another task's wait ends by time or for no reason while the running one could go on is a preemption like any other.
//!
//! **Iterations.** An execution with exactly `b` preemptions is run in iteration `b` and in no other. Iteration `b` walks the
//! subtrees that begin with a `b`-th preemption, depth-first and by free choices only; the preemptions that it passes by are
//! the work of iteration `b + 1`, kept in a frontier. So the first failure is one with the fewest preemptions. An iteration is a
//! [stage](raddle_engine::piece::Piece::stage) of the search: this strategy does one piece of one of them, and the board begins the next
//! when all pieces are done. Several workers share an iteration, and which of its failures is found first is up to them.
//!
//! **Caching.** Two prefixes with the same happens-before relation lead to the same state. Where the same task is running as
//! well, or to switch is free, what lies beyond costs the same too, so the second one is given up. The one that was entered
//! first had at most as many preemptions, because iterations come in order: so nothing is lost, at any bound. Prefixes are told
//! apart by a hash of 64 bits. From where a wait could end by time or for no reason, nothing is given up: that happens-before
//! tells all there is to know of the clock has not been shown.
//!
//! **Memory** is bounded. The frontier takes one or two bytes for each new point of an execution, four where a preemption was
//! passed by, and may have 256 MiB; if that is not enough, the search ends after the iteration with the claim that belongs to its
//! bound. The cache keeps at most four million prefixes; those that come later are entered as often as they turn up. It is not
//! written down with a search that is stopped: one that is taken up again may run orders that are equivalent to earlier ones.

mod frontier;
mod later;
mod share;

use std::ops::Range;

use self::frontier::{Frontier, Level};
use self::later::Later;
use crate::states::visited::{Visited, is_odd};
use raddle_engine::facts::Fact;
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Decision, Equivalence, Needs, Next, Run, Sharing, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Class, Step, Trace};

/// What the work of the next iteration may take: some ten million executions of a small program.
const FRONTIER_BYTES: usize = 256 << 20;

/// Prefixes that are kept: about 72 MiB of them.
const MOST_SEEN: usize = 1 << 22;

/// All orders, those with few preemptions first.
#[derive(Debug)]
pub struct Preemption {
    most: u32,
    /// Every execution that is run now has so many preemptions.
    bound: u32,
    /// The branch below is to be walked next, and was not walked yet.
    placed: bool,
    /// The branch being walked.
    levels: Vec<Level>,
    /// So many of its levels stay as they are until the subtree is done.
    fixed: usize,
    /// So many of its levels were there in an earlier execution.
    known: usize,
    /// The work of this iteration.
    now: Frontier,
    /// The work of the next one.
    next: Later,
    /// A preemption was passed by that is not kept.
    left_out: bool,
    seen: Option<Visited>,
}

impl Preemption {
    /// Goes on until there is no order with more preemptions.
    #[must_use]
    pub fn unbounded() -> Self {
        Self::up_to(u32::MAX)
    }

    /// All orders with at most so many preemptions.
    #[must_use]
    pub fn up_to(most: u32) -> Self {
        Self {
            most,
            bound: 0,
            placed: true,
            levels: Vec::new(),
            fixed: 0,
            known: 0,
            now: Frontier::default(),
            next: Later::new(FRONTIER_BYTES),
            left_out: false,
            seen: Some(Visited::new(MOST_SEEN)),
        }
    }

    /// Also runs orders that are equivalent to others: each order once.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self { seen: None, ..self }
    }

    /// With so many bytes for the work of the next iteration.
    #[must_use]
    pub fn with_room(self, bytes: usize) -> Self {
        Self { next: Later::new(bytes), ..self }
    }

    /// Goes to the next branch of this piece.
    fn advance(&mut self) -> bool {
        self.placed = self.backtrack() || self.next_subtree();
        self.placed
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

    /// Goes to the next subtree.
    fn next_subtree(&mut self) -> bool {
        let more = self.now.take(&mut self.levels);
        self.fixed = self.levels.len();
        more
    }

    /// Keeps the preemptions that the execution passed by and no earlier one did.
    fn keep(&mut self) {
        if self.levels[self.known..].iter().all(Level::is_free) {
            return;
        }
        self.left_out |= self.bound == self.most || !self.next.add(&self.levels, self.known);
    }
}

impl Strategy for Preemption {
    fn needs(&self) -> Needs {
        let equivalence = if self.seen.is_some() { Equivalence::States } else { Equivalence::Orders };
        Needs { equivalence, ..Needs::exhaustive("preemption") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.placed && !self.advance() {
            return Next::Done(self.claim());
        }
        self.placed = false;
        prefix.extend(self.levels.iter().map(|level| Choice(level.choice)));
        self.known = self.levels.len();
        if let Some(seen) = &mut self.seen {
            seen.begin();
        }
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let alternatives = at.alternatives();
        let latest = running(so_far);
        let preempted = latest.and_then(|latest| own_choices(at, latest));
        let odd = self.levels.last().is_some_and(|level| level.odd) || offers_odd_ways(at);
        if let (Some(seen), false) = (&mut self.seen, odd) {
            // At a data choice nobody is switched, so it goes on to matter who is running.
            let matters = preempted.is_some() || matches!(at, Point::Data { .. });
            let who = latest.filter(|_| matters).map_or(0, |latest| u64::from(latest.task.number()) + 1);
            if !seen.enter_after(so_far, who) {
                return Decision::Prune;
            }
        }
        let free = preempted.unwrap_or(0..alternatives);
        let choice = free.start;
        self.levels.push(Level { choice, alternatives, free, odd });
        Decision::Take(Choice(choice))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        self.keep();
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

/// The choices of the running task, whose latest step is given, if a switch to another one would be a preemption here.
fn own_choices(at: &Point<'_>, latest: &Step) -> Option<Range<u32>> {
    let Point::Actions(actions) = at else { return None };
    if latest.op.class == Class::Yield {
        return None;
    }
    // By task in order, so those of one task stand together.
    let from = actions.iter().position(|action| action.task == latest.task)?;
    let own = actions[from..].iter().take_while(|action| action.task == latest.task);
    let goes_on = own.clone().any(|action| !is_odd(action.variant));
    let place = |at: usize| u32::try_from(at).expect("raddle bug: more than 2^32 actions");
    goes_on.then(|| place(from)..place(from + own.count()))
}

fn offers_odd_ways(at: &Point<'_>) -> bool {
    matches!(at, Point::Actions(actions) if actions.iter().any(|action| is_odd(action.variant)))
}

#[cfg(test)]
mod tests;
