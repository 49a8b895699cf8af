//! Partial-order reduction: executions that differ only in the order of independent steps are equivalent, and one of them is
//! enough.
//!
//! Three algorithms share everything but what they make of a race. [`Dpor::optimal`] runs exactly one execution for each trace
//! (source sets and wakeup trees; Abdulla, Aronis, Jonsson, Sagonas, POPL 2014 and JACM 2017; where actors choose among messages it
//! gives up some more in the middle), [`Dpor::source`] gives up many (source sets and sleep sets, same papers), [`Dpor::classic`] runs some
//! traces more than once
//! (persistent sets, Flanagan and Godefroid, POPL 2005; with sleep sets or
//! [without](Dpor::without_sleep_sets)).
//!
//! Each execution is looked at when it is over, given up or not. For every two events that are in a race (`e`, `e'`), it is
//! planned at `e`'s node to run `v`, after which `e'` comes before `e`. In the papers' letters: the path is `E`, a node's
//! prefix `E'`, its `sleep` the sleep set `Sleep(E')`, its `tree` the wakeup tree `wut(E')` or, with single items, the set
//! `backtrack(E')`; `v` is `reversal::sequence`.
//!
//! Where we differ: an event keeps which way out of a wait and which value it was, and all of them are run where one is. A
//! task that is blocked at the end takes part with what it waits to do. What cannot be known before (a reversed wait that
//! turns out to be not possible on objects that do not say who gives and who takes) is tried, and if it is not possible the
//! execution goes on without it. A receive that takes the oldest message, and that reversed takes another, is taken to depend on
//! everything. A wait that has a time is like one that is never blocked: put before what let it go on, it ends by time.
//!
//! Where executions fail: an execution that fails at an event ends there, so nothing is seen of what others would have done to it
//! afterwards. The others go on from that event's node without it, until one of them does not fail. The event sleeps there, but
//! nothing is taken to be done because it commutes with it, and it is no part of a reversing sequence. So executions that end well
//! and failures (by what failed and what happened before that) are covered, one of each trace, as far as generated programs show;
//! not how far the others had come by the time of a failure. Executions that are given up may be among these. Two cases are not
//! covered: a failure with nobody at fault but the ends of several threads, seen by one that joined them while others run on, and what
//! comes after a data race, hide what would have come of the other order of those ends or accesses.
//!
//! Memory: the nodes of the current path. Nothing is kept of executions that are done.

mod classic;
mod found;
mod guided;
mod kept;
mod messages;
mod optimal;
mod path;
mod plan;
mod races;
mod reversal;
mod share;
mod shared_tree;
mod source;
mod wakeup;

use std::collections::HashSet;
use std::mem;

use self::found::Found;
pub use self::guided::{Backtrack, NoGuide, RaceGuide};
use self::kept::Items;
use self::path::Node;
use self::plan::Plan;
pub(crate) use self::share::{PlansForAncestors, Subtree};
pub(crate) use self::shared_tree::SharedTree;
use self::wakeup::{Branch, Item};
use raddle_engine::estimate::Branching;
use raddle_engine::order::before::{Before, Race};
use raddle_engine::order::events::{Events, merge};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::strategy::{After, ByPiece, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// One execution for each class of equivalent ones, or little more. `G` may say that some races are not worth reversing.
#[derive(Debug)]
pub struct Dpor<G = NoGuide> {
    algorithm: Algorithm,
    mistake: Option<Mistake>,
    /// Whether what was run from a node is left alone beyond it until something wakes it.
    sleeps: bool,
    /// The path that is to be run next is known; at first it is empty.
    placed: bool,
    /// Nothing is left of this worker's piece.
    exhausted: bool,
    nodes: Vec<Node>,
    /// How many of them lie above this worker's piece: what is left there is not for this worker.
    frozen: usize,
    /// Plans for those.
    plans: PlansForAncestors,
    /// Those that were told.
    told: HashSet<(usize, Plan)>,
    /// What the event at the last of those touches has not been told yet.
    untold: bool,
    /// See [`deviations`](Self::deviations).
    bound: Option<u32>,
    /// Something was left out because of that.
    cut: bool,
    /// Nodes that are done with, for their memory.
    spare: Vec<Node>,
    /// What is to be run beyond the latest node.
    beyond: Vec<Branch>,
    /// The first event that the execution before did not have.
    fresh: usize,
    /// How many events are as they were in the execution before.
    kept: usize,
    found: Found,
    items: Items,
    /// The event with which the execution failed while others could have gone on.
    failed: Option<usize>,
    events: Events,
    before: Before,
    races: Vec<Race>,
    sequence: Vec<u32>,
    /// Says which races are worth reversing; `None` if all are.
    guide: Option<G>,
    /// The choices of the first execution, as far as they are given.
    script: Vec<Choice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Optimal,
    Source,
    Classic,
}

/// Ways to get reduction wrong, for tests that must notice.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Executions that were given up are not looked at.
    SkipsBlocked,
    /// The reversing sequence ends at the second event of the race.
    CutsSequence,
    /// Sleep sets and wakeup trees keep the task and not what it does.
    KeepsTaskOnly,
}

