//! The objects of an execution by names that last.
//!
//! Objects are numbered as they are first touched, so their numbers differ from execution to execution. What differs less is which
//! objects a task touches, one after the other: the first that it touches has the name (task, 1), the next (task, 2). One object
//! has as many names as tasks touch it, and that those are one is [learnt](super::profile).

use super::lineage::Lineage;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::rng::mix;

/// A task's name for an object.
pub(super) type Name = u64;

/// What the tasks of an execution have touched so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By task, in order of the first touch.
    touched: Vec<Vec<ObjectId>>,
}

impl Places {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.touched.iter_mut().for_each(Vec::clear);
    }

    /// What `task` calls `object`, or would if it touched it next.
    pub(super) fn name(&self, lineage: &mut Lineage, task: TaskId, object: ObjectId) -> Name {
        let touched = self.touched.get(task.index()).map_or(&[][..], Vec::as_slice);
        let place = touched.iter().position(|&it| it == object).unwrap_or(touched.len());
        mix(lineage.name(task), place as u64 ^ 1 << 40)
    }

    /// The task touches the object.
    pub(super) fn touch(&mut self, task: TaskId, object: ObjectId) {
        if self.touched.len() <= task.index() {
            self.touched.resize_with(task.index() + 1, Vec::new);
        }
        let touched = &mut self.touched[task.index()];
        if !touched.contains(&object) {
            touched.push(object);
        }
    }
}
