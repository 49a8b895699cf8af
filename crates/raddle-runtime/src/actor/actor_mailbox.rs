//! The mailbox of one actor inside an execution: its messages, in the form that the run needs, and its timers.

use std::mem;

use raddle_engine::ids::{ObjectId, TaskId};
use smallvec::SmallVec;

use crate::actor::causal_sets::CausalSets;
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::envelope::Envelope;
use crate::actor::resident::Resident;
use crate::actor::store::{StoreId, StoreSlot};
use crate::mailbox::{Blank, DeliveryInfo, Mailbox, Message, Slotted};

/// A mailbox. The fields that untraced runs use come first, in one cache line: with many mailboxes, fetching these lines is most of the cost
/// of a step.
#[repr(C, align(64))]
pub(crate) struct ActorMailbox {
    /// The actor, in its [`Home`](crate::actor::life::Home), while it is not in a handler and `with` does not look at it.
    pub(crate) actor: Option<Box<dyn Resident>>,
    /// How many messages were received in the present untraced run.
    pub(super) received: u32,
    pub(crate) task: TaskId,
    /// The store of its messages.
    pub(crate) store: StoreId,
    pub(crate) delivery: Delivery,
    /// Which of the mailboxes below its messages are in.
    pub(super) form: MessageForm,
    /// It can only receive messages: no timer is set, and it may not crash.
    pub(crate) plain: bool,
    /// Its actor has not begun yet, or waits for something else in the middle of a handler.
    pub(super) away: bool,
    /// True in an untraced run, if what is sent to this mailbox arrives at once.
    pub(super) at_once: bool,
    pub(super) blank: Mailbox<Blank>,
    pub(super) slotted: Mailbox<Slotted>,
    pub(super) named: Mailbox<Named>,
    /// How many messages there were when the present untraced run began.
    pub(super) began_with: usize,
    pub(crate) timers: Vec<(Timer, u64, Envelope)>,
    /// The messages of the timers.
    pub(crate) timed: Vec<(Timer, StoreSlot)>,
    /// How many decisions had been taken when its actor last received or started. Receives of untraced runs do not change it.
    pub(crate) since: u64,
    pub(crate) may_crash: bool,
    pub(crate) stopped: bool,
    pub(crate) system: u32,
    /// The object that its receives change.
    pub(crate) head: ObjectId,
    /// The object that sends to it change, if delivery is in order of arrival.
    pub(crate) tail: ObjectId,
    /// The object that all receives of the system access.
    pub(crate) activity: ObjectId,
    pub(crate) faults: ObjectId,
}

// The first messages are still in the first cache line.
const _: () = assert!(mem::offset_of!(ActorMailbox, blank) == 32);

/// How much a mailbox stores about its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageForm {
    /// The whole envelope: if steps are recorded, or if clocks say what senders knew.
    Named,
    /// In untraced runs, unless deliveries are causal.
    Blank,
    /// In untraced runs with causal deliveries, if [sets](CausalSets) say what senders know.
    Slotted,
}

/// A message that has a name.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) envelope: Envelope,
    pub(super) place: StoreSlot,
}

impl Message for Named {
    type Few = SmallVec<[Self; 1]>;

    #[inline]
    fn delivery_info(&self) -> DeliveryInfo<'_> {
        self.envelope.delivery_info()
    }

    fn arrive_in_time(&mut self) {
        self.envelope.delayed = false;
    }
}

/// What an actor received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The message in this slot of its store.
    Message(StoreSlot),
    /// The message of this timer.
    Timer(Timer),
    /// Nothing: it crashes.
    Crash,
}

