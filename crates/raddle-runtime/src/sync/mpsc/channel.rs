//! A controlled channel: what its senders and its receiver share.
//!
//! The [word](super::word) decides which operations are enabled. The messages are in a queue whose lock is always free, because a task does
//! not pause while it holds the lock.
//!
//! The accesses that reduction sees, in an unbounded channel:
//!
//! | step | accesses |
//! |---|---|
//! | `send` | changes the channel; changes and gives the message |
//! | `recv` | changes and takes the message, or takes the end of all senders |
//! | `try_recv`, `recv_timeout` | change the channel, or read it if there is no message; take the message |
//! | dropping an [end](super::ends) | changes the channel, or only the end of all senders |
//!
//! So a receive is independent of sends of other messages. Two receives need no common access, because only one task has the receiver. In
//! a bounded channel the two sides wait for each other, so every operation changes the channel.

use std::any::type_name;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raddle_engine::ids::{ObjectId, StepIx};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Receipt, Role, Site};

use crate::actor::digest;
use crate::coroutine::current;
use crate::execution::{Ask, Kind, Met, Moment, ObjectRef, Tag};
use crate::sync::contents;
use crate::sync::mpsc::word::{self, NO_RECEIVER, NO_SENDERS, UNBOUNDED};
use crate::time::begin_timed_wait;
use crate::uncontrolled;

static SEND: Operation = Operation { verb: "send", class: Class::Send };
static TRY_SEND: Operation = Operation { verb: "try_send", class: Class::Send };
pub(super) static RECV: Operation = Operation { verb: "recv", class: Class::Receive };
pub(super) static TRY_RECV: Operation = Operation { verb: "try_recv", class: Class::Receive };

pub(super) static CHANNEL: Kind = Kind { noun: "channel", show: word::show };

/// What senders and the receiver share.
pub(super) struct Channel<T> {
    pub(super) tag: Tag,
    /// How many messages the queue can hold; 0 for a rendezvous.
    bound: u64,
    pub(super) senders: AtomicUsize,
    pub(super) receiver_gone: AtomicBool,
    /// The object for the end of all senders: the last sender gives it, the receiver takes it.
    pub(super) end: ObjectId,
    /// The object for the number of ends that are left.
    pub(super) leaving: ObjectId,
    /// The name of the receiver in receipts. It is the same whichever task receives.
    name: u64,
    /// A hash of the type of the messages. It is 0 if steps are not recorded, so that no names are needed.
    kind: u64,
    /// For each message in the queue: the names of its sender and of the message.
    names: Mutex<VecDeque<(u64, u64)>>,
    /// The messages with their tickets. In an unbounded channel the ticket is the object of the message. In a rendezvous the sender finds
    /// its message by the ticket.
    queue: Mutex<VecDeque<(u64, T)>>,
}

