//! Who touched an object last: what an event is immediately dependent on.
//!
//! Of each other task, the latest event on the same object counts, if it came after this task's own latest one there: what lay
//! before that was before that one already. So in `alloc; use, use again; free`, the second use has nothing before it, and
//! only an order that has the `free` between the two gives it something.

use smallvec::SmallVec;

use super::statement::StatementId;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::by_slot::BySlot;
use raddle_engine::order::events::{Events, Touch};
use raddle_engine::trace::{Class, Effect, Role};

/// The latest events on each object of one execution.
#[derive(Debug, Default)]
pub(super) struct Lookback {
    /// By object; oldest first.
    touched: BySlot<SmallVec<[Latest; 4]>>,
    /// Which of those have anything in them.
    used: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    task: TaskId,
    statement: StatementId,
    effect: Effect,
    side: Side,
}

/// What an access is to those who wait. That a lock was given back before it was taken goes without saying, and the taking before
/// that says more. To one who only tries, or looks, it makes a difference.
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

    /// Whether it tells something that an access of this side came right after one of the other.
    fn tells(self, before: Self) -> bool {
        !matches!((self, before), (Self::GivesBack, Self::Takes | Self::GivesBack) | (Self::Takes, Self::GivesBack))
    }
}

impl Lookback {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|slot| self.touched.at(slot).clear());
    }

    /// Takes in event `index`, which is by `statement`; calls `found` with each statement that it is immediately dependent on.
    pub(super) fn take(
        &mut self,
        events: &Events,
        index: usize,
        statement: StatementId,
        mut found: impl FnMut(StatementId),
    ) {
        let event = events.get(index);
        for touch in events.touches(index).iter().filter(|touch| !touch.is_birth()) {
            let side = Side::of(event.class, touch);
            let latest = Latest { task: event.task, statement, effect: touch.effect, side };
            self.touch(touch.slot(), latest, &mut found);
        }
    }

    /// Takes in an access to plain memory, in the same way.
    pub(super) fn take_plain(
        &mut self,
        task: TaskId,
        object: ObjectId,
        effect: Effect,
        statement: StatementId,
        mut found: impl FnMut(StatementId),
    ) {
        let slot = Touch { object, effect, role: Role::Plain }.slot();
        self.touch(slot, Latest { task, statement, effect, side: Side::Other }, &mut found);
    }

    fn touch(&mut self, slot: usize, now: Latest, found: &mut impl FnMut(StatementId)) {
        let latest = self.touched.at(slot);
        if latest.is_empty() {
            self.used.push(slot);
        }
        // What was given back does not hide what was taken from one who takes it next.
        let hides = |it: &Latest| it.task == now.task && (it.side == Side::GivesBack) == (now.side == Side::GivesBack);
        if let [only] = latest.as_mut_slice()
            && hides(only)
        {
            *only = now;
            return;
        }
        let own = latest.iter().rposition(|it| it.task == now.task);
        let since = &latest[own.map_or(0, |own| own + 1)..];
        // A task is there twice only where it gave something back.
        let twice = now.side == Side::Other && since.iter().any(|it| it.side == Side::GivesBack);
        for (at, it) in since.iter().enumerate() {
            let conflict = now.effect == Effect::Change || it.effect == Effect::Change;
            let hidden = || twice && since[at + 1..].iter().any(|later| later.task == it.task);
            if conflict && now.side.tells(it.side) && !hidden() {
                found(it.statement);
            }
        }
        if let Some(own) = latest.iter().position(hides) {
            latest.remove(own);
        }
        latest.push(now);
    }
}