impl Dpor {
    /// Exactly one complete execution for each trace, and none that is given up but where actors choose among messages.
    #[must_use]
    pub fn optimal() -> Self {
        Self::new(Algorithm::Optimal)
    }

    /// One complete execution for each trace, and some that are given up.
    #[must_use]
    pub fn source() -> Self {
        Self::new(Algorithm::Source)
    }

    /// At least one execution for each trace.
    #[must_use]
    pub fn classic() -> Self {
        Self::new(Algorithm::Classic)
    }
}

impl<G: RaceGuide> Dpor<G> {
    /// Leaves out what strays further than this from the first execution: the k-th alternative taken at a node, counted from 0,
    /// costs k, and the sum along an execution is at most `most`. Which alternative comes when is for the reduction to say, so
    /// this combines with any of them, and none is lost for good: with a bound that is large enough, all are run.
    #[must_use]
    pub fn deviations(mut self, most: u32) -> Self {
        self.bound = Some(most);
        self
    }

    /// With persistent sets alone, for comparison.
    ///
    /// # Panics
    ///
    /// If the algorithm is not the [classic](Self::classic) one: the others are nothing without sleep sets.
    #[must_use]
    pub fn without_sleep_sets(self) -> Self {
        assert_eq!(self.algorithm, Algorithm::Classic, "raddle: only the classic reduction can do without sleep sets");
        Self { sleeps: false, ..self }
    }

    /// With a mistake: for tests only.
    #[doc(hidden)]
    #[must_use]
    pub fn with_mistake(self, mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), ..self }
    }

    fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            mistake: None,
            sleeps: true,
            placed: true,
            exhausted: false,
            nodes: Vec::new(),
            frozen: 0,
            plans: PlansForAncestors::default(),
            told: HashSet::new(),
            untold: false,
            bound: None,
            cut: false,
            spare: Vec::new(),
            beyond: Vec::new(),
            fresh: 0,
            kept: 0,
            found: Found::default(),
            items: Items::default(),
            failed: None,
            events: Events::default(),
            before: Before::anonymous(),
            races: Vec::new(),
            sequence: Vec::new(),
            guide: None,
            script: Vec::new(),
        }
    }

    fn exact(&self) -> bool {
        self.mistake != Some(Mistake::KeepsTaskOnly)
    }

    /// The first event that the execution before did not have as it is now: what is done with a value counts for its question.
    fn changed(&self) -> usize {
        let is_value = |at: &usize| self.nodes.get(*at).is_some_and(Node::gives_value);
        (0..=self.fresh).rev().find(|at| *at == 0 || !is_value(at)).unwrap_or(0)
    }

    /// Only the first `len` events are as they were in the execution before.
    fn keep(&mut self, len: usize) {
        self.kept = len;
        if len == 0 {
            self.events.clear();
        }
        self.events.truncate(len);
        self.before.truncate(len);
    }

    /// Takes in what is new in the trace.
    fn follow(&mut self, trace: &Trace) {
        // A program that Raddle does not control wholly may have done less than before in the same place.
        if trace.len() < self.events.followed() {
            self.keep(0);
        }
        self.events.follow(trace);
    }

    /// Goes back to the deepest node where something is left and takes that.
    fn advance(&mut self) -> bool {
        let exact = self.exact();
        self.nodes.truncate(self.events.len());
        while self.nodes.len() > self.frozen {
            let done = self.nodes.len() - 1;
            let open = !self.nodes[done].tree.is_empty();
            if open || self.nodes[done].gives_value() {
                let item = self.nodes[done].done(&self.events, done);
                self.note_value(done, &item);
                self.nodes[done].sleep.push(item);
            }
            if open && self.too_far(done) {
                self.cut = true;
            } else if open && let Some(beyond) = self.nodes[done].take_next(exact) {
                self.beyond = beyond;
                return true;
            }
            self.spare.extend(self.nodes.pop());
        }
        false
    }

    /// Whether one more alternative at node `at` costs more than is allowed.
    fn too_far(&self, at: usize) -> bool {
        let Some(bound) = self.bound else { return false };
        let above: u32 = self.nodes[..at].iter().map(|node| node.rank).sum();
        above + self.nodes[at].run_before() > bound
    }

    /// What a value touched counts for what led to the question.
    fn note_value(&mut self, index: usize, item: &Item) {
        if self.nodes[index].gives_value()
            && let (Some(touches), Some(asker)) = (&item.touches, index.checked_sub(1))
        {
            touches.iter().for_each(|&touch| merge(&mut self.nodes[asker].given, 0, touch));
        }
    }
}

