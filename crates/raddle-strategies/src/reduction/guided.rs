//! Classic reduction that reverses only races that are worth it.
//!
//! As in Flanagan's and Godefroid's algorithm, every task's next step `t` is looked at in each state on the way to it: the latest
//! event before that state that `t` is in a race with, and whose reversal the guide says is new, is where to go back to. So
//! all events that came while `t` was waiting are looked at, and of those before that only the latest that is new.

use std::cmp::Reverse;
use std::fmt;
use std::mem;
use std::ops::Range;

use super::path::Node;
use super::reversal::{self, Second};
use super::{Algorithm, Dpor, classic, messages};
use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Race;
use raddle_engine::order::events::{Events, Label, Touch};
use raddle_engine::outcome::Outcome;
use raddle_engine::strategy::Run;
use raddle_engine::system::{Choice, Pending, Variant};
use raddle_engine::trace::{Class, Role, Trace};
use serde::{Deserialize, Serialize};

/// What is to be run at a node.
enum Wanted {
    /// One of these leads there, the first best; if there is none, everything.
    OneOf(Vec<(TaskId, Label)>),
    /// All of these.
    All(Vec<(TaskId, Label)>),
}

/// Which alternatives are run where a race is to be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backtrack {
    /// One that leads to the reversal, if that is known; else all.
    Dpor,
    /// All.
    Baseline,
    /// All with which an execution has at most so many preemptions up to there.
    Preemption(u32),
}

/// Says which races are worth reversing, and remembers what was skipped.
pub trait RaceGuide: fmt::Debug + Send + 'static {
    /// Which alternatives are run where a race is to be reversed.
    fn backtrack(&self) -> Backtrack;

    /// Looks at an execution, whose first `kept` events are those of the one before, and learns from it if it was a good one.
    fn look(&mut self, trace: &Trace, events: &Events, kept: usize, good: bool);

    /// What comes next is about what a task was about to do.
    fn suppose(&mut self, pending: &Pending);

    /// Whether an order in which `second` comes right before `first` would be a new one, as far as was known at event `at`.
    fn is_new(&self, first: usize, second: usize, at: usize) -> bool;

    /// An alternative at the node of event `first` is skipped, since `second` was seen to come right before that. `above` if other
    /// subtrees have to do with the node.
    fn skip(&mut self, first: usize, second: usize, above: bool, way: impl FnOnce() -> Vec<Choice>);

    /// What was skipped at a node is to be run after all.
    fn take_back(&mut self, above: bool, way: impl FnOnce() -> Vec<Choice>);

    /// What was skipped at a node is for other subtrees to know, which come to have to do with it.
    fn share_skipped(&mut self, way: &[Choice]);

    /// A way has a preemption more than `bound`, and is to be run later.
    fn put_off(&mut self, bound: u32, way: impl FnOnce() -> Vec<Choice>);
}

/// Nobody says so: all races are reversed. There is no value of this.
#[derive(Debug)]
pub enum NoGuide {}

impl RaceGuide for NoGuide {
    fn backtrack(&self) -> Backtrack {
        match *self {}
    }

    fn look(&mut self, _: &Trace, _: &Events, _: usize, _: bool) {
        match *self {}
    }

    fn suppose(&mut self, _: &Pending) {
        match *self {}
    }

    fn is_new(&self, _: usize, _: usize, _: usize) -> bool {
        match *self {}
    }

    fn skip(&mut self, _: usize, _: usize, _: bool, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }

    fn take_back(&mut self, _: bool, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }

    fn share_skipped(&mut self, _: &[Choice]) {
        match *self {}
    }

    fn put_off(&mut self, _: u32, _: impl FnOnce() -> Vec<Choice>) {
        match *self {}
    }
}

