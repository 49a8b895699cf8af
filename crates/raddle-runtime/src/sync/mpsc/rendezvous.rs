//! Channels without room for a message: a sender and the receiver meet.
//!
//! A receive has two steps. In the first it takes what a sender offers, or makes it known that it waits; in the second it
//! gets what was promised to it meanwhile. A send has two as well: it promises its message to a receiver that waits and is
//! done, or offers it and then waits until it has been taken. The second steps need no decision, unless there is a time: nobody
//! can tell when they happen. `try_send` succeeds exactly if the receiver waits and nothing was promised to it yet.

use std::cell::Cell;
use std::sync::mpsc::{RecvTimeoutError, SendError, TrySendError};
use std::time::Duration;

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use crate::execution::{Ask, Moment, Progress};
use crate::sync::mpsc::channel::{Channel, RECV, wait_to_receive};
use crate::sync::mpsc::word::{self, NO_RECEIVER, RECEIVER_WAITS};

static OFFER: Operation = Operation { verb: "send", class: Class::Send };
static TRY_OFFER: Operation = Operation { verb: "try_send", class: Class::Send };
static HANDED_OVER: Operation = Operation { verb: "wait for the receiver", class: Class::Send };

/// What came of offering a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offered {
    /// There is no receiver any more.
    Gone,
    /// The receiver waited and will have it.
    Promised(u64),
    /// The receiver may take it later.
    Waiting(u64),
    /// The receiver does not wait, and so does not the sender.
    Refused,
}

impl<T> Channel<T> {
    pub(super) fn hand_over(&self, message: T, site: Site) -> Result<(), SendError<T>> {
        let offered = self.with(site, |place| {
            place.step(&OFFER, Effect::Change, Ordered::BOTH, site, |moment| self.offer(moment, true))
        });
        match offered {
            Offered::Gone | Offered::Refused => Err(SendError(message)),
            Offered::Promised(ticket) => {
                self.queue().push_back((ticket, message));
                Ok(())
            }
            Offered::Waiting(ticket) => {
                self.queue().push_back((ticket, message));
                self.wait_until_taken(ticket, site)
            }
        }
    }

    pub(super) fn try_hand_over(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        let offered = self.with(site, |place| {
            place.step(&TRY_OFFER, Effect::Change, Ordered::BOTH, site, |moment| self.offer(moment, false))
        });
        match offered {
            Offered::Gone => Err(TrySendError::Disconnected(message)),
            Offered::Refused => Err(TrySendError::Full(message)),
            Offered::Promised(ticket) | Offered::Waiting(ticket) => {
                self.queue().push_back((ticket, message));
                Ok(())
            }
        }
    }

    fn wait_until_taken(&self, ticket: u64, site: Site) -> Result<(), SendError<T>> {
        let taken = self.with(site, |place| {
            let ready: fn(u64, u64) -> bool = word::is_settled;
            let ask = Ask::new(&HANDED_OVER, place.object, Effect::Read, site);
            let ask = Ask { ordered: Ordered::ACQUIRE, ready: Some(ready), key: ticket, unseen: true, ..ask };
            place.execution.step(ask, |moment| {
                moment.progress(Progress::Neutral);
                word::was_taken(*moment.word(), ticket)
            })
        });
        if taken {
            return Ok(());
        }
        let mut queue = self.queue();
        let at = queue.iter().position(|(t, _)| *t == ticket).expect("raddle bug: an offered message is gone");
        let (_, message) = queue.remove(at).expect("found just now");
        Err(SendError(message))
    }

    pub(super) fn meet(&self, timeout: Option<Duration>, site: Site) -> Result<T, RecvTimeoutError> {
        self.with(site, |place| {
            let waits = Cell::new(false);
            let first = place.step(&RECV, Effect::Change, Ordered::BOTH, site, |moment| {
                let word = *moment.word();
                if word::can_receive(word, 0) {
                    return self.take_named(moment);
                }
                moment.found(word);
                waits.set(true);
                *moment.word() |= RECEIVER_WAITS;
                // A sender that polls has a reason to look again; the receiver itself has done nothing new.
                moment.progress(Progress::Neutral);
                moment.touch(place.access(Effect::Change, Ordered::RELAXED));
                Ok(())
            });
            if !waits.get() {
                return first;
            }
            let ask = wait_to_receive(&place, timeout, site);
            // When a wait with a time ends decides whose time comes next.
            let unseen = timeout.is_none();
            place.execution.step(Ask { ordered: Ordered::ACQUIRE, unseen, ..ask }, |moment| {
                *moment.word() &= !RECEIVER_WAITS;
                self.take_named(moment)
            })
        })?;
        Ok(self.pop())
    }

    /// Offers a message and gives it its name, if it is there to be taken.
    fn offer(&self, moment: &mut Moment<'_>, stays: bool) -> Offered {
        let offered = offer(moment, stays);
        if matches!(offered, Offered::Promised(_) | Offered::Waiting(_)) {
            self.name_next(moment);
        }
        offered
    }
}

/// Offers a message, as far as a receiver is there; `stays` says whether its sender would wait for one.
fn offer(moment: &mut Moment<'_>, stays: bool) -> Offered {
    let word = *moment.word();
    moment.found(word);
    if word & NO_RECEIVER != 0 {
        moment.only_looked(Ordered::ACQUIRE);
        return Offered::Gone;
    }
    let ticket = word::next_ticket(word);
    if word & RECEIVER_WAITS != 0 {
        *moment.word() = word::put(word) & !RECEIVER_WAITS;
        return Offered::Promised(ticket);
    }
    if !stays {
        moment.only_looked(Ordered::RELAXED);
        return Offered::Refused;
    }
    *moment.word() = word::put(word);
    Offered::Waiting(ticket)
}
