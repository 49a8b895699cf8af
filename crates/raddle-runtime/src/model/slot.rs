//! One actor of a model and its mailbox. Copies of a run share it until one of them changes it.

use std::rc::Rc;

use raddle_engine::ids::TaskId;
use smallvec::SmallVec;

use crate::actor::{CausalClock, Delivery, Envelope, Timer, Who, combine};
use crate::mailbox::{DeliveryInfo, HashedMessage, Mailbox, Message};
use crate::model::handle::{Handled, Ran};
use crate::model::handler::Handler;
use crate::model::handling::Payload;

/// A message in a mailbox.
pub(super) type WaitingMessage = (Envelope, Payload);

impl Message for WaitingMessage {
    /// Most mailboxes are short, and a copy is made of each that changes.
    type Few = SmallVec<[Self; 2]>;

    #[inline]
    fn delivery_info(&self) -> DeliveryInfo<'_> {
        self.0.delivery_info()
    }

    fn arrive_in_time(&mut self) {
        self.0.delayed = false;
    }

    #[inline]
    fn hashed(&self) -> Option<HashedMessage> {
        let (envelope, payload) = self;
        let Envelope { sender, delayed, .. } = *envelope;
        Some(HashedMessage { sender, contents: payload.digest, delayed, knowledge: envelope.knowledge() })
    }
}

pub(super) type Factory = Rc<dyn Fn() -> Rc<dyn Handler>>;

/// An actor of a model.
pub(super) struct Slot {
    pub(super) body: Body,
    pub(super) mail: Mail,
}

impl Slot {
    /// Whether it has nothing to receive.
    pub(super) fn is_idle(&self) -> bool {
        self.body.actor.is_none() || self.mail.queue.is_empty() && self.mail.timers.is_empty()
    }
}

/// A search copies a slot at nearly every step, mostly into the memory of one that is not used any more.
impl Clone for Slot {
    fn clone(&self) -> Self {
        Self { body: self.body.clone(), mail: self.mail.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        let Body { actor, clock, children, restarts, next_timer, of, digest } = &other.body;
        self.body.actor.clone_from(actor);
        self.body.clock.clone_from(clock);
        (self.body.children, self.body.restarts, self.body.next_timer) = (*children, *restarts, *next_timer);
        (self.body.of, self.body.digest) = (*of, *digest);
        let Mail { queue, timers, of, digest } = &other.mail;
        self.mail.queue.clone_from(queue);
        self.mail.timers.clone_from(timers);
        (self.mail.of, self.mail.digest) = (*of, *digest);
    }
}

/// The part of an actor that never changes.
#[derive(Clone)]
pub(super) struct ActorInfo {
    pub(super) who: Who,
    /// Who created it, and its number among the actors with the same creator, from 1.
    pub(super) parent: TaskId,
    pub(super) ordinal: u32,
    pub(super) external: bool,
    pub(super) may_crash: bool,
    pub(super) factory: Option<Factory>,
}

/// The part of an actor that only the actor itself changes.
#[derive(Clone)]
pub(super) struct Body {
    /// `None` if it has stopped.
    pub(super) actor: Option<Rc<dyn Handler>>,
    pub(super) clock: CausalClock,
    pub(super) children: u32,
    pub(super) restarts: u32,
    pub(super) next_timer: u32,
    /// The number of the actor.
    of: u32,
    /// What it adds to the hash of the state.
    pub(super) digest: u64,
}

/// The messages and timers that wait to be received.
pub(super) struct Mail {
    pub(super) queue: Mailbox<WaitingMessage>,
    pub(super) timers: Vec<(Timer, Envelope, Payload)>,
    /// The number of the actor.
    of: u32,
    /// What it adds to the hash of the state.
    pub(super) digest: u64,
}

/// Mixed into the hash of a part of an actor, so that equal parts of different actors have different hashes.
#[derive(Clone, Copy)]
enum Part {
    Body = 0,
    Message = 1,
    Delayed = 2,
    Timer = 3,
}

impl Part {
    #[inline]
    fn of(self, actor: u32) -> u64 {
        u64::from(actor) << 2 | self as u64
    }
}

impl Body {
    pub(super) fn new(of: u32, actor: Rc<dyn Handler>, clock: CausalClock) -> Self {
        let mut body = Self { actor: Some(actor), clock, children: 0, restarts: 0, next_timer: 0, of, digest: 0 };
        body.refresh();
        body
    }

    /// Replaces the actor by its state after a handler. Returns the other effects of the handler.
    #[inline]
    pub(super) fn set(&mut self, ran: Ran) -> Handled {
        self.digest = self.digest_with(ran.digest);
        self.replace(ran)
    }

    /// The same without hashes.
    #[inline]
    pub(super) fn replace(&mut self, ran: Ran) -> Handled {
        let before = ran.state.and_then(|state| self.actor.replace(state));
        // Timers of a handler that has panicked are void.
        if ran.panicked.is_none() {
            self.next_timer = ran.handling.next_timer;
        }
        Handled { handling: ran.handling, panicked: ran.panicked, before }
    }

    /// Computes the hash again after a change.
    pub(super) fn refresh(&mut self) {
        self.digest = self.digest_with(self.actor.as_ref().map_or(0, |actor| actor.digest()));
    }

