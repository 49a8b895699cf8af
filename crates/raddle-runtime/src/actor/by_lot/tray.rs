//! What is kept of one mailbox while lots are drawn: as a rule no letters, but how many there would be, and of whom.

use std::collections::VecDeque;

use raddle_engine::ids::TaskId;

use crate::actor::delivery::Delivery;
use crate::actor::queue::{Marks, Queue};

/// From so many messages on, letters are written: to compare all senders with each other takes longer.
const MANY: u32 = 16;

/// A mailbox while lots are drawn. Who sent the messages comes last, as it counts in one order only.
#[repr(C)]
pub(in crate::actor) struct Tray {
    /// Its actor has not begun yet, or waits for something else in the middle of a handler.
    pub(super) away: bool,
    /// Lots are drawn, and what is sent to it arrives at once.
    pub(super) at_once: bool,
    /// And its letters say no more than who sent them, so they are not written meanwhile.
    pub(super) bare: bool,
    /// How many there are.
    waiting: u32,
    /// How many of them can be received.
    pub(super) open: u32,
    /// How many were received since lots are drawn.
    pub(super) received: u32,
    /// How many were sent to it since.
    pub(in crate::actor) sent: u32,
    /// Who sent them, where that counts.
    senders: VecDeque<TaskId>,
}

impl Tray {
    /// That of a new actor.
    pub(in crate::actor) fn new() -> Self {
        let senders = VecDeque::new();
        Self { away: true, at_once: false, bare: false, waiting: 0, open: 0, senders, received: 0, sent: 0 }
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
        self.waiting = queue.len() as u32;
        self.open = queue.count_open(delivery, marks);
        self.senders.clear();
        if self.bare && delivery == Delivery::PerSender {
            self.senders.extend(queue.senders());
        }
    }

    /// One more message is there; says where.
    #[inline(always)]
    pub(super) fn put(&mut self, delivery: Delivery, sender: TaskId, queue: &mut Queue) -> usize {
        self.waiting += 1;
        match delivery {
            Delivery::PerSender => {
                // Where one can be received, all are by the same sender.
                let known = match self.open {
                    0 => false,
                    1 => self.senders.front() == Some(&sender),
                    _ => self.senders.contains(&sender),
                };
                self.open += u32::from(!known);
                self.senders.push_back(sender);
                if self.waiting > MANY {
                    self.write_letters(queue);
                    self.bare = false;
                }
            }
            Delivery::Arrival => self.open = 1,
            Delivery::Unordered | Delivery::Causal => self.open += 1,
        }
        self.waiting as usize - 1
    }

    /// The one is received that comes after so many others that can be; says where it was.
    #[inline(always)]
    pub(super) fn take(&mut self, delivery: Delivery, nth: u32) -> usize {
        self.waiting -= 1;
        match delivery {
            Delivery::PerSender if self.open == 1 => {
                self.senders.pop_front();
                self.open = self.waiting.min(1);
                0
            }
            Delivery::PerSender => {
                let place = if nth == 0 { 0 } else { self.place_of(nth) };
                let sender = if place == 0 { self.senders.pop_front() } else { self.senders.remove(place) };
                let another = sender.is_some_and(|sender| self.senders.contains(&sender));
                self.open -= u32::from(!another);
                place
            }
            Delivery::Arrival => {
                self.open = self.waiting.min(1);
                0
            }
            Delivery::Unordered | Delivery::Causal => {
                self.open -= 1;
                nth as usize
            }
        }
    }

    /// Where the message is that comes after so many others that are the first of their senders.
    fn place_of(&self, nth: u32) -> usize {
        let is_first = |place: &usize| !self.senders.iter().take(*place).any(|sender| *sender == self.senders[*place]);
        let place = (0..self.senders.len()).filter(is_first).nth(nth as usize);
        place.expect("raddle bug: fewer messages can be received than were counted")
    }

    /// The messages get letters. Who sent them is not known where it does not count.
    pub(super) fn write_letters(&self, queue: &mut Queue) {
        let unknown = (self.senders.len()..self.waiting as usize).map(|_| TaskId::MAIN);
        queue.refill(self.senders.iter().copied().chain(unknown));
    }
}
