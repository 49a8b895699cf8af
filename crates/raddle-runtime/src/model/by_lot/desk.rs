//! Mailboxes while lots are drawn: of a message no more is kept than it takes to receive it.

use raddle_engine::ids::TaskId;

use crate::actor::{Delivery, Letter};
use crate::model::handling::{Parcel, Wrapping};
use crate::model::slot::Post;

/// What waits for one actor, and what else has to be known of it to send to it.
#[derive(Default)]
pub(in crate::model) struct Desk {
    /// In order of arrival.
    notes: Vec<Note>,
    /// How many timers are set.
    pub(super) timers: u32,
    /// It has not stopped.
    pub(super) receives: bool,
}

/// A message.
pub(super) struct Note {
    pub(super) sender: TaskId,
    /// It may be overtaken by whatever comes later.
    pub(super) delayed: bool,
    pub(super) label: &'static str,
    pub(super) body: Wrapping,
    /// All of what is on it, if deliveries are causal.
    pub(super) letter: Option<Box<Letter>>,
}

impl Note {
    /// A message that lay in a mailbox.
    fn of((letter, parcel): Post, delivery: Delivery) -> Self {
        let Letter { sender, delayed, label, .. } = letter;
        let letter = (delivery == Delivery::Causal).then(|| Box::new(letter));
        Self { sender, delayed, label, body: parcel.into_wrapping(), letter }
    }

    /// As it lies in a mailbox, under a number that no other has there.
    fn into_post(self, number: u32) -> Post {
        let Self { sender, delayed, label, body, letter } = self;
        let mut letter = letter.map_or_else(|| Letter::blank(sender, number), |letter| *letter);
        (letter.number, letter.delayed, letter.label) = (number, delayed, label);
        (letter, Parcel::unhashed(body))
    }
}

impl Desk {
    #[inline]
    pub(in crate::model) fn len(&self) -> usize {
        self.notes.len()
    }

    /// Takes what lay in a mailbox, in its order, or was sent there while something lay here.
    pub(super) fn collect(&mut self, posts: impl Iterator<Item = Post>, delivery: Delivery) {
        let notes = posts.map(|post| Note::of(post, delivery));
        if self.notes.is_empty() {
            self.notes.extend(notes);
        } else {
            notes.for_each(|note| self.put(note, delivery));
        }
    }

    /// What is left, as it lies in a mailbox, under numbers that no other has there.
    pub(super) fn clear<'a>(&'a mut self, numbers: impl Iterator<Item = u32> + 'a) -> impl Iterator<Item = Post> + 'a {
        self.notes.drain(..).zip(numbers).map(|(note, number)| note.into_post(number))
    }

    /// Puts a message where it belongs.
    #[inline(always)]
    pub(super) fn put(&mut self, note: Note, delivery: Delivery) {
        match self.notes.last_mut() {
            Some(last) if last.delayed => self.put_beside_late(note, delivery),
            _ => self.notes.push(note),
        }
    }

    /// The same where the last one there may be overtaken.
    #[cold]
    fn put_beside_late(&mut self, note: Note, delivery: Delivery) {
        let len = self.notes.len();
        let place = delivery.place_for_next(self.notes.last_mut().map(|last| &mut last.delayed), len);
        self.notes.insert(place, note);
    }

    /// How many can be received, with the timers that can go off.
    #[inline]
    pub(super) fn count_all(&self, delivery: Delivery) -> u32 {
        if self.receives { self.count_open(delivery) + self.timers } else { 0 }
    }

    /// How many can be received of those that were sent.
    #[inline]
    pub(super) fn count_open(&self, delivery: Delivery) -> u32 {
        match delivery {
            Delivery::Unordered => self.notes.len() as u32,
            _ if self.notes.len() <= 1 => self.notes.len() as u32,
            Delivery::Arrival => 1,
            Delivery::PerSender | Delivery::Causal => self.open(delivery).count() as u32,
        }
    }

    /// Takes out the one that comes after so many others that can be received.
    #[inline(always)]
    pub(super) fn take_open(&mut self, delivery: Delivery, nth: u32) -> Note {
        let place = match delivery {
            Delivery::Arrival | Delivery::Unordered => nth as usize,
            Delivery::PerSender | Delivery::Causal => {
                self.open(delivery).nth(nth as usize).expect("raddle bug: fewer can be received than were counted")
            }
        };
        if place + 1 == self.notes.len()
            && let Some(last) = self.notes.pop()
        {
            return last;
        }
        self.notes.remove(place)
    }

    /// Where those lie that can be received.
    fn open(&self, delivery: Delivery) -> impl Iterator<Item = usize> + '_ {
        (0..self.notes.len()).filter(move |&place| match delivery {
            Delivery::Causal => {
                let letters = || self.notes.iter().filter_map(|note| note.letter.as_deref());
                self.notes[place].letter.as_deref().is_some_and(|letter| delivery.lets(letters(), place, letter))
            }
            _ => {
                let sender = self.notes[place].sender;
                self.notes[..place].iter().all(|other| other.delayed || other.sender != sender)
            }
        })
    }
}
