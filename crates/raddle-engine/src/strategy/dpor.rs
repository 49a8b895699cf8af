//! Partial-order reduction: executions that differ only in the order of independent steps are equivalent, and one of them is
//! enough.
//!
//! Three algorithms share everything but what they make of a race. [`Dpor::optimal`] runs exactly one execution for each trace
//! (source sets and wakeup trees; Abdulla, Aronis, Jonsson, Sagonas, POPL 2014 and JACM 2017), [`Dpor::source`] gives some
//! executions up in the middle (source sets and sleep sets, same papers), [`Dpor::classic`] runs some traces more than once
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
//! execution goes on without it. A wait that has a time is like one that is never blocked: put before what let it go on, it ends
//! by time.
//!
//! Where executions fail: an execution that fails at an event ends there, so nothing is seen of what others would have done to it
//! afterwards. The others go on from that event's node without it, until one of them does not fail. The event sleeps there, but
//! nothing is taken to be done because it commutes with it, and it is no part of a reversing sequence. So all executions that
//! end well and all failures (by what failed and what happened before that) are covered, one of each trace; not how far the
//! others had come by the time of a failure. Executions that are given up may be among these. Two cases are not covered: a
//! failure with nobody at fault but the ends of several threads, seen by one that joined them while others run on, and what
//! comes after a data race, hide what would have come of the other order of those ends or accesses.
//!
//! Memory: the nodes of the current path. Nothing is kept of executions that are done.

mod classic;
mod messages;
mod optimal;
mod path;
mod plan;
mod reversal;
mod share;
mod source;
mod trunk;
mod wakeup;

use std::collections::HashSet;
use std::mem;

use self::path::Node;
use self::plan::Plan;
use self::reversal::Second;
pub use self::share::Subtree;
#[doc(hidden)]
pub use self::share::{Levels, News};
#[doc(hidden)]
pub use self::trunk::Trunk;
use self::wakeup::{Branch, Instead, Item};
use crate::estimate::Branching;
use crate::ids::TaskId;
use crate::order::before::{Before, Race};
use crate::order::events::{Event, Events, Label, Touch, merge};
use crate::outcome::{Failure, Outcome};
use crate::strategy::{ByPiece, Decision, Next, Run, Sharing, Strategy};
use crate::system::{Action, Choice, Pending, Point};
use crate::trace::{Class, Effect, Role, Trace};

