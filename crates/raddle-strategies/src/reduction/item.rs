//! Items: events as sleep sets and wakeup trees store them.
//!
//! The papers store the task alone. An [`Item`] also has the alternative that the task takes and the objects that it touches, because they
//! determine what the item commutes with.

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Mask, Touch, dependent, merge};
use raddle_engine::trace::Role;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The objects that an item touches. There are few, so they are stored inline.
pub(super) type Touches = SmallVec<[Touch; 3]>;

/// An event that has been or is to be run.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Item {
    pub task: TaskId,
    pub label: Label,
    /// The objects it touches; `None` if they are not known yet, and then it may depend on everything.
    pub touches: Option<Touches>,
    /// In a sleep set: whether its subtree is completely explored.
    pub progress: Progress,
}

/// How far the subtree of a sleeping item is explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Progress {
    /// Completely.
    #[default]
    Done,
    /// Another worker or subtree is exploring it.
    Running,
    /// It was being explored when a plan was made that would otherwise have been dropped because of it. Whoever runs that plan must not
    /// assume that it is done.
    AssumedRunning,
    /// It fails, or fails with some value. So what the other tasks would have done after it was not run.
    Failed,
}

impl Clone for Item {
    fn clone(&self) -> Self {
        // Copies the list as one block of memory; `clone` would copy it element by element.
        let touches = self.touches.as_deref().map(Touches::from_slice);
        Self { task: self.task, label: self.label, touches, progress: self.progress }
    }
}

impl Item {
    pub fn of(events: &Events, index: usize) -> Self {
        let event = events.get(index);
        let touches = (!events.is_vague(index)).then(|| Touches::from_slice(events.touches(index)));
        Self { task: event.task, label: event.label, touches, progress: Progress::Done }
    }

    /// True if it is equal to [`of`](Self::of) of this event.
    pub fn is_event(&self, events: &Events, index: usize) -> bool {
        let Self { task, label, touches, progress } = self;
        let event = events.get(index);
        (*task, *label, *progress) == (event.task, event.label, Progress::Done)
            && touches.as_deref() == (!events.is_vague(index)).then(|| events.touches(index))
    }

    /// True if it may do more than receive from one mailbox.
    pub fn does_more_than_receive(&self) -> bool {
        let counts = |touch: &&Touch| touch.role != Role::Takes && touch.object.as_message().is_none();
        self.touches.as_ref().is_none_or(|touches| touches.iter().filter(counts).count() > 1)
    }

    pub fn is_value(&self) -> bool {
        matches!(self.label, Label::Value(_))
    }

    pub fn unknown(task: TaskId, label: Label) -> Self {
        Self { task, label, touches: None, progress: Progress::Done }
    }

    /// The same item, with everything that its values touched.
    pub fn with_values(mut self, values: &[Self]) -> Self {
        let mut touches = self.touches.take().unwrap_or_default().into_vec();
        for touch in values.iter().filter_map(|value| value.touches.as_ref()).flatten() {
            merge(&mut touches, 0, *touch);
        }
        self.touches = Some(touches.into());
        if values.iter().any(|value| value.progress == Progress::Failed) {
            self.progress = Progress::Failed;
        }
        self
    }

    /// The same item, marked as being explored. A failed item stays failed.
    pub fn running(self) -> Self {
        let progress = if self.progress == Progress::Failed { Progress::Failed } else { Progress::Running };
        Self { progress, ..self }
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

    /// True if that holds for each event of a sequence.
    pub fn commutes_with_all(&self, events: &Events, sequence: &[u32]) -> bool {
        let Some(mine) = self.touches.as_deref() else { return sequence.is_empty() };
        let mask = Mask::of(mine);
        sequence.iter().all(|&event| {
            let event = event as usize;
            let meets = mask.may_conflict(events.mask(event)) && dependent(mine, events.touches(event));
            self.task != events.get(event).task && !meets && !events.is_vague(event)
        })
    }
}
