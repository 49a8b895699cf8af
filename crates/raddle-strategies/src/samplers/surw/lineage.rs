//! How the tasks of an execution came to be: names that are the same whoever was created first.

use raddle_engine::ids::TaskId;
use raddle_engine::rng::mix;
use raddle_engine::trace::{Class, Step};

/// The tasks that are known.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    tasks: Vec<Option<Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    name: u64,
    parent: Option<TaskId>,
    children: u32,
}

impl Lineage {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
    }

    fn known(&mut self, task: TaskId) -> &mut Known {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, None);
        }
        // Whoever was not seen to be created was there from the start.
        let root = || Known { name: mix(u64::from(task.number()), 0), parent: None, children: 0 };
        self.tasks[task.index()].get_or_insert_with(root)
    }

    /// Takes in a step; the task that it created, if it did.
    pub(super) fn follow(&mut self, step: &Step) -> Option<TaskId> {
        let (Class::Spawn, Some(new)) = (step.op.class, step.found) else { return None };
        let new = TaskId::next_of(new.0 as usize);
        let parent = self.known(step.task);
        parent.children += 1;
        let name = mix(parent.name, u64::from(parent.children));
        *self.known(new) = Known { name, parent: Some(step.task), children: 0 };
        Some(new)
    }

    /// The name of a task.
    pub(super) fn name(&mut self, task: TaskId) -> u64 {
        self.known(task).name
    }

    /// The names of a task and of those that it comes from.
    pub(super) fn line(&mut self, task: TaskId) -> Vec<u64> {
        let mut line = vec![self.known(task).name];
        let mut at = task;
        while let Some(parent) = self.known(at).parent {
            line.push(self.known(parent).name);
            at = parent;
        }
        line
    }
}
