//! Steps that would join the schedules before a step that waits.
//!
//! Usually the undone step runs right after the schedule that was put before it. If the head is a reader and the undone step waits to write, it
//! cannot. Another reader, or a mere look at the lock, may then come before the writer as well, concurrently with the head. Such schedules
//! come in the order of their heads' names, so one with a lesser name is kept back until the writer was there.

use raddle_engine::order::events::Touch;
use raddle_engine::system::Action;
use raddle_engine::trace::{Effect, Role, Trace};

use super::Optimal;

impl Optimal {
    /// True if the policy must not take this action yet.
    pub(super) fn joins_too_late(&mut self, action: &Action, so_far: &Trace) -> bool {
        let looks = action.effect == Effect::Read && action.role != Role::Gives && !action.role.orders_nothing();
        if !looks || !action.object.is_some() {
            return false;
        }
        if self.run.waiting.is_empty() {
            return false;
        }
        self.run.follow(so_far);
        self.run.waiting.iter().any(|&head| {
            let event = self.run.events.get(head);
            let reads = |touch: &Touch| touch.object == action.object && touch.effect == Effect::Read;
            let previous = self.run.before.previous(action.task, self.run.events.len());
            let follows = previous.is_some_and(|it| self.run.before.ordered(&self.run.events, head, it));
            event.task != action.task
                && self.run.events.touches(head).iter().any(reads)
                && !follows
                && self.run.names.of(action.task) < self.run.names.of(event.task)
        })
    }
}
