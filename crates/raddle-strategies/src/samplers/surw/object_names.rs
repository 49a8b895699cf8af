//! Names of objects that are the same in every execution.
//!
//! Objects are numbered when they are first touched, so their numbers differ between executions. The sequence of objects that a task touches
//! differs less. So the first object that a task touches has the name (task, 1), the next one (task, 2). One object has as many names as tasks
//! touch it; the [profile](super::profile) learns that they are the same object.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::rng::mix;

use super::lineage::Lineage;

/// A task's name for an object.
pub(super) type Name = u64;

/// The objects that the tasks of an execution have touched so far.
#[derive(Debug, Default)]
pub(super) struct ObjectNames {
    /// By task, in order of the first touch.
    touched: Vec<Vec<ObjectId>>,
}

impl ObjectNames {
    /// Removes all objects.
    pub(super) fn clear(&mut self) {
        self.touched.iter_mut().for_each(Vec::clear);
    }

    /// The name that `task` has for `object`, or would have if it touched the object next.
    pub(super) fn name(&self, lineage: &mut Lineage, task: TaskId, object: ObjectId) -> Name {
        let touched = self.touched.get(task.index()).map_or(&[][..], Vec::as_slice);
        let place = touched.iter().position(|&it| it == object).unwrap_or(touched.len());
        mix(lineage.name(task), place as u64 ^ 1 << 40)
    }

    /// Records that the task touches the object.
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