impl<G: RaceGuide> Strategy for Dpor<G> {
    fn needs(&self) -> Needs {
        Needs::reduction(match self.algorithm {
            Algorithm::Optimal => "dpor",
            Algorithm::Source => "dpor-source",
            Algorithm::Classic => "dpor-classic",
        })
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.place_next() {
            return Next::Done(self.claim());
        }
        self.placed = false;
        prefix.extend(self.nodes.iter().map(Node::choice));
        // What is the same as in the execution before is known.
        self.keep(self.changed().min(self.before.len()));
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.follow(so_far);
        let depth = self.nodes.len();
        assert_eq!(self.events.len(), depth, "raddle bug: decisions and events do not go together");
        let exact = self.exact();
        let mut node = self.spare.pop().unwrap_or_default().renew(at);
        if let (Some(parent), true) = (self.nodes.last(), self.sleeps) {
            parent.still_asleep(&self.events, depth - 1).for_each(|item| node.sleep.push(item));
        }
        node.asleep = node.sleep.len();
        node.tree = mem::take(&mut self.beyond);
        let taken = if let Some(&Choice(choice)) = self.script.get(depth).filter(|choice| choice.0 < at.alternatives())
        {
            node.take(choice as usize);
            true
        } else if node.tree.is_empty() {
            let latest = depth.checked_sub(1).map(|latest| self.events.get(latest).task);
            node.take_any(latest, exact)
        } else {
            match node.take_next(exact) {
                Some(beyond) => {
                    self.beyond = beyond;
                    true
                }
                // What was planned is not possible after all. Other plans may have been left out for its sake, so go on without it.
                None => node.take_any(None, exact),
            }
        };
        if !taken {
            return Decision::Prune;
        }
        let choice = node.choice();
        self.nodes.push(node);
        Decision::Take(choice)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.beyond.clear();
        if matches!(run.outcome.and_then(Outcome::failure), Some(Failure::Nondeterminism(_))) {
            self.keep(0);
        }
        self.follow(run.trace);
        self.nodes.truncate(self.events.len());
        if run.outcome.is_none() && self.mistake == Some(Mistake::SkipsBlocked) {
            return After::Next;
        }
        self.before.follow(&self.events);
        self.script.clear();
        self.show_to_guide(run);
        self.failed = self.failed_at(run);
        self.reverse_races();
        for pending in run.pending {
            // Persistent sets are about what tasks would do next, also where a sleep set keeps them from it.
            let would = self.algorithm == Algorithm::Classic && run.outcome.is_none();
            if !pending.ready || would || self.failed.is_some() {
                self.reverse_races_with_pending(pending);
            }
        }
        if let Some(failed) = self.failed {
            self.go_on_without_failing(failed);
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<G: RaceGuide> Capabilities for Dpor<G> {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl<G: RaceGuide> Summarize for Dpor<G> {
    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        branch.extend(self.nodes.iter().map(Node::branching));
        true
    }
}
