//! Partial-order reduction: executions that differ only in the order of independent steps are equivalent, so one of each class (trace) is
//! enough.
//!
//! Two algorithms share everything but the reaction to a race:
//! - [`Dpor::source`]: source sets and sleep sets (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014 and JACM 2017). One complete
//!   execution per trace, and many pruned ones.
//! - [`Dpor::classic`]: persistent sets (Flanagan and Godefroid, POPL 2005), with sleep sets or
//!   [without](Dpor::without_sleep_sets). Some traces are run more than once.
//!
//! [`Optimal`](crate::optimal::Optimal) is another reduction, without pruned executions. These two are for comparison with it, and the
//! classic one is the base of the [guided search](crate::hapset).
//!
//! The strategy processes each execution when it is over, also a pruned one. For every two racing events (`e`, `e'`), it plans an
//! alternative at the node of `e` that leads to an execution in which `e'` comes before `e`. Our names for the papers' letters: the path
//! is `E`; the prefix up to a node is `E'`; `Node::sleep` is the sleep set `Sleep(E')`; `Node::backtrack` is the set `backtrack(E')`;
//! `reversal::sequence` computes the reversing sequence `v`.
//!
//! Differences from the papers:
//! - A task may have several alternatives at a node: a wait ends normally or by timeout, a receive takes one of several messages, a data
//!   choice has several values. Labels distinguish them. Where one of them is run, all of them are.
//! - A task that is blocked at the end takes part in races with its pending operation.
//! - For objects that do not record who releases and who acquires, it is not known in advance whether a reversed wait is enabled. The
//!   reversal is tried; if the wait is blocked, the execution continues without it.
//! - A receive that takes the oldest message would take another message when reversed. It is then assumed to depend on everything.
//! - A timed wait never blocks: reversed with the event that enables it, it ends by timeout.
//!
//! Failures. A failing execution ends at the failing event, so it does not show what other tasks would have done afterwards. The
//! strategy lets another task continue at that event's node instead, until some execution does not fail. The failing event is put into
//! the sleep set of the node. But nothing is considered covered because it commutes with that event, and the event is not part of
//! reversing sequences. Thus complete executions, and failures (identified by the failure and what happens before it), are covered, one of
//! each trace, as far as tests on generated programs show. How far the other tasks had come when the failure occurred is not
//! distinguished. Some of these executions may be pruned ones. Two cases are not covered, because the failure hides the reversed order of
//! some events: a failure that depends only on the ends of several threads, seen by a thread that joined them while others run; and
//! whatever follows a data race.
//!
//! Memory: the nodes of the current path. Nothing is stored about finished executions.

mod backtrack;
mod classic;
mod guided;
mod item;
mod messages;
mod path;
mod plan;
mod races;
mod reversal;
mod share;
mod shared_tree;
mod source;

use std::collections::HashSet;

use raddle_engine::estimate::Branching;
use raddle_engine::order::before::{Before, Race};
use raddle_engine::order::events::Events;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::strategy::{After, ByPiece, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Access, Class, Effect, Hold, Role, Step, Trace};

pub use self::guided::{Backtrack, NoGuide, RaceGuide};
use self::path::Node;
use self::plan::Plan;
pub(crate) use self::share::{PlansForAncestors, Subtree};
pub(crate) use self::shared_tree::SharedTree;
use crate::time_left::TimeLeft;

/// Runs one execution of each class of equivalent ones, or a few more. A guide `G` may decide that some races are not worth reversing.
#[derive(Debug)]
pub struct Dpor<G = NoGuide> {
    algorithm: Algorithm,
    mistake: Option<Mistake>,
    /// Whether an alternative that was run at a node is put into the sleep sets below the node, until a dependent event wakes it.
    sleeps: bool,
    /// True if `nodes` is the path to be run next. Initially that path is empty.
    path_ready: bool,
    /// Nothing is left of this worker's subtree.
    exhausted: bool,
    nodes: Vec<Node>,
    /// How many of the nodes are ancestors of this worker's subtree. Their unexplored alternatives belong to others.
    ancestors: usize,
    /// Plans for these ancestors.
    plans: PlansForAncestors,
    /// All plans for ancestors so far, so that none is sent twice.
    sent_plans: HashSet<(usize, Plan)>,
    /// The shared tree does not know yet the event at the last ancestor.
    first_event_unknown: bool,
    /// See [`deviations`](Self::deviations).
    bound: Option<u32>,
    /// Some alternative was dropped because of the bound.
    hit_bound: bool,
    /// Some step is [of a kind](is_unproven) whose races are not all found, so no proof is claimed.
    has_unproven: bool,
    /// Unused nodes, whose memory is reused.
    spare: Vec<Node>,
    /// The index of the first event that differs from the previous execution.
    first_new: usize,
    /// How many events are the same as in the previous execution.
    unchanged: usize,
    /// The event with which the execution failed while other tasks could have continued.
    failed: Option<usize>,
    events: Events,
    before: Before,
    races: Vec<Race>,
    /// How long the races of an execution may be looked for.
    time: TimeLeft,
    sequence: Vec<u32>,
    /// Decides which races are worth reversing; `None` if all are.
    guide: Option<G>,
    /// Choices that the first execution must follow, as far as they reach.
    forced_choices: Vec<Choice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Source,
    Classic,
}