impl<G: RaceGuide> Dpor<G> {
    /// Classic reduction by what a guide says.
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
            guide.look(run.trace, &self.events, self.kept, good);
        }
    }

    /// Plans what the event `index`, which may not have happened, makes necessary.
    pub(super) fn reverse_guided(&mut self, index: usize) {
        let previous = self.before.previous(self.events.get(index).task, index);
        let second = Second { event: index, previous };
        let mut races = mem::take(&mut self.races);
        self.before.rivals(&self.events, index, previous, &mut races);
        races.sort_by_key(|race| Reverse(race.first));
        races.dedup_by_key(|race| race.first);
        // The task was about to take this step from there on.
        let since = previous.map_or(0, |previous| previous + 1);
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
        let Some(first) = first.filter(|&first| !self.had_to_wait(first, second)) else { return false };
        self.plan_if_new(first, second, race.first.max(since))
    }

    /// Whether the second event's task could only come to it after the first event, whatever the order: it was created, or saw
    /// another one end, because of that.
    fn had_to_wait(&self, first: usize, second: Second) -> bool {
        let taken = self.events.touches(second.event).iter().filter(|touch| touch.role == Role::Takes);
        let mut causes =
            taken.filter_map(
                |touch| if touch.is_birth() { self.giver(touch, second) } else { self.events.end(touch.object) },
            );
        causes
            .any(|cause| first <= cause && cause < self.before.len() && self.before.ordered(&self.events, first, cause))
    }

    /// The event before `second` that gave what it took.
    fn giver(&self, taken: &Touch, second: Second) -> Option<usize> {
        let gives = |touch: &Touch| touch.object == taken.object && touch.role == Role::Gives;
        let mut earlier = (0..second.event.min(self.before.len())).rev();
        earlier.find(|&at| self.events.touches(at).iter().any(gives))
    }

    /// Plans to run what lets `second` come before `first`, if that was not seen before event `at`. Whether it was not.
    pub(super) fn plan_if_new(&mut self, first: usize, second: Second, at: usize) -> bool {
        let Some(guide) = &self.guide else { return false };
        let new = guide.is_new(first, second.event, at);
        let options = match self.wanted(first, second, new) {
            Wanted::OneOf(options) if options.is_empty() => self.nodes[first].options.clone(),
            Wanted::OneOf(options) if options.iter().any(|option| self.nodes[first].covers(*option)) => return new,
            Wanted::OneOf(options) if new && first < self.frozen => {
                self.take_back(first, options[0]);
                self.plan_one_of(first, options, false);
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
                self.take_back(first, option);
            } else {
                self.skip(first, option, second.event);
            }
        }
        new
    }

    fn skip(&mut self, first: usize, option: (TaskId, Label), second: usize) {
        if self.nodes[first].passed.contains(&option) {
            return;
        }
        self.nodes[first].passed.push(option);
        let Self { guide, nodes, frozen, .. } = self;
        let Some(guide) = guide else { return };
        guide.skip(first, second, first < *frozen, || way(nodes, first, option));
    }

    /// What was passed by at a node is to be run after all.
    fn take_back(&mut self, at: usize, option: (TaskId, Label)) {
        let Self { guide, nodes, frozen, .. } = self;
        let Some(guide) = guide else { return };
        let above = at < *frozen;
        let place = nodes[at].passed.iter().position(|it| *it == option);
        if let Some(place) = place {
            nodes[at].passed.swap_remove(place);
        }
        // Above, it may have been somebody else who passed it by.
        if above || place.is_some() {
            guide.take_back(above, || way(nodes, at, option));
        }
    }

    /// Other workers come to have to do with these nodes.
    pub(super) fn share_what_was_skipped(&mut self, nodes: Range<usize>) {
        let Some(guide) = &mut self.guide else { return };
        for at in nodes {
            for &option in &self.nodes[at].passed {
                guide.share_skipped(&way(&self.nodes, at, option));
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
                    beyond.into_iter().for_each(|option| guide.put_off(bound, || way(&self.nodes, first, option)));
                }
                Wanted::All(within)
            }
        }
    }

    /// Whether it is a preemption to let `task` go on at node `at`: see [`Preemption`](crate::tree::preemption::Preemption).
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
fn way(nodes: &[Node], at: usize, option: (TaskId, Label)) -> Vec<Choice> {
    let place = nodes[at].options.iter().position(|it| *it == option);
    let last = place.expect("raddle bug: it is an option of the node");
    let last = Choice(u32::try_from(last).expect("raddle bug: more than 2^32 actions"));
    nodes[..at].iter().map(Node::choice).chain([last]).collect()
}
