//! Rendezvous channels: they have no room for a message, so each send waits for its receive.
//!
//! A receive has two steps. In the first it takes a message that a sender offers; if there is none, it announces that it waits. In the
//! second it takes the message that was promised to it in the meantime. A send has two steps as well. If the receiver waits, the send promises
//! its message to it and is done. Otherwise it offers the message, and its second step waits until the message is taken. The second steps
//! are invisible, unless there is a timeout. `try_send` succeeds exactly if the receiver waits and no message was promised to it yet.

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

/// The result of offering a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offered {
    /// The receiver is gone.
    Gone,
    /// The receiver waits and will take it. The number is the ticket.
    Promised(u64),
    /// The receiver may take it later. The number is the ticket.
    Waiting(u64),
    /// The receiver does not wait, and the sender does not want to wait.
    Refused,
}

impl<T> Channel<T> {
    #[track_caller]
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

    #[track_caller]
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

    #[track_caller]
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

    #[track_caller]
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
                // For a sender that polls this is a change. For spin detection of the receiver it is none.
                moment.progress(Progress::Neutral);
                moment.touch(place.access(Effect::Change, Ordered::RELAXED));
                Ok(())
            });
            if !waits.get() {
                return first;
            }
            let ask = wait_to_receive(&place, timeout, site);
            // Reduction is not proven for a receive of two steps that may time out in between.
            place.execution.state.borrow_mut().caveats.reduction_unproven |= timeout.is_some();
            // A timed wait accesses the clock when it ends, so then the step is visible.
            let unseen = timeout.is_none();
            place.execution.step(Ask { ordered: Ordered::ACQUIRE, unseen, ..ask }, |moment| {
                *moment.word() &= !RECEIVER_WAITS;
                self.take_named(moment)
            })
        })?;
        Ok(self.pop())
    }

    /// Offers a message, and makes its name if the receiver can take it.
    fn offer(&self, moment: &mut Moment<'_>, stays: bool) -> Offered {
        let offered = offer(moment, stays);
        if matches!(offered, Offered::Promised(_) | Offered::Waiting(_)) {
            self.name_next(moment);
        }
        offered
    }
}

/// Offers a message. `stays` says whether the sender would wait for the receiver.
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
