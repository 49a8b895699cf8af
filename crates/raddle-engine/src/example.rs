//! The simplest program: tasks that each take a number of independent steps. For the docs, and for tests of strategies, since its orders
//! can be counted by hand.

use std::panic::Location;

use crate::ids::{ObjectId, TaskId};
use crate::outcome::{ObjectInfo, Outcome, Participants, TaskInfo, Waiting};
use crate::schedule::TaskName;
use crate::system::{Action, Choice, Describe, Point, Program, Snapshots, System, Variant};
use crate::trace::{Access, Class, Effect, Operation, Ordered, Role, Step, Trace};

/// Tasks that count, all on one shared counter.
#[derive(Clone, Debug)]
pub struct Counters {
    steps: Vec<u32>,
}

static COUNT: Operation = Operation { verb: "count", class: Class::Update };

impl Counters {
    /// One task for each number, which takes that many steps.
    #[must_use]
    pub fn new(steps: &[u32]) -> Self {
        Self { steps: steps.to_vec() }
    }
}

impl Program for Counters {
    type System = CountersRun;

    fn start(&mut self, _: u64, _: &mut Trace) -> CountersRun {
        let mut counting = CountersRun { left: self.steps.clone(), actions: Vec::new(), outcome: Outcome::Completed };
        counting.refresh();
        counting
    }
}

/// An execution of [`Counters`].
#[derive(Clone, Debug)]
pub struct CountersRun {
    left: Vec<u32>,
    actions: Vec<Action>,
    outcome: Outcome,
}

impl CountersRun {
    fn refresh(&mut self) {
        let able = (0..).zip(&self.left).filter(|(_, left)| **left > 0);
        self.actions = able
            .map(|(task, _)| Action {
                task: TaskId::new(task),
                variant: Variant::Ready,
                op: &COUNT,
                object: ObjectId::new(0),
                effect: Effect::Change,
                role: Role::Plain,
                site: Location::caller(),
            })
            .collect();
    }
}

impl System for CountersRun {
    fn point(&self) -> Point<'_> {
        if self.actions.is_empty() { Point::End(&self.outcome) } else { Point::Actions(&self.actions) }
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        let Action { task, variant, op, object, effect, role, site } = self.actions[choice.index()];
        self.left[task.index()] -= 1;
        let access = Access { object, effect, role, ordered: Ordered::RELAXED };
        let alternatives = self.point().alternatives();
        trace.push(Step::new((task, variant), op, access, site, alternatives));
        self.refresh();
    }

    fn describe(&self) -> &dyn Describe {
        self
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        Some(self)
    }
}

impl Describe for CountersRun {
    fn task_name(&self, task: TaskId) -> TaskName {
        TaskName(vec![task.number() + 1])
    }

    fn participants(&self) -> Participants {
        let card = |task| TaskInfo { name: self.task_name(TaskId::new(task)), label: None, finished: true };
        let counter = ObjectInfo { noun: "counter", made: None, show: |word| word.0.to_string() };
        Participants {
            tasks: (0..self.left.len() as u32).map(card).collect(),
            objects: vec![counter],
            ..Participants::default()
        }
    }

    fn unfinished(&self, _: &Trace) -> Vec<Waiting> {
        let waits =
            |a: &Action| Waiting { task: a.task, op: a.op, object: a.object, site: a.site, held_by: Vec::new() };
        self.actions.iter().map(waits).collect()
    }
}

impl Snapshots<Self> for CountersRun {
    fn fork(&self) -> Self {
        self.clone()
    }
}
