//! A channel under control: what its two ends share.
//!
//! The [word](super::word) decides who can go on; the messages themselves lie in a queue whose lock is always free, because
//! tasks touch it only between two pauses.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::execution::{Ask, Kind, Met, Moment, Place, Tag};
use crate::sync::mpsc::word::{self, NO_RECEIVER, NO_SENDERS, UNBOUNDED};
use crate::time::{after, begin_timed_wait};

static SEND: Operation = Operation { verb: "send", class: Class::Send };
static TRY_SEND: Operation = Operation { verb: "try_send", class: Class::Send };
pub(super) static RECV: Operation = Operation { verb: "recv", class: Class::Receive };
pub(super) static TRY_RECV: Operation = Operation { verb: "try_recv", class: Class::Receive };
static DROP_SENDER: Operation = Operation { verb: "drop the last sender", class: Class::Write };
static DROP_RECEIVER: Operation = Operation { verb: "drop the receiver", class: Class::Write };

static CHANNEL: Kind = Kind { noun: "channel", show: word::show };

/// What senders and the receiver share.
pub(super) struct Channel<T> {
    tag: Tag,
    /// How many messages may wait to be received; 0 for a rendezvous.
    bound: u64,
    senders: AtomicUsize,
    receiver_gone: AtomicBool,
    /// Each with its ticket, by which the sender of a rendezvous channel finds its message again.
    queue: Mutex<VecDeque<(u64, T)>>,
}

impl<T> Channel<T> {
    /// A channel with one sender and one receiver; `None` means no bound.
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Self {
        let bound = bound.map_or(UNBOUNDED, |bound| UNBOUNDED.min(bound as u64));
        Self {
            tag: Tag::new(),
            bound,
            senders: AtomicUsize::new(1),
            receiver_gone: AtomicBool::new(false),
            queue: Mutex::default(),
        }
    }

    fn first_word(&self) -> u64 {
        let senders = if self.senders.load(Ordering::Relaxed) == 0 { NO_SENDERS } else { 0 };
        let receiver = if self.receiver_gone.load(Ordering::Relaxed) { NO_RECEIVER } else { 0 };
        self.queue().len() as u64 | senders | receiver
    }