/// One execution for each class of equivalent ones, or little more.
#[derive(Debug)]
pub struct Dpor {
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
    news: News,
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
    /// The event with which the execution failed while others could have gone on.
    failed: Option<usize>,
    /// That has happened in some execution.
    has_failed: bool,
    events: Events,
    before: Before,
    races: Vec<Race>,
    sequence: Vec<u32>,
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
    /// Exactly one execution for each trace.
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
            news: News::default(),
            told: HashSet::new(),
            untold: false,
            bound: None,
            cut: false,
            spare: Vec::new(),
            beyond: Vec::new(),
            fresh: 0,
            failed: None,
            has_failed: false,
            events: Events::default(),
            before: Before::anonymous(),
            races: Vec::new(),
            sequence: Vec::new(),
        }
    }

    fn exact(&self) -> bool {
        self.mistake != Some(Mistake::KeepsTaskOnly)
    }

    /// Goes back to the deepest node where something is left and takes that.
    fn advance(&mut self) -> bool {
        let exact = self.exact();
        let widely = self.algorithm != Algorithm::Optimal;
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
            } else if open && let Some(beyond) = self.nodes[done].take_next(exact, widely) {
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

    /// Plans to run an option at node `at`.
    fn add(&mut self, at: usize, option: (TaskId, Label)) {
        if at < self.frozen {
            self.tell(at, Plan::Also(option.0, option.1));
        } else {
            self.nodes[at].add(option);
        }
    }

    /// Keeps a plan for a node above this worker's piece, unless it is known there.
    ///
    /// What this worker has of that node is as old as its piece. It must not enter plans there itself: if one is dropped above,
    /// because somebody runs already what it leads to, it must not stand here in the way of others.
    fn tell(&mut self, at: usize, plan: Plan) {
        if !plan.is_known(&self.nodes[at]) && self.told.insert((at, plan.clone())) {
            self.news.plans.push((at, plan));
        }
    }

    /// Plans what the event `index`, which may not have happened, makes necessary.
    fn reverse_races_with(&mut self, index: usize) {
        let previous = self.before.previous(self.events.get(index).task, index);
        let mut races = mem::take(&mut self.races);
        match self.algorithm {
            Algorithm::Classic => self.before.rivals(&self.events, index, previous, &mut races),
            _ => self.before.races(&self.events, index, previous, &mut races),
        }
        for race in &races {
            self.reverse(race, Second { event: index, previous });
        }
        self.races = races;
        if self.events.get(index).timed.is_some() {
            self.reverse_timed_wait(Second { event: index, previous });
        }
    }

    /// What let a wait go on that has a time could have come too late.
    fn reverse_timed_wait(&mut self, ended: Second) {
        if let Some(first) = reversal::kept_from_timing_out(&self.events, &self.before, &self.nodes, ended) {
            let instead = reversal::suppose_timed_out(&mut self.events, ended.event);
            self.plan(first, Second { event: instead, ..ended }, ended.event);
            self.events.forget();
        }
    }

    fn reverse(&mut self, race: &Race, second: Second) {
        let (e, later) = (self.events.get(race.first), self.events.get(second.event));
        let receives = later.class == Class::Receive && later.object == e.object;
        if receives && messages::chose(&self.events, race.first) {
            return self.reverse_receives(race.first, second);
        }
        if let Some(first) = reversal::origin(&self.events, &self.before, &self.nodes, race, second) {
            self.plan(first, second, second.event);
        }
    }

    /// The second of two receives comes first, with the other's message or, if that is possible, its own.
    fn reverse_receives(&mut self, first: usize, second: Second) {
        let own = messages::taken(&self.events, second.event);
        if self.algorithm == Algorithm::Classic
            || own.is_some_and(|message| messages::can_take(&self.events, &self.before, first, message))
        {
            self.plan(first, second, second.event);
        }
        if self.algorithm != Algorithm::Classic
            && let Some(instead) = messages::suppose_instead(&mut self.events, second.event, first)
        {
            self.plan(first, Second { event: instead, ..second }, second.event);
            self.events.forget();
        }
    }

    /// Receives that came before a message was sent could have waited for it.
    fn reverse_waits_for(&mut self, send: usize, message: usize) {
        for receive in messages::could_have_waited(&self.events, &self.before, send, message) {
            let previous = self.before.previous(self.events.get(send).task, send);
            if self.algorithm == Algorithm::Classic {
                self.plan(receive, Second { event: send, previous }, send);
            } else if let Some(instead) = messages::suppose_receive(&mut self.events, receive, message) {
                self.plan(receive, Second { event: instead, previous }, send + 1);
                self.events.forget();
            }
        }
    }

    /// A task that received one message could have received another that was asleep then, once something has woken that.
    fn wake_other_messages(&mut self, receive: usize) {
        if !messages::chose(&self.events, receive) {
            return;
        }
        let Event { task, label, class, object, .. } = *self.events.get(receive);
        let node = &self.nodes[receive];
        let others = node.sleep[..node.asleep].iter().filter(|item| item.task == task && item.label != label);
        // Where a receive does no more than that, whatever wakes it is another receive, which makes a race.
        let more =
            |touch: &Touch| touch.object != object && touch.role != Role::Takes && touch.object.as_message().is_none();
        let does_more = |item: &&Item| item.touches.as_ref().is_none_or(|touches| touches.iter().any(more));
        let others: Vec<Item> = others.filter(does_more).cloned().collect();
        let previous = self.before.previous(task, receive);
        for item in others {
            if self.algorithm == Algorithm::Classic {
                let options = self.nodes[receive].options.clone();
                options.into_iter().filter(|option| option.0 != task).for_each(|it| self.add(receive, it));
            } else if let Some(touches) = item.touches {
                let index = self.events.suppose(Event::pending(task, item.label, class, object), touches);
                self.plan(receive, Second { event: index, previous }, self.before.len());
                self.events.forget();
            }
        }
    }

    /// Plans to run what lets `second` come before `first`; where the whole rest is not wanted, up to event `upto`.
    fn plan(&mut self, first: usize, second: Second, upto: usize) {
        if self.algorithm == Algorithm::Classic {
            let pair = (first, second.event);
            let options = classic::leading(&self.events, &self.before, &self.nodes[first], pair, second.previous);
            return self.plan_one_of(first, options, true);
        }
        let whole = self.algorithm == Algorithm::Optimal && self.mistake != Some(Mistake::CutsSequence);
        // What failed is not what the second event needs, and nothing would come after it.
        let end = self.failed.filter(|&failed| !(failed..self.before.len()).contains(&second.event));
        let end = end.unwrap_or(self.before.len());
        let upto = if whole { end } else { upto.min(end) };
        if whole && optimal::is_covered(&self.events, &self.before, &self.nodes[first], (first, second.event)) {
            return;
        }
        let real = self.events.len();
        let mut sequence = mem::take(&mut self.sequence);
        reversal::sequence(&mut self.events, &self.before, (first, second.event), upto, &mut sequence);
        if self.algorithm == Algorithm::Source {
            let options = source::initials(&self.events, &sequence);
            self.plan_one_of(first, options, false);
        } else {
            let Event { task, label, .. } = *self.events.get(first);
            let leaves_out = !sequence.iter().any(|&event| self.events.get(event as usize).task == task);
            if leaves_out && messages::is_still_to_come(&self.events, first, second.event) {
                sequence.push(u32::try_from(first).expect("raddle bug: more than 2^32 events in one execution"));
            }
            self.plan_sequence(first, &mut sequence, leaves_out.then_some((task, label)));
        }
        self.sequence = sequence;
        while self.events.len() > real {
            self.events.forget();
        }
    }

    fn plan_one_of(&mut self, at: usize, options: Vec<(TaskId, Label)>, all_if_asleep: bool) {
        if at < self.frozen {
            self.tell(at, Plan::OneOf { options, all_if_asleep });
        } else {
            self.nodes[at].add_one_of(&options, all_if_asleep);
        }
    }

    fn plan_sequence(&mut self, at: usize, sequence: &mut Vec<u32>, instead: Instead) {
        let exact = self.exact();
        if at >= self.frozen {
            optimal::plan(&self.events, &mut self.nodes[at], sequence, instead, exact);
        } else if !optimal::is_known(&self.events, &self.nodes[at], sequence, instead, exact) {
            self.tell(at, Plan::sequence(&self.events, sequence, instead));
        }
    }

    /// What a task that cannot go on would do takes part, too.
    fn reverse_races_with_pending(&mut self, pending: &Pending) {
        let Action { task, object, effect, role, op, variant, .. } = pending.action;
        let mut touches = self.events.handed(task).to_vec();
        if object.is_some() {
            touches.retain(|touch| touch.object != object);
            touches.push(Touch { object, effect, role });
        }
        if pending.clock.is_some() && pending.clock != object {
            touches.push(Touch { object: pending.clock, effect: Effect::Read, role: Role::Timed });
        }
        let mut event = Event::pending(task, Label::Way(variant), op.class, object);
        event.timed = pending.clock;
        let index = self.events.suppose(event, touches);
        self.reverse_races_with(index);
        if pending.clock.is_some() && !pending.ready {
            let timed_out = reversal::suppose_timed_out(&mut self.events, index);
            self.reverse_races_with(timed_out);
            self.events.forget();
        }
        self.events.forget();
    }

    /// A failure has kept the others from going on; they do, without what failed. Until one of them did not fail, nothing
    /// was seen with which what failed could be in a race.
    fn go_on_without_failing(&mut self, failed: usize) {
        let exact = self.exact();
        self.nodes[failed..].iter_mut().for_each(|node| node.failed = true);
        let node = &self.nodes[failed];
        let task = node.current().0;
        let is_other = |option: &(TaskId, Label)| option.0 != task && !node.is_asleep(*option, exact);
        let mut planned = node.tree.iter().map(|branch| (branch.path[0].task, branch.path[0].label));
        let other = planned.find(is_other).or_else(|| node.options.iter().copied().find(is_other));
        if let Some((other, _)) = other {
            let options: Vec<_> = node.options.iter().copied().filter(|option| option.0 == other).collect();
            options.into_iter().for_each(|option| self.add(failed, option));
        }
    }

    /// The event with which the execution failed, if it was not at its end then: the latest, or, as a task is given a value at
    /// once, the step that asked for it.
    fn failed_at(&self, run: &Run<'_>) -> Option<usize> {
        let failure = run.outcome.and_then(Outcome::failure);
        let nobody_can = |failure: &Failure| matches!(failure, Failure::Deadlock { .. } | Failure::Livelock { .. });
        let cut_short = failure.is_some_and(|failure| !nobody_can(failure)) && !run.pending.is_empty();
        let asked = |&at: &usize| !matches!(self.events.get(at).label, Label::Value(_));
        (0..self.events.len()).rev().filter(|_| cut_short).find(asked)
    }
}

