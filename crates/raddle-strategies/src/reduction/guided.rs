//! Classic reduction that reverses only those races that a guide selects.
//!
//! The algorithm of Flanagan and Godefroid considers the next step `t` of every task in each state in which `t` is pending. The backtrack
//! point is the latest earlier event that races with `t`; here, also its reversal must be new according to the guide. So of the
//! events that came while `t` was pending, all are considered; of the events before that, only the latest with a new reversal.

use std::cmp::Reverse;
use std::fmt;
use std::mem;
use std::ops::Range;

use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Race;
use raddle_engine::order::events::{Events, Label, Touch};
use raddle_engine::outcome::Outcome;
use raddle_engine::strategy::Run;
use raddle_engine::system::{Choice, Pending, Variant};
use raddle_engine::trace::{Class, Role, Trace};
use serde::{Deserialize, Serialize};

use super::path::Node;
use super::plan::Plan;
use super::reversal::{self, Second};
use super::{Algorithm, Dpor, classic, messages};

/// The alternatives that are to be run at a node.
enum Wanted {
    /// One of these, preferably the first; if the list is empty, all options of the node.
    OneOf(Vec<(TaskId, Label)>),
    /// All of these.
    All(Vec<(TaskId, Label)>),
}

/// Which alternatives are run where a race is to be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backtrack {
    /// One that leads to the reversal, if such a one is known; else all.
    Dpor,
    /// All.
    Baseline,
    /// All with which the execution has at most so many preemptions up to there.
    Preemption(u32),
}

/// Decides which races are worth reversing, and records the alternatives that are skipped.
pub trait RaceGuide: fmt::Debug + Send + 'static {
    /// Which alternatives are run where a race is to be reversed.
    fn backtrack(&self) -> Backtrack;

    /// Processes an execution. Its first `unchanged` events are those of the previous execution. Learns from it if it is `good`.
    fn observe(&mut self, trace: &Trace, events: &Events, unchanged: usize, good: bool);

    /// Sets the pending step that the following calls refer to by an event index beyond the execution.
    fn set_pending(&mut self, pending: &Pending);

    /// True if an order in which `second` comes immediately before `first` would be new, given what was known at event `at`.
    fn is_new(&self, first: usize, second: usize, at: usize) -> bool;

    /// Records that the alternative at the end of `path`, at the node of event `first`, is skipped, because `second` was already seen
    /// immediately before `first`. `above` is true if other subtrees share the node.
    fn skip(&mut self, first: usize, second: usize, above: bool, path: impl FnOnce() -> Vec<Choice>);

    /// Records that a skipped alternative will be run after all.
    fn unskip(&mut self, above: bool, path: impl FnOnce() -> Vec<Choice>);

    /// Records a skipped alternative at a node that other subtrees share from now on.
    fn share_skipped(&mut self, path: &[Choice]);

    /// Records a path with more than `bound` preemptions, which is to be run later.
    fn defer(&mut self, bound: u32, path: impl FnOnce() -> Vec<Choice>);
}

/// The guide of an unguided reduction, which reverses all races. This type has no values.
#[derive(Debug)]
pub enum NoGuide {}

impl RaceGuide for NoGuide {
    fn backtrack(&self) -> Backtrack {
        match *self {}
    }

    fn observe(&mut self, _: &Trace, _: &Events, _: usize, _: bool) {
        match *self {}
    }

    fn set_pending(&mut self, _: &Pending) {
        match *self {}
    }

    fn is_new(&self, _: usize, _: usize, _: usize) -> bool {
        match *self {}
    }

    fn skip(&mut self, _: usize, _: usize, _: bool, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }

    fn unskip(&mut self, _: bool, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }

    fn share_skipped(&mut self, _: &[Choice]) {
        match *self {}
    }

    fn defer(&mut self, _: u32, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }
}

impl<G: RaceGuide> Dpor<G> {
    /// Classic reduction with a guide.
    pub(crate) fn guided(guide: G) -> Self {
        Self { guide: Some(guide), sleeps: false, ..Self::new(Algorithm::Classic) }
    }

    pub(crate) fn guide(&self) -> Option<&G> {
        self.guide.as_ref()
    }

    pub(crate) fn guide_mut(&mut self) -> Option<&mut G> {
        self.guide.as_mut()
    }

    /// Shows the execution that has just ended to the guide.
    pub(super) fn show_to_guide(&mut self, run: &Run<'_>) {
        if let Some(guide) = &mut self.guide {
            let good = matches!(run.outcome, Some(Outcome::Completed));
            guide.observe(run.trace, &self.events, self.unchanged, good);
        }
    }

    /// Plans the reversals of the races of an event, which may be a pending one.
    pub(super) fn reverse_guided(&mut self, second: Second) {
        let mut races = mem::take(&mut self.races);
        self.before.rivals(&self.events, second.event, second.previous, &mut races);
        races.sort_by_key(|race| Reverse(race.first));
        races.dedup_by_key(|race| race.first);
        // The step was pending from here on.
        let since = second.previous.map_or(0, |previous| previous + 1);
        for race in &races {
            let planned = self.reverse_if_new(race, second, since);
            if planned && race.first < since {
                break;
            }
        }
        self.races = races;
    }

    fn reverse_if_new(&mut self, race: &Race, second: Second, since: usize) -> bool {
        let (e, later) = (self.events.get(race.first), self.events.get(second.event));
        let receives = later.class == Class::Receive && later.object == e.object;
        let first = if receives && messages::chose(&self.events, race.first) {
            Some(race.first)
        } else {
            reversal::origin(&self.events, &self.before, &self.nodes, race, second)
        };
        let Some(first) = first.filter(|&first| !self.must_follow(first, second)) else { return false };
        self.plan_if_new(first, second, race.first.max(since))
    }