    /// Calls `body` with the channel's place in the running execution.
    pub(super) fn with<R>(&self, site: Site, body: impl FnOnce(Place<'_>) -> R) -> R {
        let leaks = Cell::new(false);
        let first = |met| {
            leaks.set(met == Met::InEarlierExecution);
            self.first_word()
        };
        let inside = self.tag.with(&CHANNEL, first, |place| {
            if leaks.get() {
                place.fail_leaking(site);
            }
            body(place)
        });
        inside.expect("raddle: this channel was made inside an execution that is over; make one where it is used")
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_rendezvous(&self) -> bool {
        self.bound == 0
    }

    /// The receiver of a bounded channel publishes to its senders that there is room.
    fn ordered(&self, unbounded: Ordered) -> Ordered {
        if self.bound == UNBOUNDED { unbounded } else { Ordered::BOTH }
    }

    pub(super) fn send(&self, message: T, site: Site) -> Result<(), SendError<T>> {
        if self.is_rendezvous() {
            return self.hand_over(message, site);
        }
        let sent = self.with(site, |place| {
            let ready: fn(u64, u64) -> bool = word::can_send;
            let ready = (self.bound != UNBOUNDED).then_some(ready);
            let ask = Ask::new(&SEND, place.object, Effect::Change, site);
            let ask = Ask { ordered: self.ordered(Ordered::RELEASE), ready, key: self.bound, ..ask };
            place.execution.step(ask, |moment| {
                let sent = put(moment);
                if sent && self.bound == UNBOUNDED {
                    moment.gives();
                }
                sent
            })
        });
        if !sent {
            return Err(SendError(message));
        }
        self.queue().push_back((0, message));
        Ok(())
    }

    pub(super) fn try_send(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        if self.is_rendezvous() {
            return self.try_hand_over(message, site);
        }
        let full = Cell::new(false);
        let sent = self.with(site, |place| {
            place.step(&TRY_SEND, Effect::Change, self.ordered(Ordered::RELEASE), site, |moment| {
                let word = *moment.word();
                full.set(!word::can_send(word, self.bound));
                if full.get() {
                    moment.found(word);
                    moment.only_looked(Ordered::RELAXED);
                    return false;
                }
                put(moment)
            })
        });
        if sent {
            self.queue().push_back((0, message));
            Ok(())
        } else if full.get() {
            Err(TrySendError::Full(message))
        } else {
            Err(TrySendError::Disconnected(message))
        }
    }

    pub(super) fn recv(&self, timeout: Option<Duration>, site: Site) -> Result<T, RecvTimeoutError> {
        if self.is_rendezvous() {
            return self.meet(timeout, site);
        }
        self.with(site, |place| {
            let ask = wait_to_receive(&place, timeout, site);
            // With a bound, each side waits for the other, and no access is of one role only.
            let role = if self.bound == UNBOUNDED { Role::Takes } else { Role::Plain };
            let ask = Ask { role, ordered: self.ordered(Ordered::ACQUIRE), ..ask };
            place.execution.step(ask, take)
        })?;
        Ok(self.pop())
    }

    pub(super) fn try_recv(&self, site: Site) -> Result<T, TryRecvError> {
        self.with(site, |place| {
            place.step(&TRY_RECV, Effect::Change, self.ordered(Ordered::ACQUIRE), site, |moment| {
                let word = *moment.word();
                if word::can_receive(word, 0) {
                    return take(moment).map_err(|_| TryRecvError::Disconnected);
                }
                moment.found(word);
                moment.only_looked(Ordered::RELAXED);
                Err(TryRecvError::Empty)
            })
        })?;
        Ok(self.pop())
    }

    /// The message that the word has already been told to be taken.
    pub(super) fn pop(&self) -> T {
        self.queue().pop_front().expect("raddle bug: a channel has fewer messages than its word says").1
    }

    pub(super) fn add_sender(&self) {
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender is dropped. Only the last one is noticed, and only by a receiver.
    pub(super) fn remove_sender(&self, site: Site) {
        if self.senders.fetch_sub(1, Ordering::Relaxed) > 1 || self.receiver_gone.load(Ordering::Relaxed) {
            return;
        }
        self.tag.with(
            &CHANNEL,
            |_| self.first_word(),
            |place| {
                place.step(&DROP_SENDER, Effect::Change, Ordered::RELEASE, site, |moment| {
                    moment.gives();
                    *moment.word() |= NO_SENDERS;
                });
            },
        );
    }

    /// The receiver is dropped, and with it what it did not receive; a rendezvous gives its senders back what they offer.
    pub(super) fn remove_receiver(&self, site: Site) {
        if self.senders.load(Ordering::Relaxed) > 0 {
            self.tag.with(
                &CHANNEL,
                |_| self.first_word(),
                |place| {
                    place.step(&DROP_RECEIVER, Effect::Change, Ordered::RELEASE, site, |moment| {
                        *moment.word() |= NO_RECEIVER;
                    });
                },
            );
        }
        self.receiver_gone.store(true, Ordering::Relaxed);
        if !self.is_rendezvous() {
            // Destructors of messages may take operations, so the lock must be free by then.
            let left = std::mem::take(&mut *self.queue());
            drop(left);
        }
    }
}

/// What a receiver asks for that waits for a message, the end of all senders, or the time.
pub(super) fn wait_to_receive(place: &Place<'_>, timeout: Option<Duration>, site: Site) -> Ask {
    let deadline = timeout.map(|timeout| after(begin_timed_wait(place.execution, site), timeout));
    let ready: fn(u64, u64) -> bool = word::can_receive;
    Ask { ready: Some(ready), deadline, ..Ask::new(&RECV, place.object, Effect::Change, site) }
}

/// A message is put into a channel that has room; whether there still is a receiver.
fn put(moment: &mut Moment<'_>) -> bool {
    let word = *moment.word();
    if word & NO_RECEIVER != 0 {
        moment.found(word);
        moment.only_looked(Ordered::ACQUIRE);
        return false;
    }
    *moment.word() = word::put(word);
    moment.left(word::put(word));
    true
}

/// A message is taken, unless the time has come or all senders are gone.
pub(super) fn take(moment: &mut Moment<'_>) -> Result<(), RecvTimeoutError> {
    let word = *moment.word();
    moment.found(word);
    if word::len(word) > 0 {
        *moment.word() = word::taken(word);
        return Ok(());
    }
    let timed_out = moment.variant() == Variant::TimedOut;
    moment.only_looked(if timed_out { Ordered::RELAXED } else { Ordered::ACQUIRE });
    Err(if timed_out { RecvTimeoutError::Timeout } else { RecvTimeoutError::Disconnected })
}
