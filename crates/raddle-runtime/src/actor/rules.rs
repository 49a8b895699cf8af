//! The settings of a system of actors: delivery, restarts, faults.

use crate::actor::delivery::Delivery;

/// How often each kind of fault may happen in one execution. Whether one does is a choice like any other, so an exhaustive search tries all
/// of them.
///
/// Messages between actors can be lost, duplicated and delayed. This is decided when a message is sent, because the tree is smaller then:
/// one choice for each message, however long it waits. Messages that a test or a timer sends are never faulty. Actors that [may
/// crash](crate::actor::System::may_crash) do so instead of receiving a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Messages that get lost.
    pub drop: u32,
    /// Messages that arrive twice; only those that can be [duplicated](crate::actor::Actor::duplicate).
    pub duplicate: u32,
    /// Messages that later ones may overtake, whatever the [`Delivery`]. With [`Delivery::Arrival`], the next message overtakes it.
    pub delay: u32,
    /// Actors that lose their state. An actor that was made by a factory starts again; others stop.
    pub crash: u32,
}

/// What may happen to a message when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Dropped,
    Duplicated,
    Delayed,
}

impl Faults {
    /// What may happen to the next message. Normal arrival is the first.
    pub(crate) fn fates(&self, can_duplicate: bool) -> impl Iterator<Item = Fate> + use<> {
        let fates = [
            (Fate::Arrives, true),
            (Fate::Dropped, self.drop > 0),
            (Fate::Duplicated, self.duplicate > 0 && can_duplicate),
            (Fate::Delayed, self.delay > 0),
        ];
        fates.into_iter().filter(|(_, possible)| *possible).map(|(fate, _)| fate)
    }

    /// Whether messages may still be lost, duplicated or delayed.
    #[inline]
    pub(crate) fn befall_messages(&self) -> bool {
        self.drop | self.duplicate | self.delay > 0
    }

    /// Whether a message may still be delayed, and another one lost, duplicated or delayed too. The first message that is sent finds the
    /// budgets whole, so one execution at least sees this.
    #[inline]
    pub(crate) fn delay_among_others(&self) -> bool {
        self.delay > 1 || self.delay == 1 && self.drop | self.duplicate > 0
    }

    /// Reduces the budget of the fault that has happened.
    pub(crate) fn spend(&mut self, fate: Fate) {
        match fate {
            Fate::Arrives => {}
            Fate::Dropped => self.drop -= 1,
            Fate::Duplicated => self.duplicate -= 1,
            Fate::Delayed => self.delay -= 1,
        }
    }
}

/// The settings of a system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) delivery: Delivery,
    /// How often an actor that panics is restarted; `None` if a panic is a failure.
    pub(crate) restarts: Option<u32>,
    pub(crate) fail_on_dead_letters: bool,
    pub(crate) fail_on_unhandled: bool,
    pub(crate) faults: Faults,
}
