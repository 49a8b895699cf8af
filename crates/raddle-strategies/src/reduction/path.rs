//! The execution being explored, as a path of nodes: what could have been done at each, what was, what is left.

use serde::{Deserialize, Serialize};

use super::wakeup::{Branch, Item, Open, Touches};
use raddle_engine::estimate::Branching;
use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Touch, merge};
use raddle_engine::system::{Choice, Point, Variant};

/// A point on the path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Node {
    /// What could happen here, in the order of the point's alternatives.
    pub options: Vec<(TaskId, Label)>,
    /// What need not be run from here on: what was asleep at arrival, then what has been run from here.
    pub sleep: Vec<Item>,
    /// How many of them were asleep at arrival.
    pub asleep: usize,
    /// What is still to be run, in order, but for what is being run now.
    pub tree: Vec<Branch>,
    /// What is being run.
    pub taken: u32,
    /// How many others had been run from here before it.
    pub rank: u32,
    /// What has been touched by values that were given right after what is being run.
    pub given: Vec<Touch>,
    /// What is being run failed at once, or with one of its values.
    pub failed: bool,
    /// What a guide has passed by here.
    pub passed: Vec<(TaskId, Label)>,
}

impl Node {
    /// The node of a point, in the memory of one that is of no use any more.
    pub fn renew(mut self, point: &Point<'_>) -> Self {
        self.options.clear();
        match point {
            Point::Actions(actions) => self.options.extend(actions.iter().map(|a| (a.task, Label::Way(a.variant)))),
            Point::Data { task, choices, .. } => {
                self.options.extend((0..*choices).map(|value| (*task, Label::Value(value))));
            }
            Point::End(_) => {}
        }
        self.sleep.clear();
        self.asleep = 0;
        self.tree.clear();
        self.given.clear();
        self.rank = 0;
        self.failed = false;
        self.passed.clear();
        self
    }

    /// What was taken here, event `index`, has been run in all the ways that it has to be; with all that its values touched.
    pub fn done(&mut self, events: &Events, index: usize) -> Item {
        let mut item = Item::of(events, index);
        if !self.given.is_empty() {
            let mut touches = events.touches(index).to_vec();
            self.given.drain(..).for_each(|touch| merge(&mut touches, 0, touch));
            item.touches = Some(Touches::from_vec(touches));
        }
        if self.failed {
            item.open = Open::Failed;
        }
        item
    }

    /// Whether it can have come from a search: a file may say anything.
    pub fn is_sound(&self) -> bool {
        let taken = (self.taken as usize) < self.options.len();
        taken && self.asleep <= self.sleep.len() && self.tree.iter().all(Branch::is_sound)
    }

    /// Whether a value is given here.
    pub fn gives_value(&self) -> bool {
        self.options.first().is_some_and(|option| matches!(option.1, Label::Value(_)))
    }

    pub fn choice(&self) -> Choice {
        Choice(self.taken)
    }

    /// What was run from here, what is being run, and what is to be.
    pub fn branching(&self) -> Branching {
        let count = |n: usize| u32::try_from(n).expect("raddle bug: more than 2^32 children");
        let done = self.sleep.len() - self.asleep;
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

    /// What sleeps on after event `index`, which was taken here.
    pub fn still_asleep<'a>(&'a self, events: &'a Events, index: usize) -> impl Iterator<Item = Item> + 'a {
        self.sleep.iter().filter(move |item| item.commutes_with(events, index)).cloned()
    }

    /// Takes the next of what is to be run; returns what is to be run beyond it.
    ///
    /// What turns out not to be possible is left out. Other plans may have been dropped because they commute with it, so what was
    /// to come after it is kept.
    pub fn take_next(&mut self, exact: bool) -> Option<Vec<Branch>> {
        while !self.tree.is_empty() {
            let (item, beyond) = self.tree.remove(0).enter();
            let option = (item.task, item.label);
            match self.options.iter().position(|&it| it == option) {
                Some(_) if self.is_asleep(option, exact) => {}
                Some(place) => {
                    self.take(place);
                    return Some(beyond);
                }
                None => drop(self.tree.splice(..0, beyond)),
            }
        }
        None
    }

    /// Takes the option that switches tasks least, of those that are awake.
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

    /// Takes the option at this place. The other ways out of the same wait, the other messages and the other values are to be run as well:
    /// nothing that a task does is in a race with what it does instead, and a plan may have left out for the sake of one of them what only
    /// another leads to.
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

    /// Adds an option to what is to be run, unless it is there or done; whether it was added.
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

    /// If something that was begun here is still being run, what sleeps is not to be relied on: see [`Trunk`](super::Trunk).
    pub fn rely_on_nothing_unless_done(&mut self) {
        let is_run = |item: &Item| matches!(item.open, Open::Yes | Open::Still);
        if self.sleep[self.asleep..].iter().any(is_run) {
            self.sleep.iter_mut().filter(|item| item.open != Open::Failed).for_each(|item| item.open = Open::Still);
        }
    }

    /// How many have been run from here, apart from what is being run.
    pub fn run_before(&self) -> u32 {
        u32::try_from(self.sleep.len() - self.asleep).expect("raddle bug: more than 2^32 alternatives")
    }

    /// Plans to run one of `options`, the first, unless one of them is run already. If one of them was asleep at arrival, what
    /// leads there may wake it again, and if one has failed, it leads nowhere: then `all_if_asleep` plans everything. Whether
    /// anything was planned.
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
        let useless = |(at, item): (usize, &Item)| at < self.asleep || item.open == Open::Failed;
        let mut useless = self.sleep.iter().enumerate().filter(|it| useless(*it)).map(|(_, item)| item);
        options.is_empty() || useless.any(|item| options.contains(&(item.task, item.label)))
    }

    /// Whether an option was run from here, is being run, or is to be.
    pub fn covers(&self, option: (TaskId, Label)) -> bool {
        let done = self.sleep[self.asleep..].iter().any(|item| item.is(option.0, option.1, true));
        done || self.current() == option || self.tree.iter().any(|b| b.path[0].is(option.0, option.1, true))
    }
}
