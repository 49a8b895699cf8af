//! Messages of untraced runs in causal order, if [sets](MessageSet) say which messages their senders knew of.

use raddle_engine::ids::TaskId;
use smallvec::SmallVec;

use super::Message;
use super::message_set::MessageSet;
use super::rule::{DeliveryInfo, Known};

/// A message that has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slotted {
    /// Where its contents are stored. This is its number, too.
    pub(crate) place: u32,
    pub(crate) slot: u32,
    pub(crate) sender: TaskId,
    pub(crate) delayed: bool,
    /// The waiting messages that its sender knew of.
    pub(crate) known: MessageSet,
}

impl Message for Slotted {
    type Few = SmallVec<[Self; 1]>;

    /// There are so few slots that a list is always short enough.
    const MANY: usize = MessageSet::SLOTS;

    #[inline]
    fn delivery_info(&self) -> DeliveryInfo<'_> {
        let &Self { place, slot, sender, delayed, ref known } = self;
        DeliveryInfo { number: place, sender, delayed, ordinal: slot, known: Known::Set(known) }
    }

    fn arrive_in_time(&mut self) {
        self.delayed = false;
    }
}
