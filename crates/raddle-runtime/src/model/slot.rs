//! One actor of a model and its mailbox. Copies of a run share it until one of them changes it.

use std::sync::Arc;

use raddle_engine::ids::TaskId;

use crate::actor::{Delivery, Letter, Party, Timer, Who, mix};
use crate::model::handler::Handler;
use crate::model::handling::Parcel;

pub(super) type Factory = Arc<dyn Fn() -> Arc<dyn Handler> + Send + Sync>;

/// An actor of a model.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) card: Arc<Card>,
    pub(super) body: Body,
    pub(super) mail: Mail,
}

/// What never changes.
pub(super) struct Card {
    pub(super) who: Who,
    /// Who created it, and which of those it is, from 1.
    pub(super) parent: TaskId,
    pub(super) ordinal: u32,
    pub(super) external: bool,
    pub(super) may_crash: bool,
    pub(super) factory: Option<Factory>,
}

/// What only the actor itself changes.
#[derive(Clone)]
pub(super) struct Body {
    /// `None` if it has stopped.
    pub(super) actor: Option<Arc<dyn Handler>>,
    pub(super) party: Party,
    pub(super) children: u32,
    pub(super) restarts: u32,
    pub(super) next_timer: u32,
    pub(super) digest: u64,
}

/// What waits to be received.
#[derive(Clone, Default)]
pub(super) struct Mail {
    /// In order of arrival.
    pub(super) queue: Vec<(Letter, Parcel)>,
    pub(super) timers: Vec<(Timer, Letter, Parcel)>,
    pub(super) digest: u64,
}

impl Body {
    pub(super) fn new(actor: Arc<dyn Handler>, party: Party) -> Self {
        let mut body = Self { actor: Some(actor), party, children: 0, restarts: 0, next_timer: 0, digest: 0 };
        body.refresh();
        body
    }

    /// The state has changed.
    pub(super) fn refresh(&mut self) {
        let state = self.actor.as_ref().map_or(0, |actor| actor.digest());
        self.digest = mix(mix(state, u64::from(self.restarts)), self.party.knowledge());
    }
}

impl Mail {
    /// Puts a letter where it belongs, under a number that no other has.
    pub(super) fn put(&mut self, delivery: Delivery, mut letter: Letter, parcel: Parcel) -> u32 {
        while self.has(letter.number) {
            letter.number = letter.number.wrapping_add(1);
        }
        let number = letter.number;
        let len = self.queue.len();
        let place = delivery.place_for_next(self.queue.last_mut().map(|last| &mut last.0), len);
        self.queue.insert(place, (letter, parcel));
        self.refresh(delivery);
        number
    }

    pub(super) fn set_timer(&mut self, delivery: Delivery, timer: Timer, mut letter: Letter, parcel: Parcel) -> u32 {
        while self.has(letter.number) {
            letter.number = letter.number.wrapping_add(1);
        }
        let number = letter.number;
        self.timers.push((timer, letter, parcel));
        self.refresh(delivery);
        number
    }

    fn has(&self, number: u32) -> bool {
        let timers = self.timers.iter().map(|(_, letter, _)| letter);
        self.queue.iter().map(|(letter, _)| letter).chain(timers).any(|letter| letter.number == number)
    }

    /// Takes a message out: the one with this number, or the oldest.
    pub(super) fn take(&mut self, delivery: Delivery, number: Option<u32>) -> (Letter, Parcel) {
        let place = number.map_or(Some(0), |number| self.queue.iter().position(|mail| mail.0.number == number));
        let taken = match place {
            Some(place) => self.queue.remove(place),
            None => {
                let timer = self.timers.iter().position(|timer| Some(timer.1.number) == number);
                let (_, letter, parcel) = self.timers.remove(timer.expect("raddle bug: the message is gone"));
                (letter, parcel)
            }
        };
        self.refresh(delivery);
        taken
    }

    /// Hashes what can be told of the queue by what can be received from it, in which order.
    pub(super) fn refresh(&mut self, delivery: Delivery) {
        let timers = self.timers.iter().fold(0_u64, |sum, timer| sum.wrapping_add(mix(timer.2.digest, 1)));
        let mail = || self.queue.iter().enumerate();
        let contents = |letter: &Letter, parcel: &Parcel| mix(parcel.digest, u64::from(letter.delayed));
        let queue = match delivery {
            Delivery::Arrival => mail().fold(0, |hash, (_, (letter, parcel))| mix(hash, contents(letter, parcel))),
            Delivery::Unordered => {
                mail().fold(0_u64, |sum, (_, (letter, parcel))| sum.wrapping_add(contents(letter, parcel)))
            }
            Delivery::PerSender | Delivery::Causal => mail().fold(0_u64, |sum, (at, (letter, parcel))| {
                let before = self.queue[..at].iter().filter(|other| other.0.sender == letter.sender).count() as u64;
                let place = mix(u64::from(letter.sender.number()) << 32 | before, letter.knowledge());
                sum.wrapping_add(mix(place, contents(letter, parcel)))
            }),
        };
        self.digest = mix(queue, timers);
    }
}
