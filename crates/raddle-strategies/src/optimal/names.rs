//! Names of tasks that are the same in every execution: how a task came to be, and not when.

use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::rng::mix;
use raddle_engine::trace::{Class, Trace};

/// The names of an execution's tasks, and the steps that created them.
#[derive(Debug, Default)]
pub(super) struct TaskNames {
    /// By task; 0 for those that nobody has created.
    names: Vec<u64>,
    /// By task: how many tasks it has created.
    created: Vec<u32>,
    /// In order of creation.
    births: Vec<Birth>,
    /// Steps of the trace taken in so far.
    followed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Birth {
    step: usize,
    parent: TaskId,
    child: TaskId,
}

impl TaskNames {
    /// Takes in what is new in `trace`.
    pub fn follow(&mut self, trace: &Trace) {
        for (index, step) in trace.steps().iter().enumerate().skip(self.followed) {
            if let (Class::Spawn, Some(child)) = (step.op.class, step.found) {
                self.add(Birth { step: index, parent: step.task, child: TaskId::next_of(child.0 as usize) });
            }
        }
        self.followed = self.followed.max(trace.steps().len());
    }

    fn add(&mut self, birth: Birth) {
        let Birth { parent, child, .. } = birth;
        let tasks = parent.index().max(child.index()) + 1;
        if self.names.len() < tasks {
            self.names.resize(tasks, 0);
            self.created.resize(tasks, 0);
        }
        self.names[child.index()] = mix(self.of(parent), u64::from(self.created[parent.index()])).max(1);
        self.created[parent.index()] += 1;
        self.births.push(birth);
    }

    /// Forgets the steps from this one on.
    pub fn truncate(&mut self, steps: usize) {
        while let Some(birth) = self.births.pop_if(|birth| birth.step >= steps) {
            self.names[birth.child.index()] = 0;
            self.created[birth.parent.index()] -= 1;
        }
        self.followed = self.followed.min(steps);
    }

    /// The name of a task. Any order of names will do, if it is the same in all executions.
    pub fn of(&self, task: TaskId) -> u64 {
        match self.names.get(task.index()) {
            Some(&name) if name > 0 => name,
            _ => u64::from(task.number()),
        }
    }

    /// True if a task was created in this step or later.
    pub fn creates_from(&self, step: StepIx) -> bool {
        self.births.last().is_some_and(|birth| birth.step >= step.index())
    }

    /// The numbers that tasks get in an execution that leaves this one at a step.
    pub fn renumbered_from(&self, step: StepIx) -> Renumbered<'_> {
        let first = self.births.partition_point(|birth| birth.step < step.index());
        Renumbered { births: &self.births[first..], old: Vec::new() }
    }
}

/// Tasks are numbered in order of creation. In an execution that takes only some of the steps, later tasks get other numbers.
#[derive(Debug)]
pub(super) struct Renumbered<'a> {
    births: &'a [Birth],
    /// Those that the new execution creates, in that order.
    old: Vec<TaskId>,
}

impl Renumbered<'_> {
    /// The new execution takes the steps of this range as well.
    pub fn take(&mut self, steps: std::ops::Range<usize>) {
        let births = self.births.iter().filter(|birth| steps.contains(&birth.step));
        self.old.extend(births.map(|birth| birth.child));
    }

    /// The new number of a task.
    pub fn of(&self, task: TaskId) -> TaskId {
        let Some(first) = self.births.first().map(|birth| birth.child) else { return task };
        if task < first {
            return task;
        }
        let place = self.old.iter().position(|&old| old == task);
        place.map_or(task, |place| TaskId::next_of(first.index() + place))
    }
}