    /// True if the second event follows the first one in every order: its task was created, or joined another task, as a consequence of the
    /// first event.
    fn must_follow(&self, first: usize, second: Second) -> bool {
        let taken = self.events.touches(second.event).iter().filter(|touch| touch.role == Role::Takes);
        let mut causes =
            taken.filter_map(
                |touch| if touch.is_birth() { self.giver(touch, second) } else { self.events.end(touch.object) },
            );
        causes
            .any(|cause| first <= cause && cause < self.before.len() && self.before.ordered(&self.events, first, cause))
    }

    /// The event before `second` that released or sent what `second` acquired or received.
    fn giver(&self, taken: &Touch, second: Second) -> Option<usize> {
        let gives = |touch: &Touch| touch.object == taken.object && touch.role == Role::Gives;
        let mut earlier = (0..second.event.min(self.before.len())).rev();
        earlier.find(|&at| self.events.touches(at).iter().any(gives))
    }

    /// Plans an alternative at the node of `first` that leads to `second`, if the reversal was new at event `at`. Returns whether it was new.
    pub(super) fn plan_if_new(&mut self, first: usize, second: Second, at: usize) -> bool {
        let Some(guide) = &self.guide else { return false };
        let new = guide.is_new(first, second.event, at);
        let options = match self.wanted(first, second, new) {
            Wanted::OneOf(options) if options.is_empty() => self.nodes[first].options.clone(),
            Wanted::OneOf(options) if options.iter().any(|option| self.nodes[first].covers(*option)) => return new,
            Wanted::OneOf(options) if new && first < self.ancestors => {
                self.unskip(first, options[0]);
                self.send_plan(first, Plan::OneOf(options));
                return new;
            }
            Wanted::OneOf(options) => options[..1].to_vec(),
            Wanted::All(options) => options,
        };
        for option in options {
            if self.nodes[first].covers(option) {
                continue;
            }
            if new {
                self.add(first, option);
                self.unskip(first, option);
            } else {
                self.skip(first, option, second.event);
            }
        }
        new
    }

    fn skip(&mut self, first: usize, option: (TaskId, Label), second: usize) {
        if self.nodes[first].skipped.contains(&option) {
            return;
        }
        self.nodes[first].skipped.push(option);
        let Self { guide, nodes, ancestors, .. } = self;
        let Some(guide) = guide else { return };
        guide.skip(first, second, first < *ancestors, || path(nodes, first, option));
    }

    /// Removes an alternative from the skipped ones, because it will be run.
    fn unskip(&mut self, at: usize, option: (TaskId, Label)) {
        let Self { guide, nodes, ancestors, .. } = self;
        let Some(guide) = guide else { return };
        let above = at < *ancestors;
        let place = nodes[at].skipped.iter().position(|it| *it == option);
        if let Some(place) = place {
            nodes[at].skipped.swap_remove(place);
        }
        // Another subtree may have skipped the alternative at a shared node.
        if above || place.is_some() {
            guide.unskip(above, || path(nodes, at, option));
        }
    }

    /// Tells the guide which alternatives are skipped at nodes that become shared.
    pub(super) fn share_skipped_paths(&mut self, nodes: Range<usize>) {
        let Some(guide) = &mut self.guide else { return };
        for at in nodes {
            for &option in &self.nodes[at].skipped {
                guide.share_skipped(&path(&self.nodes, at, option));
            }
        }
    }

    fn wanted(&mut self, first: usize, second: Second, new: bool) -> Wanted {
        let Some(guide) = &self.guide else { return Wanted::All(Vec::new()) };
        match guide.backtrack() {
            Backtrack::Dpor => {
                let pair = (first, second.event);
                let leading = classic::leading(&self.events, &self.before, &self.nodes[first], pair, second.previous);
                Wanted::OneOf(leading)
            }
            Backtrack::Baseline => Wanted::All(self.nodes[first].options.clone()),
            Backtrack::Preemption(bound) => {
                let above: u32 = (0..first).map(|at| u32::from(self.preempts(at, self.nodes[at].current().0))).sum();
                let fits = |option: &(TaskId, Label)| above + u32::from(self.preempts(first, option.0)) <= bound;
                let (within, beyond): (Vec<_>, Vec<_>) = self.nodes[first].options.iter().partition(|it| fits(it));
                if let Some(guide) = self.guide.as_mut().filter(|_| new) {
                    beyond.into_iter().for_each(|option| guide.defer(bound, || path(&self.nodes, first, option)));
                }
                Wanted::All(within)
            }
        }
    }

    /// True if running `task` at node `at` is a preemption: see [`Preemption`](crate::tree::preemption::Preemption).
    fn preempts(&self, at: usize, task: TaskId) -> bool {
        let decided = |at: &usize| self.events.get(*at).class != Class::Choice;
        let Some(latest) = (0..at).rev().find(decided) else { return false };
        let running = self.events.get(latest);
        let ordinary = |label: Label| matches!(label, Label::Way(Variant::Ready | Variant::Message(_)));
        let goes_on = |option: &(TaskId, Label)| option.0 == running.task && ordinary(option.1);
        running.task != task && running.class != Class::Yield && self.nodes[at].options.iter().any(goes_on)
    }
}

/// The choices that lead to an option of a node.
fn path(nodes: &[Node], at: usize, option: (TaskId, Label)) -> Vec<Choice> {
    let place = nodes[at].options.iter().position(|it| *it == option);
    let last = place.expect("raddle bug: it is an option of the node");
    let last = Choice(u32::try_from(last).expect("raddle bug: more than 2^32 actions"));
    nodes[..at].iter().map(Node::choice).chain([last]).collect()
}
