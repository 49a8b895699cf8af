//! Names of tasks that do not depend on the order of creation: a task is named by its ancestors.

use raddle_engine::ids::TaskId;
use raddle_engine::rng::mix;
use raddle_engine::trace::{Class, Step};

/// The tasks of an execution.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    tasks: Vec<Option<TaskRecord>>,
}

#[derive(Clone, Copy, Debug)]
struct TaskRecord {
    name: u64,
    parent: Option<TaskId>,
    children: u32,
}

impl Lineage {
    /// Removes all tasks.
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
    }

    fn record(&mut self, task: TaskId) -> &mut TaskRecord {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, None);
        }
        // A task whose creation was not seen existed from the start.
        let root = || TaskRecord { name: mix(u64::from(task.number()), 0), parent: None, children: 0 };
        self.tasks[task.index()].get_or_insert_with(root)
    }

    /// Processes a step. Returns the task that it created, if it did.
    pub(super) fn follow(&mut self, step: &Step) -> Option<TaskId> {
        let (Class::Spawn, Some(new)) = (step.op.class, step.found) else { return None };
        let new = TaskId::next_of(new.0 as usize);
        let parent = self.record(step.task);
        parent.children += 1;
        let name = mix(parent.name, u64::from(parent.children));
        *self.record(new) = TaskRecord { name, parent: Some(step.task), children: 0 };
        Some(new)
    }

    /// The name of a task.
    pub(super) fn name(&mut self, task: TaskId) -> u64 {
        self.record(task).name
    }

    /// The names of a task and its ancestors.
    pub(super) fn line(&mut self, task: TaskId) -> Vec<u64> {
        let mut line = vec![self.record(task).name];
        let mut at = task;
        while let Some(parent) = self.record(at).parent {
            line.push(self.record(parent).name);
            at = parent;
        }
        line
    }
}