impl<T> Channel<T> {
    /// Makes a channel with one sender and one receiver. `None` means no bound.
    ///
    /// The channel gets its object here and not at its first use. A sender may be dropped without a decision. If that were the first use,
    /// the number of the object would depend on an order that is not recorded.
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Arc<Self> {
        let bound = bound.map_or(UNBOUNDED, |bound| UNBOUNDED.min(bound as u64));
        let next = || current::with(|execution| execution.state.borrow_mut().next_message());
        let next = || next().expect("raddle bug: a channel under control is made outside of any execution");
        let named = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let task = state.current;
            let name = state.actors.clock(task).create("channel").name;
            (name, if state.discards_steps { 0 } else { digest(type_name::<T>()) })
        });
        let (name, kind) = named.expect("a channel under control is made inside an execution");
        let channel = Arc::new(Self {
            name,
            kind,
            names: Mutex::default(),
            tag: Tag::new(),
            bound,
            senders: AtomicUsize::new(1),
            receiver_gone: AtomicBool::new(false),
            end: next(),
            leaving: next(),
            queue: Mutex::default(),
        });
        channel.tag.with(&CHANNEL, |_| channel.first_word(), |_| ());
        channel
    }

    pub(super) fn first_word(&self) -> u64 {
        let senders = if self.senders.load(Ordering::Relaxed) == 0 { NO_SENDERS } else { 0 };
        let receiver = if self.receiver_gone.load(Ordering::Relaxed) { NO_RECEIVER } else { 0 };
        self.queue().len() as u64 | senders | receiver
    }

    /// Calls `body` with the channel's place in the running execution.
    #[track_caller]
    pub(super) fn with<R>(&self, site: Site, body: impl FnOnce(ObjectRef<'_>) -> R) -> R {
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
        inside.unwrap_or_else(|| {
            uncontrolled::panic_out_of_place(
                "raddle: this channel was made inside an execution that is over; make one where it is used",
            )
        })
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_rendezvous(&self) -> bool {
        self.bound == 0
    }

    pub(super) fn is_unbounded(&self) -> bool {
        self.bound == UNBOUNDED
    }

    /// The memory ordering of operations on the channel. In a bounded channel a receive also synchronises with later sends, which use the
    /// room it made. In an unbounded channel only messages synchronise.
    fn ordered(&self) -> Ordered {
        if self.is_unbounded() { Ordered::RELAXED } else { Ordered::BOTH }
    }

    #[track_caller]
    pub(super) fn send(&self, message: T, site: Site) -> Result<(), SendError<T>> {
        if self.is_rendezvous() {
            return self.hand_over(message, site);
        }
        let sent = self.with(site, |place| {
            let ready: fn(u64, u64) -> bool = word::can_send;
            let ready = (!self.is_unbounded()).then_some(ready);
            let ask = Ask::new(&SEND, place.object, Effect::Change, site);
            let role = if self.is_unbounded() { Role::Plain } else { Role::Waits };
            let ask = Ask { role, ordered: self.ordered(), ready, key: self.bound, ..ask };
            place.execution.step(ask, |moment| put(moment).then(|| self.give(moment)))
        });
        let Some(ticket) = sent else {
            return Err(SendError(message));
        };
        self.queue().push_back((ticket, message));
        Ok(())
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        if self.is_rendezvous() {
            return self.try_hand_over(message, site);
        }
        let full = Cell::new(false);
        let sent = self.with(site, |place| {
            place.step(&TRY_SEND, Effect::Change, self.ordered(), site, |moment| {
                let word = *moment.word();
                full.set(!word::can_send(word, self.bound));
                if full.get() {
                    moment.found(word);
                    moment.only_looked(Ordered::RELAXED);
                    return None;
                }
                put(moment).then(|| self.give(moment))
            })
        });
        if let Some(ticket) = sent {
            self.queue().push_back((ticket, message));
            Ok(())
        } else if full.get() {
            Err(TrySendError::Full(message))
        } else {
            Err(TrySendError::Disconnected(message))
        }
    }

    #[track_caller]
    pub(super) fn recv(&self, timeout: Option<Duration>, site: Site) -> Result<T, RecvTimeoutError> {
        if self.is_rendezvous() {
            return self.meet(timeout, site);
        }
        self.with(site, |place| {
            let ask = wait_to_receive(&place, timeout, site);
            // In a bounded channel the two sides wait for each other, so no access has only one role. In an unbounded channel only a
            // receive with a timeout can observe when a message was sent.
            let role = match (self.is_unbounded(), timeout) {
                (false, _) => Role::Waits,
                (true, None) => Role::Alone,
                (true, Some(_)) => Role::Takes,
            };
            let ask = Ask { role, ordered: self.ordered(), ..ask };
            place.execution.step(ask, |moment| self.take(moment, Role::Takes))
        })?;
        Ok(self.pop())
    }

    #[track_caller]
    pub(super) fn try_recv(&self, site: Site) -> Result<T, TryRecvError> {
        self.with(site, |place| {
            place.step(&TRY_RECV, Effect::Change, self.ordered(), site, |moment| {
                let word = *moment.word();
                if word::can_receive(word, 0) {
                    return self.take(moment, Role::Plain).map_err(|_| TryRecvError::Disconnected);
                }
                moment.found(word);
                moment.only_looked(Ordered::RELAXED);
                Err(TryRecvError::Empty)
            })
        })?;
        Ok(self.pop())
    }

    /// Makes an object for the message that the step has put into an unbounded channel. Returns its ticket.
    fn give(&self, moment: &mut Moment<'_>) -> u64 {
        self.name_next(moment);
        if !self.is_unbounded() {
            return 0;
        }
        moment.gives();
        let message = moment.state.next_message();
        moment.state.also_touch(message, Effect::Change, Role::Gives, Ordered::RELEASE);
        u64::from(message.number())
    }

    /// Takes the next message, or the end of all senders, unless the wait has timed out. `role` is the role of the access: it says whether
    /// the receive waited.
    fn take(&self, moment: &mut Moment<'_>, role: Role) -> Result<(), RecvTimeoutError> {
        let taken = self.take_named(moment);
        if self.is_unbounded() {
            match taken {
                Ok(()) => {
                    let ticket = self.queue().front().map(|first| first.0);
                    let ticket = ticket.expect("raddle bug: a channel has fewer messages than its word says");
                    moment.state.also_touch(message_of(ticket), Effect::Change, role, Ordered::ACQUIRE);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    moment.state.also_touch(self.end, Effect::Read, role, Ordered::RELAXED);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        taken
    }

    /// Makes the name of the message that the step has put into the channel, if steps are recorded.
    pub(super) fn name_next(&self, moment: &mut Moment<'_>) {
        if moment.state.discards_steps {
            return;
        }
        let task = moment.state.current;
        let sender = moment.state.actors.clock(task);
        let name = (sender.name, sender.name_message(self.kind));
        self.names.lock().unwrap_or_else(PoisonError::into_inner).push_back(name);
    }

    /// Takes a message and records its receipt in the trace, unless the wait has timed out or all senders are gone.
    pub(super) fn take_named(&self, moment: &mut Moment<'_>) -> Result<(), RecvTimeoutError> {
        take(moment)?;
        if moment.state.discards_steps {
            return Ok(());
        }
        let name = self.names.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let (sender, message) = name.expect("raddle bug: a channel has fewer messages than its word says");
        let task = moment.state.current;
        moment.state.actors.clock(task).read_from(self.name, sender, message);
        let step = StepIx::next_of(moment.state.trace.len() - 1);
        let (receiver, label) = (self.name, type_name::<T>());
        let receipt = Receipt { step, sender, receiver, message, label, reply: false, changed: false };
        moment.state.trace.receive(receipt);
        Ok(())
    }

    /// Removes the message from the queue that the step has taken.
    pub(super) fn pop(&self) -> T {
        let first = self.queue().pop_front();
        let message = first.expect("raddle bug: a channel has fewer messages than its word says").1;
        current::with(|execution| contents::note(execution, &message));
        message
    }
}

/// The operation of a receiver that waits for a message, the end of all senders, or its timeout.
pub(super) fn wait_to_receive(place: &ObjectRef<'_>, timeout: Option<Duration>, site: Site) -> Ask {
    let deadline = timeout.map(|timeout| begin_timed_wait(place.execution, timeout, site));
    let ready: fn(u64, u64) -> bool = word::can_receive;
    Ask { ready: Some(ready), deadline, ..Ask::new(&RECV, place.object, Effect::Change, site) }
}

/// Puts a message into a channel that has room. Returns false if the receiver is gone.
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

/// Takes a message, unless the wait has timed out or all senders are gone.
fn take(moment: &mut Moment<'_>) -> Result<(), RecvTimeoutError> {
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

/// The object of the message with this ticket, in an unbounded channel.
pub(super) fn message_of(ticket: u64) -> ObjectId {
    ObjectId::new(u32::try_from(ticket).expect("raddle bug: a ticket that is no message"))
}