impl Strategy for Dpor {
    fn name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Optimal => "dpor",
            Algorithm::Source => "dpor-source",
            Algorithm::Classic => "dpor-classic",
        }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.place_next() {
            return Next::Done(self.claim());
        }
        self.placed = false;
        prefix.extend(self.nodes.iter().map(Node::choice));
        self.events.clear();
        // What is the same as in the execution before is known, but for what a value does, which counts for its question.
        let is_value = |&at: &usize| self.nodes[at].gives_value();
        let known = (0..=self.fresh).rev().find(|at| *at == 0 || !is_value(at)).unwrap_or(0);
        self.before.truncate(known);
        Next::Run { seed: 0 }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.events.follow(so_far);
        let depth = self.nodes.len();
        assert_eq!(self.events.len(), depth, "raddle bug: decisions and events do not go together");
        let exact = self.exact();
        let mut node = self.spare.pop().unwrap_or_default().renew(at);
        if let (Some(parent), true) = (self.nodes.last(), self.sleeps) {
            node.sleep.extend(parent.still_asleep(&self.events, depth - 1));
        }
        node.asleep = node.sleep.len();
        node.tree = mem::take(&mut self.beyond);
        let taken = if node.tree.is_empty() {
            let latest = depth.checked_sub(1).map(|latest| self.events.get(latest).task);
            node.take_any(latest, exact)
        } else {
            // Where a sequence is followed, what else its tasks might have got is planned by races of its own, for as long as
            // there is somebody asleep whom it would not wake. Below a shared node such a plan may come when the sequence is
            // being run already, and is dropped there, and where executions fail such a race may be cut off: then it must not
            // be relied on.
            let relies = self.algorithm == Algorithm::Optimal && self.frozen == 0 && !self.has_failed;
            let widely = !relies || node.sleep.is_empty();
            match node.take_next(exact, widely) {
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

    fn end(&mut self, run: &Run<'_>) {
        self.beyond.clear();
        self.events.follow(run.trace);
        self.nodes.truncate(self.events.len());
        if run.outcome.is_none() && self.mistake == Some(Mistake::SkipsBlocked) {
            return;
        }
        self.before.follow(&self.events);
        self.failed = self.failed_at(run);
        self.has_failed |= self.failed.is_some();
        // A reversing sequence reaches to the end, so a race seen before may have another one now.
        let fresh = if self.algorithm == Algorithm::Optimal { 0 } else { self.fresh };
        for event in fresh..self.events.len() {
            self.reverse_races_with(event);
            for message in self.events.offers_of(event) {
                self.reverse_waits_for(event, message);
            }
        }
        for event in 0..self.events.len() {
            self.wake_other_messages(event);
        }
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
    }

    fn bound_deviations(&mut self, most: u32) -> bool {
        self.bound = Some(most);
        true
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        branch.extend(self.nodes.iter().map(Node::branching));
        true
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn wants_pending(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn revisits(&self) -> bool {
        true
    }

    fn reverses_races(&self) -> bool {
        true
    }
}
