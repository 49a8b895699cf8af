//! Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025).
//!
//! For each execution, one object is drawn of those that several tasks touch. What they do to it is what matters there, and all
//! orders of that are equally likely, however much else the tasks do and however unlike they are in that. A random walk is far from
//! it: it hardly ever lets the one step of a task wait for the twenty of another.
//!
//! How: it is known from earlier executions how often each task touches the object. Who comes next is drawn with that weight,
//! less what was done already. In half of the executions it goes on until it has taken that step, and others only where it waits for
//! them; in the other half they all go on with whatever else they have to do, as in a random walk, but stop short of the object. The
//! orders of what matters are the same in both, but what does not is either held back or far ahead, and there are bugs of either kind.
//!
//! What a task will do includes what those will do that it has yet to create; when it creates one, their weights part. With that,
//! and if each task touches the object as often as before, the orders are exactly uniform, but for what locks, joins and
//! the like make impossible.
//!
//! Where we differ: objects go by names that are the same in every execution. The counts are means of the first executions, of
//! which the first is a random walk and the others already go by what is known.

mod lineage;
mod places;
mod profile;

use std::collections::BTreeMap;

use self::lineage::Lineage;
use self::places::Places;
pub use self::profile::{Counts, Touched};
use crate::format::{self, Format};
use raddle_engine::facts::Fact;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::piece::Checkpoint;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize,
};
use raddle_engine::system::{Action, Choice, Point};
use raddle_engine::trace::{Class, Step, Trace};

/// All orders of the steps that matter are equally likely.
#[derive(Debug)]
pub struct Surw {
    seed: u64,
    execution: u64,
    rng: Rng,
    profile: Counts,
    /// Those of the profile.
    shared: Vec<u64>,
    /// What matters in this execution, if anything does.
    object: Option<u64>,
    /// By task: how often it is expected to touch that.
    expected: BTreeMap<u64, i64>,
    lineage: Lineage,
    places: Places,
    /// The objects that turned out to be that.
    found: Vec<ObjectId>,
    /// Which of the actions at this point are about it.
    about: Vec<bool>,
    /// By task: how many steps that matter are left to it, with those of whom it will create; `None` if it was not seen yet.
    left: Vec<Option<i64>>,
    /// Whose step is to be the next one that matters.
    next: Option<TaskId>,
    /// It comes before anything else.
    straight: bool,
    /// Steps that were taken into account.
    followed: usize,
    weights: Vec<(TaskId, u32)>,
}

/// Executions from which the counts are learnt. The others do not add to them, so that each can be had by its number.
const PROFILED: u64 = 32;

impl Surw {
    /// The executions that belong to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            execution: 0,
            rng: Rng::new(seed),
            profile: Counts::default(),
            shared: Vec::new(),
            object: None,
            expected: BTreeMap::new(),
            lineage: Lineage::default(),
            places: Places::default(),
            found: Vec::new(),
            about: Vec::new(),
            left: Vec::new(),
            next: None,
            straight: false,
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

    /// Takes in what has happened since.
    fn follow(&mut self, so_far: &Trace) {
        while let Some(step) = so_far.steps().get(self.followed) {
            self.followed += 1;
            self.take(step);
        }
    }

    fn take(&mut self, step: &Step) {
        let counts = profile::counts(step);
        if counts && self.matters(step.task, step.access.object) {
            if !self.found.contains(&step.access.object) {
                self.found.push(step.access.object);
            }
            *self.left(step.task) -= 1;
            // Also if another was meant to come: who comes after this one is a new question.
            self.next = None;
        }
        if counts {
            self.places.touch(step.task, step.access.object);
        }
        if step.op.class == Class::Finish {
            *self.left(step.task) = 0;
            self.next = self.next.filter(|&next| next != step.task);
        }
        if let Some(new) = self.lineage.follow(step) {
            self.part(step.task, new);
        }
    }

    /// Whether what the task does to the object is what matters in this execution.
    fn matters(&mut self, task: TaskId, object: ObjectId) -> bool {
        let Self { object: Some(wanted), found, places, lineage, profile, .. } = self else { return false };
        found.contains(&object) || profile.object(places.name(lineage, task, object)) == Some(*wanted)
    }

    /// A task was created: what it will do is no longer part of what its parent will.
    fn part(&mut self, parent: TaskId, new: TaskId) {
        let steps = *self.left(new);
        *self.left(parent) -= steps;
        if self.next == Some(parent) {
            self.weights.clear();
            self.weigh(parent, false);
            self.weigh(new, false);
            self.next = self.draw();
        }
    }

    /// Gives a task a weight by what is left to it.
    fn weigh(&mut self, task: TaskId, about_to: bool) {
        let steps = *self.left(task);
        // Whoever is about to take a step has one left, whatever was counted before.
        let steps = if about_to { steps.max(1) } else { steps };
        // Long executions are weighed as if they were shorter, so that sums stay small.
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

    /// Draws whose step is to be the next one that matters.
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

    /// Draws from those who are about to take such a step, if nobody else can do anything.
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
        actions.iter().zip(&self.about).any(|(action, about)| *about && action.task == task)
    }

    /// Finds out which actions are about what matters.
    fn look_at(&mut self, actions: &[Action]) {
        self.about.clear();
        for Action { task, op, object, .. } in actions {
            let about = object.is_some() && profile::matters(op.class) && self.matters(*task, *object);
            self.about.push(about);
        }
    }

    /// The actions that need not wait.
    fn able<'a>(&'a self, actions: &'a [Action]) -> impl Iterator<Item = u32> + 'a {
        let comes = self.straight && actions.iter().any(|action| Some(action.task) == self.next);
        let may = move |(action, about): (&Action, &bool)| Some(action.task) == self.next || !comes && !about;
        (0..).zip(actions.iter().zip(&self.about)).filter(move |it| may(it.1)).map(|it| it.0)
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
        self.places.clear();
        self.found.clear();
        let objects = u32::try_from(self.shared.len()).expect("raddle bug: more than 2^32 objects");
        self.object = (objects > 0).then(|| self.shared[self.rng.below(objects) as usize]);
        self.expected = self.object.map(|object| self.profile.expected(object)).unwrap_or_default();
        self.straight = self.rng.below(2) == 0;
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let Point::Actions(actions) = at else {
            return Decision::Take(Choice(self.rng.below(at.alternatives())));
        };
        self.follow(so_far);
        self.look_at(actions);
        if self.next.is_none() && self.object.is_some() {
            self.draw_next(actions);
        }
        if self.able(actions).next().is_none() {
            self.draw_from(actions);
        }
        let able = u32::try_from(self.able(actions).count()).expect("raddle bug: more than 2^32 actions");
        let drawn = self.rng.below(able) as usize;
        let choice = self.able(actions).nth(drawn).expect("raddle bug: somebody who need not wait was counted");
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

impl Format for Counts {
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
        let Some(profile) = format::read_checkpoint::<Counts>(checkpoint) else { return false };
        self.shared = profile.shared();
        self.profile = profile;
        true
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self { profile: self.profile.clone(), shared: self.shared.clone(), ..Self::new(self.seed) })
    }
}
