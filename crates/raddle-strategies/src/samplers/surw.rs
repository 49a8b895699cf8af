//! Selectively uniform random walk (Zhao, Wolff, Mathur and Roychoudhury, ASPLOS 2025).
//!
//! For each execution, one object is drawn of those that several tasks touch. All orders of the steps on this object are equally likely,
//! whatever else the tasks do. A random walk is far from that: it rarely delays the single step of one task behind the twenty
//! steps of another.
//!
//! Earlier executions show how often each task touches the object. The task of the next step on the object is drawn with this number as
//! weight, minus the steps already taken. In half of the executions, that task runs until it has taken the step, and others run only
//! where it waits for them. In the other half, all tasks run as in a random walk, but stop before a step on the object. Both halves draw the
//! same orders of the steps on the object; the other steps come late in one and early in the other. There are bugs of both kinds.
//!
//! The weight of a task includes the steps of the tasks that it will create; when it creates one, the weight is split. So
//! the orders are exactly uniform if each task touches the object as often as before, except for orders that locks, joins and the like
//! exclude.
//!
//! Differences from the paper: Objects are identified by names that are the same in every execution. The counts are means over the
//! first executions; the first of these is a random walk, the others already use the counts.

mod lineage;
mod object_names;
mod profile;

use std::collections::BTreeMap;

use raddle_engine::facts::Fact;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::piece::Checkpoint;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize,
};
use raddle_engine::system::{Action, Choice, Point};
use raddle_engine::trace::{Class, Step, Trace};

use self::lineage::Lineage;
use self::object_names::ObjectNames;
pub use self::profile::{TouchCounts, Touched};
use crate::format::{self, Format};

/// All orders of the steps on the selected object are equally likely.
#[derive(Debug)]
pub struct Surw {
    seed: u64,
    execution: u64,
    rng: Rng,
    profile: TouchCounts,
    /// The objects of the profile that several tasks touch.
    shared: Vec<u64>,
    /// The object selected for this execution, if there is one.
    object: Option<u64>,
    /// By task: how often it is expected to touch that object.
    expected: BTreeMap<u64, i64>,
    lineage: Lineage,
    object_names: ObjectNames,
    /// The ids of that object in this execution.
    selected_ids: Vec<ObjectId>,
    /// By action at this point: whether it touches that object.
    touches_selected: Vec<bool>,
    /// By task: how many steps on that object it has left, with those of the tasks it will create; `None` if it was not seen yet.
    left: Vec<Option<i64>>,
    /// The task of the next step on that object.
    next: Option<TaskId>,
    /// That task runs before all others.
    runs_directly: bool,
    /// The number of steps that were processed.
    followed: usize,
    weights: Vec<(TaskId, u32)>,
}

/// The number of executions from which the counts are learned. Later ones do not change them, so that each depends on its number alone.
const PROFILED: u64 = 32;

