//! Items: events as sleep sets store them.
//!
//! The papers store the task alone. An [`Item`] also has the alternative that the task takes and the objects that it touches, because they
//! determine what the item commutes with.

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Mask, Touch, dependent};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The objects that an item touches. There are few, so they are stored inline.
pub(super) type Touches = SmallVec<[Touch; 3]>;

/// An event that was run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Item {
    pub task: TaskId,
    pub label: Label,
    /// The objects it touches; `None` if they are not known, and then it may depend on everything.
    pub touches: Option<Touches>,
    /// It fails, or fails with some value. So what the other tasks would have done after it was not run.
    pub failed: bool,
}

impl Clone for Item {
    fn clone(&self) -> Self {
        // Copies the list as one block of memory; `clone` would copy it element by element.
        let touches = self.touches.as_deref().map(Touches::from_slice);
        Self { task: self.task, label: self.label, touches, failed: self.failed }
    }
}

impl Item {
    pub fn of(events: &Events, index: usize) -> Self {
        let event = events.get(index);
        let touches = (!events.is_vague(index)).then(|| Touches::from_slice(events.touches(index)));
        Self { task: event.task, label: event.label, touches, failed: false }
    }

    pub fn is(&self, task: TaskId, label: Label, exact: bool) -> bool {
        self.task == task && (self.label == label || !exact)
    }

    /// True if it is independent of an event of another task.
    pub fn commutes_with(&self, events: &Events, index: usize) -> bool {
        let touches = self.touches.as_deref();
        let meets =
            |mine: &[Touch]| Mask::of(mine).may_conflict(events.mask(index)) && dependent(mine, events.touches(index));
        self.task != events.get(index).task && touches.is_some_and(|mine| !meets(mine))
    }
}
