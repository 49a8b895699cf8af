//! Messages of untraced runs. They have a place in their store and a sender, and nothing else.

use raddle_engine::ids::TaskId;

use super::Message;
use super::few::Few;
use super::row::Row;
use super::rule::{DeliveryInfo, Known};

/// This bit of a place is set if the message is delayed.
const DELAYED: u32 = 1 << 31;

/// A message without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blank {
    /// Where its contents are stored. This is its number, too.
    pub(crate) place: u32,
    /// `None` in orders in which the sender does not matter.
    pub(crate) sender: Option<TaskId>,
    pub(crate) delayed: bool,
}

impl Message for Blank {
    type Few = Rows;

    fn delivery_info(&self) -> DeliveryInfo<'_> {
        let &Self { place, sender, delayed } = self;
        DeliveryInfo {
            number: place,
            sender: sender.unwrap_or(TaskId::MAIN),
            delayed,
            ordinal: 0,
            known: Known::NOTHING,
        }
    }

    fn arrive_in_time(&mut self) {
        self.delayed = false;
    }
}

/// A short list of such messages. Either all senders are known, or none.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Rows {
    places: Row,
    senders: Row,
}

impl Few<Blank> for Rows {
    #[inline]
    fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    fn delivery_info(&self, at: usize) -> DeliveryInfo<'_> {
        let (place, known) = (self.places.get(at), self.senders.len() > 0);
        let sender = if known { TaskId::new(self.senders.get(at)) } else { TaskId::MAIN };
        DeliveryInfo {
            number: place & !DELAYED,
            sender,
            delayed: place & DELAYED != 0,
            ordinal: 0,
            known: Known::NOTHING,
        }
    }

    #[inline]
    fn delivery_infos(&self) -> impl Iterator<Item = DeliveryInfo<'_>> {
        (0..self.len()).map(|at| self.delivery_info(at))
    }

    #[inline]
    fn push(&mut self, Blank { place, sender, delayed }: Blank) {
        debug_assert!(place < DELAYED, "raddle bug: more than 2^31 messages");
        self.places.push(if delayed { place | DELAYED } else { place });
        if let Some(sender) = sender {
            self.senders.push(sender.number());
        }
    }

    #[cold]
    fn overtake(&mut self, message: Blank) {
        let mut last = self.remove(self.len() - 1);
        last.arrive_in_time();
        self.push(message);
        self.push(last);
    }

    #[inline]
    fn remove(&mut self, at: usize) -> Blank {
        let place = self.places.remove(at);
        let sender = if self.senders.len() > 0 { Some(TaskId::new(self.senders.remove(at))) } else { None };
        Blank { place: place & !DELAYED, sender, delayed: place & DELAYED != 0 }
    }

    #[inline]
    fn remove_first(&mut self) -> Blank {
        debug_assert!(self.senders.len() == 0, "raddle bug: senders do not matter in order of arrival");
        let place = self.places.remove_first();
        Blank { place: place & !DELAYED, sender: None, delayed: place & DELAYED != 0 }
    }
}
