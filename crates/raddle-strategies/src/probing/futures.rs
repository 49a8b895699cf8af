//! Which objects each task may still touch, as learned from executions.
//!
//! All of it is a guess: a later execution may do something else. Random walks use it to prefer alternatives that matter, in a way that stays
//! correct if the guess is wrong.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::by_slot::BySlot;
use raddle_engine::order::events::{Events, Touch};
use raddle_engine::system::{Action, Pending};
use raddle_engine::trace::{Class, Effect, Role};

/// What is known of the events of all tasks.
#[derive(Clone, Debug, Default)]
pub struct FutureTouches {
    tasks: Vec<TaskFuture>,
}

#[derive(Clone, Debug, Default)]
struct TaskFuture {
    /// By the number of the task's event: the objects that it has touched in some execution.
    at: Vec<Vec<Touch>>,
    /// By object, at its [slot](Touch::slot).
    objects: BySlot<Until>,
}

/// The number of events of a task after which it was never seen to touch an object, and to change it.
#[derive(Clone, Copy, Debug, Default)]
struct Until {
    touched: u32,
    changed: u32,
}

impl FutureTouches {
    /// Learns from an execution, and from the pending steps of tasks that have not ended.
    pub fn learn(&mut self, events: &Events, pending: &[Pending]) {
        let mut taken: Vec<u32> = vec![0; self.tasks.len()];
        for index in 0..events.len() {
            let event = events.get(index);
            let number = count(&mut taken, event.task);
            let future = self.of(event.task);
            events.touches(index).iter().for_each(|&touch| future.learn(*number, touch));
            future.learn_messages(*number, events, index);
            *number += 1;
        }
        for Pending { action, .. } in pending {
            let number = *count(&mut taken, action.task);
            declared_touch(action).into_iter().for_each(|touch| self.of(action.task).learn(number, touch));
        }
    }

    fn of(&mut self, task: TaskId) -> &mut TaskFuture {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, TaskFuture::default);
        }
        &mut self.tasks[task.index()]
    }

    /// The tasks that were seen in some execution.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..self.tasks.len()).map(TaskId::next_of)
    }

    /// What the event of `task` after its first `taken` ones may touch; `None` if there never was such an event.
    #[must_use]
    pub fn next(&self, task: TaskId, taken: u32) -> Option<&[Touch]> {
        self.tasks.get(task.index())?.at.get(taken as usize).map(Vec::as_slice)
    }

    /// True if `task`, after its first `taken` events, may do something that conflicts with `touch`.
    #[must_use]
    pub fn conflicts(&self, task: TaskId, taken: u32, touch: Touch) -> bool {
        let until = self.tasks.get(task.index()).and_then(|future| future.objects.get(touch.slot()));
        until.is_some_and(|until| taken < if touch.effect == Effect::Change { until.touched } else { until.changed })
    }
}

/// The object that a pending action declares to touch.
#[must_use]
pub fn declared_touch(action: &Action) -> Option<Touch> {
    let Action { object, effect, role, .. } = *action;
    (object.is_some() && !role.orders_nothing()).then_some(Touch { object, effect, role })
}

fn count(taken: &mut Vec<u32>, task: TaskId) -> &mut u32 {
    if taken.len() <= task.index() {
        taken.resize(task.index() + 1, 0);
    }
    &mut taken[task.index()]
}

impl TaskFuture {
    fn learn(&mut self, number: u32, touch: Touch) {
        self.learn_next(number, touch);
        self.learn_until(number, touch.object, touch.effect);
    }

    /// A send matters to the receives from that mailbox, but not the other way round: a receive does not prevent a send.
    fn learn_messages(&mut self, number: u32, events: &Events, index: usize) {
        for message in events.offers_of(index) {
            self.learn_until(number, events.offered()[message].place, Effect::Change);
        }
        let event = events.get(index);
        if event.class == Class::Receive && event.object.is_some() {
            self.learn_next(number, Touch { object: event.object, effect: Effect::Read, role: Role::Plain });
        }
    }

    fn learn_next(&mut self, number: u32, touch: Touch) {
        let number = number as usize;
        if self.at.len() <= number {
            self.at.resize_with(number + 1, Vec::new);
        }
        if !self.at[number].contains(&touch) {
            self.at[number].push(touch);
        }
    }

    fn learn_until(&mut self, number: u32, object: ObjectId, effect: Effect) {
        let slot = Touch { object, effect, role: Role::Plain }.slot();
        let until = self.objects.at(slot);
        until.touched = until.touched.max(number + 1);
        if effect == Effect::Change {
            until.changed = until.changed.max(number + 1);
        }
    }
}
