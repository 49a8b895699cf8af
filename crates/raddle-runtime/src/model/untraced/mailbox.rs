//! Mailboxes of untraced runs. A message has only what is needed to receive it.

use raddle_engine::ids::TaskId;

use crate::actor::{Delivery, Envelope};
use crate::mailbox::{DeliveryInfo, Known, Mailbox, Message};
use crate::model::handling::{Payload, PayloadCell};
use crate::model::slot::WaitingMessage;

/// The messages for one actor, and what senders need to know of it.
#[derive(Default)]
pub(in crate::model) struct UntracedMailbox {
    mailbox: Mailbox<UntracedMessage>,
    /// How many timers are set.
    pub(super) timers: u32,
    /// It has not stopped.
    pub(super) receives: bool,
}

/// A message.
#[derive(Clone)]
pub(in crate::model) struct UntracedMessage {
    pub(super) sender: TaskId,
    /// It may be overtaken by whatever comes later.
    pub(super) delayed: bool,
    pub(super) label: &'static str,
    pub(super) body: PayloadCell,
    /// The whole envelope, in causal order.
    pub(super) envelope: Option<Box<Envelope>>,
}

impl Message for UntracedMessage {
    type Few = Vec<Self>;

    #[inline]
    fn delivery_info(&self) -> DeliveryInfo<'_> {
        let &Self { sender, delayed, ref envelope, .. } = self;
        let causal = envelope.as_deref().map(Envelope::delivery_info);
        let (ordinal, known) = causal.map_or((0, Known::NOTHING), |envelope| (envelope.ordinal, envelope.known));
        // Untraced runs do not use numbers.
        DeliveryInfo { number: 0, sender, delayed, ordinal, known }
    }

    fn arrive_in_time(&mut self) {
        self.delayed = false;
    }
}

impl UntracedMessage {
    /// A message that comes from a traced mailbox.
    fn of((envelope, payload): WaitingMessage, delivery: Delivery) -> Self {
        let Envelope { sender, delayed, label, .. } = envelope;
        let envelope = (delivery == Delivery::Causal).then(|| Box::new(envelope));
        Self { sender, delayed, label, body: payload.into_cell(), envelope }
    }

    /// The message for a traced mailbox, with a number that no other has there.
    fn into_message(self, number: u32) -> WaitingMessage {
        let Self { sender, delayed, label, body, envelope, .. } = self;
        let mut envelope = envelope.map_or_else(|| Envelope::blank(sender, number), |envelope| *envelope);
        (envelope.number, envelope.delayed, envelope.label) = (number, delayed, label);
        (envelope, Payload::unhashed(body))
    }
}

impl UntracedMailbox {
    #[inline]
    pub(in crate::model) fn len(&self) -> usize {
        self.mailbox.len()
    }

    /// Adds messages from the traced mailbox, in their order.
    pub(super) fn collect(&mut self, messages: Vec<WaitingMessage>, delivery: Delivery) {
        let overtakes = self.len() > 0;
        for message in messages {
            let message = UntracedMessage::of(message, delivery);
            if overtakes { self.mailbox.put(delivery, message) } else { self.mailbox.append(delivery, message) }
        }
    }

    /// Takes out all messages, for the traced mailbox, with numbers that no other has there.
    pub(super) fn clear(&mut self, numbers: impl Iterator<Item = u32>) -> impl Iterator<Item = WaitingMessage> {
        self.mailbox.take_all().into_iter().zip(numbers).map(|(message, number)| message.into_message(number))
    }

    /// Puts a message into the mailbox.
    #[inline(always)]
    pub(super) fn put(&mut self, message: UntracedMessage, delivery: Delivery) {
        self.mailbox.put(delivery, message);
    }

    /// How many can be received, with the timers that can go off.
    #[inline]
    pub(super) fn count_all(&self) -> u32 {
        if self.receives { self.count_open() + self.timers } else { 0 }
    }

    /// How many messages can be received.
    #[inline]
    pub(super) fn count_open(&self) -> u32 {
        self.mailbox.count_open()
    }

    /// Takes out the one that comes after so many others that can be received.
    #[inline(always)]
    pub(super) fn take_open(&mut self, delivery: Delivery, nth: u32) -> UntracedMessage {
        self.mailbox.take_open(delivery, nth)
    }
}
