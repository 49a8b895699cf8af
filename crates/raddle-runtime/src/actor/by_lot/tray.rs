//! What is kept of one mailbox while lots are drawn: as a rule no letters, but how many of its messages can be received.

use std::mem;

use raddle_engine::ids::TaskId;

use crate::actor::delivery::Delivery;
use crate::actor::queue::{Marks, Queue};
use crate::actor::row::Row;
use crate::actor::store::Place;

/// From so many messages on, letters are written: to compare all senders with each other takes longer.
const MANY: usize = 16;

/// A mailbox while lots are drawn, but for who sent its messages: that is kept in another row, as it counts in one order only.
#[repr(C)]
pub(in crate::actor) struct Tray {
    /// How many can be received.
    pub(super) open: u32,
    /// How many were received since lots are drawn.
    pub(super) received: u32,
    /// How many were sent to it since.
    pub(in crate::actor) sent: u32,
    /// Its actor has not begun yet, or waits for something else in the middle of a handler.
    pub(super) away: bool,
    /// RandomChoices are drawn, and what is sent to it arrives at once.
    pub(super) at_once: bool,
    /// And its letters say no more than who sent them, so they are not written meanwhile.
    pub(super) bare: bool,
}

impl Tray {
    /// That of a new actor.
    pub(in crate::actor) fn new() -> Self {
        Self { open: 0, received: 0, sent: 0, away: true, at_once: false, bare: false }
    }

    /// RandomChoices begin to be drawn. In causal order, [news](crate::actor::news) say whether there are notes.
    pub(super) fn begin(&mut self, delivery: Delivery, queue: &mut Queue, marks: &mut Marks, senders: &mut Row) {
        self.bare = self.at_once && delivery != Delivery::Causal && queue.is_plain();
        self.open = queue.count_open(delivery, marks);
        senders.clear();
        if self.bare && delivery == Delivery::PerSender {
            queue.senders().for_each(|sender| senders.push(sender.number()));
        }
    }

    /// There are no notes any more; says whether there were.
    pub(in crate::actor) fn leave_notes(&mut self) -> bool {
        mem::take(&mut self.bare)
    }

    /// One more message is there.
    #[inline(always)]
    pub(super) fn put(&mut self, delivery: Delivery, row: &mut Row, place: Place, senders: &mut Row, sender: TaskId) {
        row.push(place.0);
        match delivery {
            Delivery::PerSender => {
                // Where one can be received, all are by the same sender.
                let known = if self.open > 1 {
                    senders.iter().any(|other| other == sender.number())
                } else {
                    senders.is_first(sender.number())
                };
                self.open += u32::from(!known);
                senders.push(sender.number());
            }
            Delivery::Arrival => self.open = 1,
            Delivery::Unordered => self.open += 1,
            Delivery::Causal => unreachable!("raddle bug: a message that news are not told of"),
        }
    }

    /// Whether letters are to be written now.
    #[inline(always)]
    pub(super) fn is_full(&self, delivery: Delivery, row: &Row) -> bool {
        delivery == Delivery::PerSender && row.len() > MANY
    }

    /// The one is received that comes after so many others that can be; says where it lies.
    #[inline(always)]
    pub(super) fn take(&mut self, delivery: Delivery, row: &mut Row, senders: &mut Row, nth: u32) -> Place {
        Place(match delivery {
            Delivery::PerSender if self.open == 1 => {
                senders.remove_first();
                self.open = u32::from(senders.len() > 0);
                row.remove_first()
            }
            Delivery::PerSender => {
                let at = if nth == 0 { 0 } else { place_of(senders, nth) };
                let sender = senders.remove(at);
                self.open -= u32::from(senders.iter().all(|other| other != sender));
                row.remove(at)
            }
            Delivery::Arrival => {
                let place = row.remove_first();
                self.open = u32::from(row.len() > 0);
                place
            }
            Delivery::Causal => unreachable!("raddle bug: a message that news do not tell of"),
            Delivery::Unordered => {
                self.open -= 1;
                row.remove(nth as usize)
            }
        })
    }
}

/// Where the message is that comes after so many others that are the first of their senders.
fn place_of(senders: &Row, nth: u32) -> usize {
    let is_first = |(at, sender): &(usize, u32)| !senders.iter().take(*at).any(|before| before == *sender);
    let place = senders.iter().enumerate().filter(is_first).nth(nth as usize);
    place.expect("raddle bug: fewer messages can be received than were counted").0
}

/// The messages get letters. Who sent them is not known where it does not count.
pub(super) fn write_letters(row: &Row, senders: &Row, queue: &mut Queue) {
    let unknown = (senders.len()..row.len()).map(|_| TaskId::MAIN);
    queue.refill(senders.iter().map(TaskId::new).chain(unknown));
}