    /// What it would add to the hash of the state if its actor had this hash.
    #[inline]
    pub(super) fn digest_with(&self, state: u64) -> u64 {
        let (own, known) = (combine(state, Part::Body.of(self.of)), self.clock.knowledge());
        if self.restarts == 0 && known == 0 { own } else { combine(combine(own, u64::from(self.restarts)), known) }
    }
}

impl Clone for Mail {
    #[inline]
    fn clone(&self) -> Self {
        let queue = self.queue.clone();
        let timers = if self.timers.is_empty() { Vec::new() } else { self.timers.clone() };
        Self { queue, timers, ..*self }
    }
}

impl Mail {
    pub(super) fn new(of: u32, delivery: Delivery) -> Self {
        let mut mail = Self { queue: Mailbox::default(), timers: Vec::new(), of, digest: 0 };
        mail.refresh(delivery);
        mail
    }

    /// Adds a message. If its number is taken, it gets the next free one.
    pub(super) fn put(&mut self, delivery: Delivery, mut envelope: Envelope, payload: Payload) -> u32 {
        // In order of arrival messages are not received by number, only timers are.
        let any_order = delivery != Delivery::Arrival;
        while self.has_timer(envelope.number) || any_order && self.queue.has(envelope.number) {
            envelope.number = envelope.number.wrapping_add(1);
        }
        let number = envelope.number;
        let adds = self.adds(&envelope, &payload);
        self.queue.put(delivery, (envelope, payload));
        if delivery == Delivery::Unordered {
            self.digest = self.digest.wrapping_add(adds);
        } else {
            self.refresh(delivery);
        }
        number
    }

    pub(super) fn set_timer(&mut self, timer: Timer, mut envelope: Envelope, payload: Payload) -> u32 {
        while self.has_timer(envelope.number) || self.queue.has(envelope.number) {
            envelope.number = envelope.number.wrapping_add(1);
        }
        let number = envelope.number;
        self.digest = self.digest.wrapping_add(self.timer_adds(&payload));
        self.timers.push((timer, envelope, payload));
        number
    }

    /// Removes the timers for which `keep` returns false.
    pub(super) fn retain_timers(&mut self, keep: impl Fn(Timer) -> bool) {
        let (kept, gone) = std::mem::take(&mut self.timers).into_iter().partition(|timer| keep(timer.0));
        self.timers = kept;
        let gone: Vec<(Timer, Envelope, Payload)> = gone;
        for (_, _, payload) in &gone {
            self.digest = self.digest.wrapping_sub(self.timer_adds(payload));
        }
    }

    /// Takes out all messages, and removes the timers.
    pub(super) fn clear(&mut self, delivery: Delivery) -> Vec<WaitingMessage> {
        let left = self.queue.take_all();
        *self = Self::new(self.of, delivery);
        left
    }

    fn has_timer(&self, number: u32) -> bool {
        self.timers.iter().any(|timer| timer.1.number == number)
    }

    /// The message with this number, or the oldest.
    pub(super) fn look(&self, number: Option<u32>) -> &Payload {
        match self.queue.get(number) {
            Some(message) => &message.1,
            None => {
                let timer = self.timers.iter().find(|timer| Some(timer.1.number) == number);
                &timer.expect("raddle bug: the message is gone").2
            }
        }
    }

    /// Takes a message out: the one with this number, or the oldest.
    pub(super) fn take(&mut self, delivery: Delivery, number: Option<u32>) -> WaitingMessage {
        match self.queue.take(delivery, number) {
            Some((envelope, payload)) if delivery == Delivery::Unordered => {
                self.digest = self.digest.wrapping_sub(self.adds(&envelope, &payload));
                (envelope, payload)
            }
            Some(message) => {
                self.refresh(delivery);
                message
            }
            None => {
                let timer = self.timers.iter().position(|timer| Some(timer.1.number) == number);
                let (_, envelope, payload) = self.timers.remove(timer.expect("raddle bug: the message is gone"));
                self.digest = self.digest.wrapping_sub(self.timer_adds(&payload));
                (envelope, payload)
            }
        }
    }

    /// Updates the hash after a change, in mailboxes with an order.
    fn refresh(&mut self, delivery: Delivery) {
        if delivery != Delivery::Unordered {
            self.digest = self.digest_with(delivery, None, std::iter::empty());
        }
    }

    /// What a timer of this mailbox adds to the hash of the state.
    fn timer_adds(&self, payload: &Payload) -> u64 {
        combine(payload.digest, Part::Timer.of(self.of))
    }

    /// What a message of this mailbox adds to the hash of the state, where there is no order.
    #[inline]
    pub(super) fn adds(&self, envelope: &Envelope, payload: &Payload) -> u64 {
        adds(payload.digest, envelope.delayed, self.of)
    }

    /// What this mailbox would add to the hash of the state, without the message that has this number, or the oldest if none is given, and
    /// with others that one sender sends to it; where messages are in an order.
    pub(super) fn digest_with(
        &self,
        delivery: Delivery,
        without: Option<Option<u32>>,
        sent: impl Iterator<Item = HashedMessage>,
    ) -> u64 {
        debug_assert!(delivery != Delivery::Unordered, "raddle bug: what comes and goes is added or taken away");
        let timers = self.timers.iter().fold(0_u64, |sum, timer| sum.wrapping_add(self.timer_adds(&timer.2)));
        let queue = combine(self.queue.hash_with(delivery, without, sent), Part::Message.of(self.of));
        queue.wrapping_add(timers)
    }
}

/// What a message with this hash adds to the hash of the state in the mailbox of an actor, without an order. It does not depend on other
/// messages, so it can be added and subtracted.
#[inline]
pub(super) fn adds(message: u64, delayed: bool, actor: u32) -> u64 {
    let part = if delayed { Part::Delayed } else { Part::Message };
    combine(message, part.of(actor))
}
