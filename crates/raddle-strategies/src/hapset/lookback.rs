//! The latest accesses to each object: what an event is immediately dependent on.
//!
//! An event immediately depends on the latest event of each other task on the same object, if that event came after the latest event of
//! the event's own task there. Earlier ones were already predecessors of the own event. So in `alloc; use; use again; free`, the second
//! use has no predecessor; it gets one only in an order with the `free` between the two uses.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::by_slot::BySlot;
use raddle_engine::order::events::{Events, Touch};
use raddle_engine::trace::{Class, Effect, Role};
use smallvec::SmallVec;

use super::statement::StatementId;

/// The latest events on each object of one execution.
#[derive(Debug, Default)]
pub(super) struct Lookback {
    /// By object; oldest first.
    touched: BySlot<SmallVec<[Latest; 4]>>,
    /// The slots that are not empty.
    used: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    task: TaskId,
    statement: StatementId,
    effect: Effect,
    side: Side,
}

/// The side of an access to an object that tasks wait for. A task that acquires a lock always does so after its release, so the pair
/// (release, acquire) carries no information; the pair (acquire, acquire) does. For a task that only tries to acquire the lock, or reads
/// its state, the release matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Takes,
    GivesBack,
    Other,
}

impl Side {
    fn of(class: Class, touch: &Touch) -> Self {
        match touch.role {
            Role::Gives if !matches!(class, Class::Send | Class::Notify | Class::Finish) => Self::GivesBack,
            Role::Takes => Self::Takes,
            _ => Self::Other,
        }
    }

    /// True if it is informative that an access of this side came immediately after one of side `before`.
    fn is_informative_after(self, before: Self) -> bool {
        !matches!((self, before), (Self::GivesBack, Self::Takes | Self::GivesBack) | (Self::Takes, Self::GivesBack))
    }
}

impl Lookback {
    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|slot| self.touched.at(slot).clear());
    }

    /// Adds event `index`, executed by `statement`. Calls `report` with each statement that the event is immediately dependent on.
    pub(super) fn add(
        &mut self,
        events: &Events,
        index: usize,
        statement: StatementId,
        mut report: impl FnMut(StatementId),
    ) {
        let event = events.get(index);
        for touch in events.touches(index).iter().filter(|touch| !touch.is_birth()) {
            let side = Side::of(event.class, touch);
            let latest = Latest { task: event.task, statement, effect: touch.effect, side };
            self.touch(touch.slot(), latest, &mut report);
        }
    }

    /// Adds an access to plain memory, in the same way.
    pub(super) fn add_plain(
        &mut self,
        task: TaskId,
        object: ObjectId,
        effect: Effect,
        statement: StatementId,
        mut report: impl FnMut(StatementId),
    ) {
        let slot = Touch { object, effect, role: Role::Plain }.slot();
        self.touch(slot, Latest { task, statement, effect, side: Side::Other }, &mut report);
    }

    fn touch(&mut self, slot: usize, now: Latest, report: &mut impl FnMut(StatementId)) {
        let latest = self.touched.at(slot);
        if latest.is_empty() {
            self.used.push(slot);
        }
        // A release does not hide the acquire of the same task from the next task that acquires.
        let hides = |it: &Latest| it.task == now.task && (it.side == Side::GivesBack) == (now.side == Side::GivesBack);
        if let [only] = latest.as_mut_slice()
            && hides(only)
        {
            *only = now;
            return;
        }
        let own = latest.iter().rposition(|it| it.task == now.task);
        let since = &latest[own.map_or(0, |own| own + 1)..];
        // A task has two entries only if one of them is a release.
        let twice = now.side == Side::Other && since.iter().any(|it| it.side == Side::GivesBack);
        for (at, it) in since.iter().enumerate() {
            let conflict = now.effect == Effect::Change || it.effect == Effect::Change;
            let hidden = || twice && since[at + 1..].iter().any(|later| later.task == it.task);
            if conflict && now.side.is_informative_after(it.side) && !hidden() {
                report(it.statement);
            }
        }
        if let Some(own) = latest.iter().position(hides) {
            latest.remove(own);
        }
        latest.push(now);
    }
}
