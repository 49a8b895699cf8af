//! Mailboxes while choices are drawn: of a message no more is kept than it takes to receive it.

use raddle_engine::ids::TaskId;

use crate::actor::{Delivery, Letter};
use crate::mailbox::{Heading, Mailbox, Message};
use crate::model::handling::{Parcel, Wrapping};
use crate::model::slot::WaitingMessage;

/// What waits for one actor, and what else has to be known of it to send to it.
#[derive(Default)]
pub(in crate::model) struct UntracedMailbox {
    mailbox: Mailbox<Note>,
    /// How many timers are set.
    pub(super) timers: u32,
    /// It has not stopped.
    pub(super) receives: bool,
}

/// A message.
#[derive(Clone)]
pub(in crate::model) struct Note {
    pub(super) sender: TaskId,
    /// It may be overtaken by whatever comes later.
    pub(super) delayed: bool,
    pub(super) label: &'static str,
    pub(super) body: Wrapping,
    /// All of what is on it, if deliveries are causal.
    pub(super) letter: Option<Box<Letter>>,
}

impl Message for Note {
    type Few = Vec<Self>;

    #[inline]
    fn heading(&self) -> Heading<'_> {
        let &Self { sender, delayed, ref letter, .. } = self;
        let causal = letter.as_deref().map(Letter::heading);
        let (ordinal, known) = causal.map_or((0, Default::default()), |letter| (letter.ordinal, letter.known));
        // Nobody asks for one by its number.
        Heading { number: 0, sender, delayed, ordinal, known }
    }

    fn arrive_in_time(&mut self) {
        self.delayed = false;
    }
}

impl Note {
    /// A message that lay in a mailbox.
    fn of((letter, parcel): WaitingMessage, delivery: Delivery) -> Self {
        let Letter { sender, delayed, label, .. } = letter;
        let letter = (delivery == Delivery::Causal).then(|| Box::new(letter));
        Self { sender, delayed, label, body: parcel.into_wrapping(), letter }
    }

    /// As it lies in a mailbox, under a number that no other has there.
    fn into_message(self, number: u32) -> WaitingMessage {
        let Self { sender, delayed, label, body, letter, .. } = self;
        let mut letter = letter.map_or_else(|| Letter::blank(sender, number), |letter| *letter);
        (letter.number, letter.delayed, letter.label) = (number, delayed, label);
        (letter, Parcel::unhashed(body))
    }
}

impl UntracedMailbox {
    #[inline]
    pub(in crate::model) fn len(&self) -> usize {
        self.mailbox.len()
    }

    /// Takes what lay in a mailbox, in its order, or was sent there while something lay here.
    pub(super) fn collect(&mut self, messages: Vec<WaitingMessage>, delivery: Delivery) {
        let overtakes = self.len() > 0;
        for message in messages {
            let note = Note::of(message, delivery);
            if overtakes { self.mailbox.put(delivery, note) } else { self.mailbox.append(delivery, note) }
        }
    }

    /// What is left, as it lies in a mailbox, under numbers that no other has there.
    pub(super) fn clear(&mut self, numbers: impl Iterator<Item = u32>) -> impl Iterator<Item = WaitingMessage> {
        self.mailbox.take_all().into_iter().zip(numbers).map(|(note, number)| note.into_message(number))
    }

    /// Puts a message where it belongs.
    #[inline(always)]
    pub(super) fn put(&mut self, note: Note, delivery: Delivery) {
        self.mailbox.put(delivery, note);
    }

    /// How many can be received, with the timers that can go off.
    #[inline]
    pub(super) fn count_all(&self) -> u32 {
        if self.receives { self.count_open() + self.timers } else { 0 }
    }

    /// How many can be received of those that were sent.
    #[inline]
    pub(super) fn count_open(&self) -> u32 {
        self.mailbox.count_open()
    }

    /// Takes out the one that comes after so many others that can be received.
    #[inline(always)]
    pub(super) fn take_open(&mut self, delivery: Delivery, nth: u32) -> Note {
        self.mailbox.take_open(delivery, nth)
    }
}