/// Wrong variants of the algorithms, for tests that must detect them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Pruned executions are not processed.
    SkipsBlocked,
    /// Sleep sets store the task, but not its label.
    KeepsTaskOnly,
}

impl Dpor {
    /// One complete execution per trace, and some pruned ones.
    #[must_use]
    pub fn source() -> Self {
        Self::new(Algorithm::Source)
    }

    /// At least one execution per trace.
    #[must_use]
    pub fn classic() -> Self {
        Self::new(Algorithm::Classic)
    }
}

impl<G: RaceGuide> Dpor<G> {
    /// Bounds the distance from the first execution. The k-th alternative that is run at a node, counted from 0, costs k; the sum of the
    /// costs along an execution is at most `most`. The reduction determines the order of the alternatives, so the bound combines with each
    /// algorithm. A bound that is large enough drops nothing.
    #[must_use]
    pub fn deviations(mut self, most: u32) -> Self {
        self.bound = Some(most);
        self
    }

    /// With persistent sets alone, for comparison.
    ///
    /// # Panics
    ///
    /// If the algorithm is not the [classic](Self::classic) one: the others need sleep sets.
    #[must_use]
    pub fn without_sleep_sets(self) -> Self {
        assert_eq!(self.algorithm, Algorithm::Classic, "raddle: only the classic reduction can do without sleep sets");
        Self { sleeps: false, ..self }
    }

    /// With a mistake, for tests only.
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
            path_ready: true,
            exhausted: false,
            nodes: Vec::new(),
            ancestors: 0,
            plans: PlansForAncestors::default(),
            sent_plans: HashSet::new(),
            first_event_unknown: false,
            bound: None,
            hit_bound: false,
            has_unproven: false,
            spare: Vec::new(),
            first_new: 0,
            unchanged: 0,
            failed: None,
            events: Events::default(),
            before: Before::anonymous(),
            races: Vec::new(),
            time: TimeLeft::default(),
            sequence: Vec::new(),
            guide: None,
            forced_choices: Vec::new(),
        }
    }

    fn exact(&self) -> bool {
        self.mistake != Some(Mistake::KeepsTaskOnly)
    }
}

impl<G: RaceGuide> Strategy for Dpor<G> {
    fn needs(&self) -> Needs {
        Needs::reduction(match self.algorithm {
            Algorithm::Source => "dpor-source",
            Algorithm::Classic => "dpor-classic",
        })
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.place_next() {
            return Next::Done(self.claim());
        }
        self.path_ready = false;
        prefix.extend(self.nodes.iter().map(Node::choice));
        // Events that are the same as in the previous execution need not be computed again.
        self.retain_events(self.changed().min(self.before.len()));
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.follow(so_far);
        let depth = self.nodes.len();
        assert_eq!(self.events.len(), depth, "raddle bug: decisions and events do not go together");
        let exact = self.exact();
        let mut node = self.spare.pop().unwrap_or_default().reuse_for(at);
        if let (Some(parent), true) = (self.nodes.last(), self.sleeps) {
            parent.still_asleep(&self.events, depth - 1).for_each(|item| node.sleep.push(item));
        }
        node.inherited = node.sleep.len();
        let forced = self.forced_choices.get(depth).filter(|choice| choice.0 < at.alternatives());
        let taken = match forced {
            Some(&Choice(choice)) => {
                node.take(choice as usize);
                true
            }
            None => node.take_any(depth.checked_sub(1).map(|latest| self.events.get(latest).task), exact),
        };
        if !taken {
            return Decision::Prune;
        }
        let choice = node.choice();
        self.nodes.push(node);
        Decision::Take(choice)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if matches!(run.outcome.and_then(Outcome::failure), Some(Failure::Nondeterminism(_))) {
            self.retain_events(0);
        }
        self.follow(run.trace);
        self.nodes.truncate(self.events.len());
        if run.outcome.is_none() && self.mistake == Some(Mistake::SkipsBlocked) {
            return After::Next;
        }
        self.before.follow(&self.events);
        self.has_unproven |= run.trace.steps().iter().any(is_unproven);
        self.forced_choices.clear();
        self.show_to_guide(run);
        self.failed = self.failed_at(run);
        self.time = TimeLeft::until(run.deadline);
        self.reverse_races();
        for pending in run.pending {
            // Persistent sets depend on the next step of each task, even if a sleep set has prevented it.
            let would = self.algorithm == Algorithm::Classic && run.outcome.is_none();
            if !pending.ready || would || self.failed.is_some() {
                self.reverse_races_with_pending(pending);
            }
        }
        if let Some(failed) = self.failed {
            self.continue_without_failed(failed);
        }
        if self.time.was_over() { After::OutOfTime } else { After::Next }
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

/// True if a step has taken something together with others, without waiting for it (a `try_read`); or sends to an object whose two sides wait
/// for each other (a bounded channel); or looks at something that cannot change any more (a `OnceLock` that was set).
fn is_unproven(step: &Step) -> bool {
    let Access { effect, role, .. } = step.access;
    let shared_attempt = step.hold == Hold::Taken && effect == Effect::Read && role == Role::Plain;
    shared_attempt || step.op.class == Class::Send && role == Role::Waits || role == Role::Settled
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
