//! What is kept of one mailbox while lots are drawn: as a rule no letters, but how many of its messages can be received.

use raddle_engine::ids::TaskId;

use crate::actor::delivery::Delivery;
use crate::actor::queue::{Marks, Queue};
use crate::actor::row::{Entry, Row};
use crate::actor::store::Place;

/// From so many messages on, letters are written: to compare all senders with each other takes longer.
const MANY: usize = 16;

/// A mailbox while lots are drawn.
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
    /// Lots are drawn, and what is sent to it arrives at once.
    pub(super) at_once: bool,
    /// And its letters say no more than who sent them, so they are not written meanwhile.
    pub(super) bare: bool,
}

impl Tray {
    /// That of a new actor.
    pub(in crate::actor) fn new() -> Self {
        Self { open: 0, received: 0, sent: 0, away: true, at_once: false, bare: false }
    }

    /// Lots begin to be drawn.
    pub(super) fn begin(
        &mut self,
        delivery: Delivery,
        queue: &mut Queue,
        marks: &mut Marks,
        at_once: bool,
        away: bool,
    ) {
        (self.at_once, self.away) = (at_once, away);
        self.bare = at_once && queue.is_plain();
        self.open = queue.count_open(delivery, marks);
    }

    /// One more message is there.
    #[inline(always)]
    pub(super) fn put(&mut self, delivery: Delivery, row: &mut Row, entry: Entry, queue: &mut Queue) {
        match delivery {
            Delivery::PerSender => {
                // Where one can be received, all are by the same sender.
                let known = match self.open {
                    0 => false,
                    1 => row.front().is_some_and(|first| first.sender == entry.sender),
                    _ => is_among(row, entry.sender),
                };
                self.open += u32::from(!known);
                row.push(entry);
                if row.len() > MANY {
                    write_letters(row, queue);
                    self.bare = false;
                }
            }
            Delivery::Arrival => {
                self.open = 1;
                row.push(entry);
            }
            Delivery::Unordered | Delivery::Causal => {
                self.open += 1;
                row.push(entry);
            }
        }
    }

    /// The one is received that comes after so many others that can be; says where it lies.
    #[inline(always)]
    pub(super) fn take(&mut self, delivery: Delivery, row: &mut Row, nth: u32) -> Place {
        let at = match delivery {
            Delivery::Arrival => 0,
            Delivery::PerSender if nth == 0 => 0,
            Delivery::PerSender => place_of(row, nth),
            Delivery::Unordered | Delivery::Causal => nth as usize,
        };
        let Entry { place, sender } = row.remove(at);
        match delivery {
            Delivery::Arrival => self.open = u32::from(row.len() > 0),
            Delivery::PerSender if self.open == 1 => self.open = u32::from(row.len() > 0),
            Delivery::PerSender => self.open -= u32::from(!is_among(row, sender)),
            Delivery::Unordered | Delivery::Causal => self.open -= 1,
        }
        place
    }
}

/// Whether one of the messages is by this sender.
fn is_among(row: &Row, sender: TaskId) -> bool {
    row.iter().any(|entry| entry.sender == sender)
}

/// Where the message is that comes after so many others that are the first of their senders.
fn place_of(row: &Row, nth: u32) -> usize {
    let is_first = |(at, entry): &(usize, Entry)| !row.iter().take(*at).any(|before| before.sender == entry.sender);
    let place = row.iter().enumerate().filter(is_first).nth(nth as usize);
    place.expect("raddle bug: fewer messages can be received than were counted").0
}

/// The messages get letters.
pub(super) fn write_letters(row: &Row, queue: &mut Queue) {
    queue.refill(row.iter().map(|entry| entry.sender));
}
