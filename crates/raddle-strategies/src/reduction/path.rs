//! The current execution as a path of nodes. A node has the enabled alternatives, the one taken, and those left to run.

use raddle_engine::estimate::Branching;
use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Touch, merge};
use raddle_engine::system::{Choice, Point, Variant};
use serde::{Deserialize, Serialize};

use super::item::{Item, Touches};

/// A decision point on the path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Node {
    /// The enabled alternatives, in the order of the point.
    pub options: Vec<(TaskId, Label)>,
    /// The sleep set: first the items inherited from the parent, then those that have been run from this node.
    pub sleep: Vec<Item>,
    /// How many of the items are inherited.
    pub inherited: usize,
    /// The backtrack set: what is still to be run, without the current alternative.
    pub backtrack: Vec<(TaskId, Label)>,
    /// The index of the current alternative.
    pub taken: u32,
    /// How many alternatives were run from this node before the current one.
    pub rank: u32,
    /// The objects touched by the values that were given right after the current alternative.
    pub value_touches: Vec<Touch>,
    /// The current alternative has failed, immediately or with one of its values.
    pub failed: bool,
    /// Alternatives that a guide has skipped here.
    pub skipped: Vec<(TaskId, Label)>,
}

impl Node {
    /// Initializes a node for a point, reusing the memory of an old node.
    pub fn reuse_for(mut self, point: &Point<'_>) -> Self {
        self.options.clear();
        match point {
            Point::Actions(actions) => self.options.extend(actions.iter().map(|a| (a.task, Label::Way(a.variant)))),
            Point::Data { task, choices, .. } => {
                self.options.extend((0..*choices).map(|value| (*task, Label::Value(value))));
            }
            Point::End(_) => {}
        }
        self.sleep.clear();
        self.inherited = 0;
        self.backtrack.clear();
        self.value_touches.clear();
        self.rank = 0;
        self.failed = false;
        self.skipped.clear();
        self
    }

    /// Returns the item of event `index`, the current alternative, after it was completely explored. Includes what its values touched.
    pub fn explored_item(&mut self, events: &Events, index: usize) -> Item {
        let mut item = Item::of(events, index);
        if !self.value_touches.is_empty() {
            let mut touches = events.touches(index).to_vec();
            self.value_touches.drain(..).for_each(|touch| merge(&mut touches, 0, touch));
            item.touches = Some(Touches::from_vec(touches));
        }
        item.failed = self.failed;
        item
    }

    /// True if the node can come from a search. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        (self.taken as usize) < self.options.len() && self.inherited <= self.sleep.len()
    }

    /// True if this is a data choice: a task receives a value that it asked for.
    pub fn gives_value(&self) -> bool {
        self.options.first().is_some_and(|option| matches!(option.1, Label::Value(_)))
    }

    pub fn choice(&self) -> Choice {
        Choice(self.taken)
    }

    /// How many alternatives were run, and how many there are with the current and the planned ones.
    pub fn branching(&self) -> Branching {
        let count = |n: usize| u32::try_from(n).expect("raddle bug: more than 2^32 children");
        let done = self.sleep.len() - self.inherited;
        Branching { done: count(done), all: count(done + 1 + self.backtrack.len()) }
    }

    pub fn current(&self) -> (TaskId, Label) {
        self.options[self.taken as usize]
    }

    pub fn has(&self, task: TaskId, label: Label) -> bool {
        self.options.contains(&(task, label))
    }

    pub fn is_asleep(&self, (task, label): (TaskId, Label), exact: bool) -> bool {
        self.sleep.iter().any(|item| item.is(task, label, exact))
    }

    /// The items that are still asleep after event `index`, the current alternative.
    pub fn still_asleep<'a>(&'a self, events: &'a Events, index: usize) -> impl Iterator<Item = Item> + 'a {
        self.sleep.iter().filter(move |item| item.commutes_with(events, index)).cloned()
    }

    /// Takes the next planned alternative that is enabled and awake. Returns false if there is none.
    pub fn take_next(&mut self, exact: bool) -> bool {
        while !self.backtrack.is_empty() {
            let option = self.backtrack.remove(0);
            let place = self.options.iter().position(|&it| it == option);
            if let Some(place) = place.filter(|_| !self.is_asleep(option, exact)) {
                self.take(place);
                return true;
            }
        }
        false
    }

    /// Takes an alternative that is awake: preferably of the latest task, and not a timeout. Returns false if all are asleep.
    pub fn take_any(&mut self, latest: Option<TaskId>, exact: bool) -> bool {
        let awake = |&at: &usize| !self.is_asleep(self.options[at], exact);
        let ordinary = |&at: &usize| self.options[at].1 != Label::Way(Variant::TimedOut);
        let stays = |&at: &usize| Some(self.options[at].0) == latest;
        let all = || (0..self.options.len()).filter(awake);
        let place =
            all().find(|at| stays(at) && ordinary(at)).or_else(|| all().find(ordinary)).or_else(|| all().next());
        place.is_some_and(|place| {
            self.take(place);
            true
        })
    }

    /// Takes an alternative. The other alternatives of the same task (timeouts, other messages, other values) are planned as well. They are
    /// in no race with the one taken, so no race would plan them; and a plan that was dropped because of one of them may only be covered by
    /// another.
    pub fn take(&mut self, place: usize) {
        self.taken = u32::try_from(place).expect("raddle bug: more than 2^32 actions");
        self.rank = self.run_before();
        self.failed = false;
        let (task, label) = self.options[place];
        for at in 0..self.options.len() {
            let other = self.options[at];
            if other.0 == task && other.1 != label {
                self.add(other);
            }
        }
    }

    /// Plans an alternative, unless it is planned or asleep.
    pub fn add(&mut self, option: (TaskId, Label)) {
        if self.would_add(option) {
            self.backtrack.push(option);
        }
    }

    pub fn would_add(&self, option: (TaskId, Label)) -> bool {
        !self.backtrack.contains(&option) && !self.is_asleep(option, true)
    }

    /// How many alternatives have been run from here, without the current one.
    pub fn run_before(&self) -> u32 {
        u32::try_from(self.sleep.len() - self.inherited).expect("raddle bug: more than 2^32 alternatives")
    }

    /// Plans the first of `options`, unless one of them is covered.
    pub fn add_one_of(&mut self, options: &[(TaskId, Label)]) {
        if self.would_add_one_of(options) {
            self.backtrack.push(options[0]);
        }
    }

    pub fn would_add_one_of(&self, options: &[(TaskId, Label)]) -> bool {
        options.first().is_some_and(|first| self.would_add(*first)) && !options.iter().any(|it| self.covers(*it))
    }

    /// Plans all alternatives.
    pub fn add_all(&mut self) {
        for at in 0..self.options.len() {
            if self.options[at] != self.current() {
                self.add(self.options[at]);
            }
        }
    }

    /// True if one of `options` was inherited in the sleep set (an event of the reversed execution may wake it) or has failed (it leads
    /// nowhere).
    pub fn has_useless(&self, options: &[(TaskId, Label)]) -> bool {
        let is_useless = |(at, item): (usize, &Item)| at < self.inherited || item.failed;
        let mut useless = self.sleep.iter().enumerate().filter(|it| is_useless(*it)).map(|(_, item)| item);
        useless.any(|item| options.contains(&(item.task, item.label)))
    }

    /// True if an alternative was run from here, is the current one, or is planned.
    pub fn covers(&self, option: (TaskId, Label)) -> bool {
        let done = self.sleep[self.inherited..].iter().any(|item| item.is(option.0, option.1, true));
        done || self.current() == option || self.backtrack.contains(&option)
    }
}
