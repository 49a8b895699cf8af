//! The current execution as a path of nodes. A node has the enabled alternatives, the one taken, and those left to run.

use raddle_engine::estimate::Branching;
use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Touch, merge};
use raddle_engine::system::{Choice, Point, Variant};
use serde::{Deserialize, Serialize};

use super::item::{Item, Progress, Touches};
use super::wakeup::Branch;

/// A decision point on the path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Node {
    /// The enabled alternatives, in the order of the point.
    pub options: Vec<(TaskId, Label)>,
    /// The sleep set: first the items inherited from the parent, then those that have been run from this node.
    pub sleep: Vec<Item>,
    /// How many of the items are inherited.
    pub inherited: usize,
    /// The wakeup tree: what is still to be run, without the current alternative.
    pub tree: Vec<Branch>,
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
        self.tree.clear();
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
        if self.failed {
            item.progress = Progress::Failed;
        }
        item
    }

    /// True if the node can come from a search. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        let taken = (self.taken as usize) < self.options.len();
        taken && self.inherited <= self.sleep.len() && self.tree.iter().all(Branch::is_sound)
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
        Branching { done: count(done), all: count(done + 1 + self.tree.len()) }
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

    /// Takes the next alternative from the wakeup tree, and returns the wakeup tree of the next node.
    ///
    /// An alternative that is not enabled is dropped. Other plans may have been dropped because they commute with it, so what was planned
    /// after it stays in the tree.
    pub fn take_next(&mut self, exact: bool) -> Option<Vec<Branch>> {
        while !self.tree.is_empty() {
            let (item, tree_below) = self.tree.remove(0).enter();
            let option = (item.task, item.label);
            match self.options.iter().position(|&it| it == option) {
                Some(_) if self.is_asleep(option, exact) => {}
                Some(place) => {
                    self.take(place);
                    return Some(tree_below);
                }
                None => drop(self.tree.splice(..0, tree_below)),
            }
        }
        None
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

    /// Plans an alternative, unless it is planned or asleep. Returns whether it was added.
    pub fn add(&mut self, option: (TaskId, Label)) -> bool {
        let new = self.would_add(option);
        if new {
            self.tree.push(Branch::leaf(Item::unknown(option.0, option.1)));
        }
        new
    }

    pub fn would_add(&self, (task, label): (TaskId, Label)) -> bool {
        let planned = self.tree.iter().any(|branch| branch.path[0].is(task, label, true));
        !planned && !self.is_asleep((task, label), true)
    }

    /// If the subtree of some item is still being explored, marks all sleeping items as unfinished: see [`SharedTree`](super::SharedTree).
    pub fn assume_running_if_any(&mut self) {
        let is_run = |item: &Item| matches!(item.progress, Progress::Running | Progress::AssumedRunning);
        if self.sleep[self.inherited..].iter().any(is_run) {
            self.sleep
                .iter_mut()
                .filter(|item| item.progress != Progress::Failed)
                .for_each(|item| item.progress = Progress::AssumedRunning);
        }
    }

    /// How many alternatives have been run from here, without the current one.
    pub fn run_before(&self) -> u32 {
        u32::try_from(self.sleep.len() - self.inherited).expect("raddle bug: more than 2^32 alternatives")
    }

    /// Plans the first of `options`, unless one of them is covered. With `all_if_asleep`, all alternatives of the node are planned if one of
    /// `options` was inherited in the sleep set (an event of the reversed execution may wake it) or has failed (it leads nowhere). Returns
    /// whether anything was added.
    pub fn add_one_of(&mut self, options: &[(TaskId, Label)], all_if_asleep: bool) -> bool {
        if all_if_asleep && self.wants_all(options) {
            let mut added = false;
            for option in self.options.clone() {
                added |= option != self.current() && self.add(option);
            }
            return added;
        }
        match options.first() {
            Some(&first) => !options.iter().any(|option| self.covers(*option)) && self.add(first),
            None => false,
        }
    }

    pub fn would_add_one_of(&self, options: &[(TaskId, Label)], all_if_asleep: bool) -> bool {
        if all_if_asleep && self.wants_all(options) {
            return self.options.iter().any(|option| *option != self.current() && self.would_add(*option));
        }
        options
            .first()
            .is_some_and(|first| !options.iter().any(|option| self.covers(*option)) && self.would_add(*first))
    }

    fn wants_all(&self, options: &[(TaskId, Label)]) -> bool {
        let useless = |(at, item): (usize, &Item)| at < self.inherited || item.progress == Progress::Failed;
        let mut useless = self.sleep.iter().enumerate().filter(|it| useless(*it)).map(|(_, item)| item);
        options.is_empty() || useless.any(|item| options.contains(&(item.task, item.label)))
    }

    /// True if an alternative was run from here, is the current one, or is planned.
    pub fn covers(&self, option: (TaskId, Label)) -> bool {
        let done = self.sleep[self.inherited..].iter().any(|item| item.is(option.0, option.1, true));
        done || self.current() == option || self.tree.iter().any(|b| b.path[0].is(option.0, option.1, true))
    }
}
