//! Which task goes on where nobody decides: each in turn.

use crate::ids::TaskId;
use crate::system::{Action, Choice, Variant};

/// Steps that tasks may take after their execution was pruned or has failed. A process would end at some moment, too.
pub const MOST_LAST_STEPS: u32 = 1_000;

/// Steps that a task takes in one turn. As long as a task can go on it is not preempted, so that few switches lead to a failure; but
/// a loop that ends only when another task goes on must end, too.
const TURN: u32 = 32;

/// Whose turn it is.
#[derive(Debug)]
pub struct Turns {
    latest: TaskId,
    /// Steps until the turn is over.
    left: u32,
}

impl Turns {
    /// The turn of `latest`, which goes on if it can.
    #[must_use]
    pub fn after(latest: TaskId) -> Self {
        Self { latest, left: TURN }
    }

    /// What happens next: the task whose turn it is goes on, or the next one by number that can. A wait ends by time, and an actor
    /// crashes, only if nothing else can happen. `None` if there are no actions.
    pub fn next(&mut self, actions: &[Action]) -> Option<Choice> {
        let key = |at: &usize| {
            let Action { task, variant, .. } = actions[*at];
            let has_turn = task == self.latest && self.left > 0;
            (matches!(variant, Variant::TimedOut | Variant::Spurious), !has_turn, task <= self.latest)
        };
        let next = (0..actions.len()).min_by_key(key)?;
        if actions[next].task != self.latest || self.left == 0 {
            *self = Self::after(actions[next].task);
        }
        self.left -= 1;
        Some(Choice(u32::try_from(next).expect("raddle bug: more than 2^32 actions")))
    }
}
