//! The objects that an event touches, and when two events conflict.

use serde::{Deserialize, Serialize};

use crate::ids::{ObjectId, TaskId};
use crate::trace::{Effect, Role};

/// An object that an event touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Touch {
    /// Which; the birth of a task counts as one.
    pub object: ObjectId,
    /// Looked at or changed.
    pub effect: Effect,
    /// What it is to those who wait.
    pub role: Role,
}

/// Births are numbered from the top, where no execution has that many objects.
const BIRTHS: u32 = 1 << 31;

impl Touch {
    pub(super) fn birth(task: TaskId, effect: Effect, role: Role) -> Self {
        Self { object: ObjectId::new(BIRTHS + task.number()), effect, role }
    }

    /// Whether it is about a task's creation.
    pub fn is_birth(self) -> bool {
        self.object.number() >= BIRTHS
    }

    /// A place for the object in a dense table.
    pub fn slot(self) -> usize {
        let number = self.object.number();
        if number >= BIRTHS {
            (number - BIRTHS) as usize * 3 + 1
        } else if let Some(message) = self.object.as_message() {
            message as usize * 3 + 2
        } else {
            number as usize * 3
        }
    }

    /// Whether it is a message that has this place.
    pub fn is_message_at(slot: usize) -> bool {
        slot % 3 == 2
    }

    /// Whether it has to wait until somebody else gives.
    pub fn takes(self) -> bool {
        self.role == Role::Takes || (self.role == Role::Timed && self.effect == Effect::Change)
    }

    /// Takes in another touch of the same object by the same event.
    pub(super) fn merge(&mut self, other: Self) {
        if other.effect == Effect::Change {
            self.effect = Effect::Change;
        }
        if self.role != other.role {
            // Whoever begins to wait for another time right after an end is still one who has ended a wait.
            let timed = self.role == Role::Timed || other.role == Role::Timed;
            self.role = if timed { Role::Timed } else { Role::Plain };
        }
    }

    /// Whether the order of the two makes a difference.
    #[inline]
    #[must_use]
    pub fn conflicts(self, other: Self) -> bool {
        self.object == other.object && (self.effect == Effect::Change || other.effect == Effect::Change)
    }
}

/// What some touches may meet at, in few bits: where two of these do not meet, the touches do not conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    touched: u64,
    changed: u64,
}

impl Mask {
    /// Of all these touches.
    pub fn of(touches: &[Touch]) -> Self {
        let mut mask = Self::default();
        touches.iter().for_each(|&touch| mask.add(touch));
        mask
    }

    #[inline]
    pub(super) fn add(&mut self, touch: Touch) {
        let number = touch.object.number();
        // Births and messages are told from others by their upper bits.
        let bit = 1 << ((number ^ (number >> 26)) & 63);
        self.touched |= bit;
        if touch.effect == Effect::Change {
            self.changed |= bit;
        }
    }

    /// Whether two events with these may be in conflict; false if they surely are not.
    #[inline]
    pub fn may_conflict(self, other: Self) -> bool {
        (self.touched & other.changed) | (self.changed & other.touched) != 0
    }
}

/// Whether two events of different tasks that touch these objects are dependent.
#[inline]
#[must_use]
pub fn dependent(one: &[Touch], other: &[Touch]) -> bool {
    one.iter().any(|&a| other.iter().any(|&b| a.conflicts(b)))
}

/// Adds a touch to those from `begin` on; an object is there only once.
#[inline]
pub fn merge(touches: &mut Vec<Touch>, begin: usize, touch: Touch) {
    match touches[begin..].iter_mut().find(|other| other.object == touch.object) {
        None => touches.push(touch),
        Some(other) => other.merge(touch),
    }
}