impl Surw {
    /// The executions of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            execution: 0,
            rng: Rng::new(seed),
            profile: TouchCounts::default(),
            shared: Vec::new(),
            object: None,
            expected: BTreeMap::new(),
            lineage: Lineage::default(),
            object_names: ObjectNames::default(),
            selected_ids: Vec::new(),
            touches_selected: Vec::new(),
            left: Vec::new(),
            next: None,
            runs_directly: false,
            followed: 0,
            weights: Vec::new(),
        }
    }

    fn left(&mut self, task: TaskId) -> &mut i64 {
        if self.left.len() <= task.index() {
            self.left.resize(task.index() + 1, None);
        }
        let Self { left, lineage, expected, .. } = self;
        left[task.index()].get_or_insert_with(|| expected.get(&lineage.name(task)).copied().unwrap_or(0))
    }

    /// Processes the steps that have happened since.
    fn follow(&mut self, so_far: &Trace) {
        while let Some(step) = so_far.steps().get(self.followed) {
            self.followed += 1;
            self.take(step);
        }
    }

    fn take(&mut self, step: &Step) {
        let counts = profile::counts(step);
        if counts && self.matters(step.task, step.access.object) {
            if !self.selected_ids.contains(&step.access.object) {
                self.selected_ids.push(step.access.object);
            }
            *self.left(step.task) -= 1;
            // Even if another task was expected: the next step on the object needs a new draw.
            self.next = None;
        }
        if counts {
            self.object_names.touch(step.task, step.access.object);
        }
        if step.op.class == Class::Finish {
            *self.left(step.task) = 0;
            self.next = self.next.filter(|&next| next != step.task);
        }
        if let Some(new) = self.lineage.follow(step) {
            self.split_weight(step.task, new);
        }
    }

    /// True if the object, as `task` names it, is the selected one.
    fn matters(&mut self, task: TaskId, object: ObjectId) -> bool {
        let Self { object: Some(wanted), selected_ids, object_names, lineage, profile, .. } = self else {
            return false;
        };
        selected_ids.contains(&object) || profile.object(object_names.name(lineage, task, object)) == Some(*wanted)
    }

    /// A task was created: moves the weight of its steps from its parent to it.
    fn split_weight(&mut self, parent: TaskId, new: TaskId) {
        let steps = *self.left(new);
        *self.left(parent) -= steps;
        if self.next == Some(parent) {
            self.weights.clear();
            self.weigh(parent, false);
            self.weigh(new, false);
            self.next = self.draw();
        }
    }

    /// Gives a task a weight according to the steps it has left.
    fn weigh(&mut self, task: TaskId, about_to: bool) {
        let steps = *self.left(task);
        // A task that is about to take such a step has at least one left, whatever was counted before.
        let steps = if about_to { steps.max(1) } else { steps };
        // The weights of long executions are capped, so that sums stay small.
        let weight = u32::try_from(steps.clamp(0, 1 << 16)).expect("raddle bug: a weight out of bounds");
        self.weights.push((task, weight));
    }

    fn draw(&mut self) -> Option<TaskId> {
        let all = self.weights.iter().map(|it| it.1).sum();
        let mut at = if all == 0 { return None } else { self.rng.below(all) };
        for &(task, weight) in &self.weights {
            match at.checked_sub(weight) {
                Some(rest) => at = rest,
                None => return Some(task),
            }
        }
        None
    }

    /// Draws the task of the next step on the selected object.
    fn draw_next(&mut self, actions: &[Action]) {
        self.weights.clear();
        for action in actions {
            self.left(action.task);
        }
        for task in (0..self.left.len()).map(TaskId::next_of) {
            if self.left[task.index()].is_some() {
                self.weigh(task, self.is_about_to(actions, task));
            }
        }
        self.next = self.draw();
    }

    /// Draws among the tasks that are about to take such a step, if no other action is possible.
    fn draw_from(&mut self, actions: &[Action]) {
        self.weights.clear();
        let mut latest = None;
        for task in actions.iter().map(|action| action.task) {
            if latest != Some(task) && self.is_about_to(actions, task) {
                self.weigh(task, true);
            }
            latest = Some(task);
        }
        self.next = self.draw();
    }

    fn is_about_to(&self, actions: &[Action], task: TaskId) -> bool {
        actions
            .iter()
            .zip(&self.touches_selected)
            .any(|(action, touches_selected)| *touches_selected && action.task == task)
    }

    /// Determines which actions touch the selected object.
    fn mark_actions(&mut self, actions: &[Action]) {
        self.touches_selected.clear();
        for Action { task, op, object, .. } in actions {
            let touches_selected = object.is_some() && profile::matters(op.class) && self.matters(*task, *object);
            self.touches_selected.push(touches_selected);
        }
    }

    /// The actions that are not held back.
    fn allowed<'a>(&'a self, actions: &'a [Action]) -> impl Iterator<Item = u32> + 'a {
        let comes = self.runs_directly && actions.iter().any(|action| Some(action.task) == self.next);
        let may = move |(action, touches_selected): (&Action, &bool)| {
            Some(action.task) == self.next || !comes && !touches_selected
        };
        (0..).zip(actions.iter().zip(&self.touches_selected)).filter(move |it| may(it.1)).map(|it| it.0)
    }
}

impl Strategy for Surw {
    fn needs(&self) -> Needs {
        Needs::sampler("surw")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.rng = Rng::new(seed);
        self.lineage.clear();
        self.left.clear();
        self.next = None;
        self.followed = 0;
        self.object_names.clear();
        self.selected_ids.clear();
        let objects = u32::try_from(self.shared.len()).expect("raddle bug: more than 2^32 objects");
        self.object = (objects > 0).then(|| self.shared[self.rng.below(objects) as usize]);
        self.expected = self.object.map(|object| self.profile.expected(object)).unwrap_or_default();
        self.runs_directly = self.rng.below(2) == 0;
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let Point::Actions(actions) = at else {
            return Decision::Take(Choice(self.rng.below(at.alternatives())));
        };
        self.follow(so_far);
        self.mark_actions(actions);
        if self.next.is_none() && self.object.is_some() {
            self.draw_next(actions);
        }
        if self.allowed(actions).next().is_none() {
            self.draw_from(actions);
        }
        let allowed = u32::try_from(self.allowed(actions).count()).expect("raddle bug: more than 2^32 actions");
        let drawn = self.rng.below(allowed) as usize;
        let choice = self.allowed(actions).nth(drawn).expect("raddle bug: an allowed action was counted");
        Decision::Take(Choice(choice))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if self.execution <= PROFILED {
            self.profile.learn(run.trace);
            self.shared = self.profile.shared();
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Surw {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Surw {
    fn guarantee(&self, _: u64) -> Option<Fact> {
        let objects = self.shared.len();
        (objects > 0).then_some(Fact::EvenOrders { objects })
    }
}

impl Format for TouchCounts {
    const NAME: &'static str = "touched objects 1";

    fn is_sound(&self) -> bool {
        true
    }
}

impl ByNumber for Surw {
    fn warm_up(&self) -> u64 {
        PROFILED
    }

    fn jump(&mut self, number: u64) {
        self.execution = number;
    }

    fn checkpoint(&mut self) -> Checkpoint {
        format::checkpoint(&self.profile)
    }

    fn restore(&mut self, checkpoint: &Checkpoint, _: u64) -> bool {
        let Some(profile) = format::read_checkpoint::<TouchCounts>(checkpoint) else { return false };
        self.shared = profile.shared();
        self.profile = profile;
        true
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self { profile: self.profile.clone(), shared: self.shared.clone(), ..Self::new(self.seed) })
    }
}