impl ActorMailbox {
    /// How many messages wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self.form {
            MessageForm::Named => self.named.len(),
            MessageForm::Blank => self.blank.len(),
            MessageForm::Slotted => self.slotted.len(),
        }
    }

    /// How many messages can be received.
    #[inline]
    pub(super) fn count_open(&self) -> u32 {
        match self.form {
            MessageForm::Named => self.named.count_open(),
            MessageForm::Blank => self.blank.count_open(),
            MessageForm::Slotted => self.slotted.count_open(),
        }
    }

    /// Calls `list` with the number of each message that can be received, in order of arrival.
    #[inline]
    pub(super) fn each_open(&self, list: impl FnMut(u32)) {
        match self.form {
            MessageForm::Named => self.named.each_open(self.delivery, list),
            MessageForm::Blank => self.blank.each_open(self.delivery, list),
            MessageForm::Slotted => self.slotted.each_open(self.delivery, list),
        }
    }

    /// The number of the oldest message.
    #[inline]
    pub(super) fn first_number(&self) -> Option<u32> {
        match self.form {
            MessageForm::Named => self.named.first_number(),
            MessageForm::Blank => self.blank.first_number(),
            MessageForm::Slotted => self.slotted.first_number(),
        }
    }

    /// The first number from this one on that no message has.
    #[inline]
    pub(super) fn free_number(&self, mut number: u32) -> u32 {
        while self.named.has(number) {
            number = number.wrapping_add(1);
        }
        number
    }

    #[inline(always)]
    pub(super) fn put_blank(&mut self, place: StoreSlot, sender: TaskId, delayed: bool) {
        // In other orders the sender makes no difference.
        let sender = (self.delivery == Delivery::PerSender).then_some(sender);
        self.blank.put(self.delivery, Blank { place: place.0, sender, delayed });
    }

    /// Takes out the message with this number, or the oldest.
    #[inline]
    pub(super) fn take(&mut self, sets: &mut CausalSets, number: Option<u32>) -> (Taken, Option<Envelope>) {
        const GONE: &str = "raddle bug: the message is gone";
        let (place, envelope) = match self.form {
            MessageForm::Named => {
                let Named { envelope, place } = self.named.take(self.delivery, number).expect(GONE);
                (place, Some(envelope))
            }
            MessageForm::Blank => (StoreSlot(self.blank.take(self.delivery, number).expect(GONE).place), None),
            MessageForm::Slotted => {
                let message = self.slotted.take(self.delivery, number).expect(GONE);
                (sets.receive(&message, self.task), None)
            }
        };
        (Taken::Message(place), envelope)
    }

    /// Takes out all messages: the sender of each, and its place in the store.
    pub(super) fn take_all(&mut self, sets: &mut CausalSets) -> Vec<(TaskId, StoreSlot)> {
        match self.form {
            MessageForm::Named => {
                self.named.take_all().into_iter().map(|named| (named.envelope.sender, named.place)).collect()
            }
            MessageForm::Blank => {
                let blank = |blank: Blank| (blank.sender.unwrap_or(TaskId::MAIN), StoreSlot(blank.place));
                self.blank.take_all().into_iter().map(blank).collect()
            }
            MessageForm::Slotted => {
                let message = |message: Slotted| (message.sender, sets.discard(&message));
                self.slotted.take_all().into_iter().map(message).collect()
            }
        }
    }

    /// Takes out the timer that is due first.
    #[cold]
    pub(super) fn take_timer(&mut self) -> (Taken, Option<Envelope>) {
        let due = self.timers.iter().enumerate().min_by_key(|(_, timer)| timer.1).map(|(at, _)| at);
        let due = due.expect("raddle bug: a timer went off that is not set");
        let (timer, _, envelope) = self.change_timers(|timers| timers.remove(due));
        (Taken::Timer(timer), Some(envelope))
    }

    /// Adds or removes timers.
    pub(crate) fn change_timers<R>(&mut self, change: impl FnOnce(&mut Vec<(Timer, u64, Envelope)>) -> R) -> R {
        let changed = change(&mut self.timers);
        self.plain = self.timers.is_empty() && !self.may_crash;
        changed
    }

    /// When the first of its timers is due.
    #[inline]
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.timers.iter().map(|timer| timer.1).min()
    }
}
