//! Envelopes: everything about a message except its contents. And how messages and actors get their names.
//!
//! `hash(actor) = H(type, hash(receive that created it), how many it created before)`, and the same for a message and the receive
//! that sent it. So names do not depend on what others do meanwhile, and survive most edits of the program.

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::trace::Receipt;

use crate::actor::delivery::Delivery;
use crate::actor::digest::{digest, mix};
use crate::mailbox::{DeliveryInfo, Known};

/// Everything about a message except its contents.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    /// The number of the message in schedules. It is unique in its mailbox.
    pub(crate) number: u32,
    pub(crate) sender: TaskId,
    /// How many messages its sender has sent before.
    pub(crate) ordinal: u32,
    /// Messages that are sent later may overtake it.
    pub(crate) delayed: bool,
    pub(crate) name: u64,
    pub(crate) sender_name: u64,
    pub(crate) label: &'static str,
    /// By task, how many of its messages the sender knew of. Empty unless deliveries are causal.
    clock: Box<[u32]>,
}

impl Envelope {
    /// An envelope with a sender and a number only, for untraced runs.
    #[inline]
    pub(crate) fn blank(sender: TaskId, number: u32) -> Self {
        let (name, sender_name, label, clock) = (0, 0, "", Box::default());
        Self { number, sender, ordinal: 0, delayed: false, name, sender_name, label, clock }
    }

    /// An envelope of an untraced run in causal order: sender, number, ordinal and the clock of the sender.
    pub(super) fn knowing(clock: Vec<u32>, sender: TaskId, (number, ordinal): (u32, u32), delayed: bool) -> Self {
        Self { ordinal, delayed, clock: clock.into_boxed_slice(), ..Self::blank(sender, number) }
    }

    /// The object that the send gives and the receive takes.
    pub(crate) fn object(&self) -> ObjectId {
        ObjectId::message(self.sender, self.ordinal)
    }

    /// A hash of what its sender knew; 0 unless deliveries are causal.
    #[inline]
    pub(crate) fn knowledge(&self) -> u64 {
        if self.clock.is_empty() { 0 } else { mix(digest(&self.clock), u64::from(self.ordinal)) }
    }

    /// What the delivery rule needs to know about it.
    #[inline]
    pub(crate) fn delivery_info(&self) -> DeliveryInfo<'_> {
        let &Self { number, sender, delayed, ordinal, ref clock, .. } = self;
        DeliveryInfo { number, sender, delayed, ordinal, known: Known::Clock(clock) }
    }

    pub(crate) fn receipt(&self, step: StepIx, receiver: u64) -> Receipt {
        let Self { name, sender_name, label, .. } = *self;
        Receipt { step, sender: sender_name, receiver, message: name, label, reply: false, changed: false }
    }
}

/// What names and causal order need to know about one sender: its own name, what it has sent and created so far, and which messages of
/// others it knows of.
#[derive(Clone, Debug, Default)]
pub(crate) struct CausalClock {
    pub(crate) name: u64,
    /// The name of the receive that it is handling; 0 before the first.
    receive: u64,
    /// How many messages it has sent in all.
    pub(crate) sent: u32,
    sent_here: u32,
    created_here: u32,
    /// By task, how many of its messages this one knows of. Empty unless deliveries are causal.
    clock: Vec<u32>,
}

impl CausalClock {
    /// A sender with this name.
    pub(crate) fn new(name: u64) -> Self {
        Self { name, receive: name, ..Self::default() }
    }

    /// A sender that this one has created. It knows what its creator knows.
    pub(crate) fn create(&mut self, kind: &str) -> Self {
        let name = mix(mix(digest(kind), self.receive), u64::from(self.created_here));
        self.created_here += 1;
        Self { clock: self.clock.clone(), ..Self::new(name) }
    }

    /// The object for the next message through a channel like that of `std`.
    pub(crate) fn next_message(&mut self, me: TaskId) -> ObjectId {
        self.sent += 1;
        ObjectId::message(me, self.sent - 1)
    }

    /// The name of the next message through a channel like that of `std`.
    pub(crate) fn name_message(&mut self, kind: u64) -> u64 {
        self.sent_here += 1;
        mix(mix(kind, self.receive), u64::from(self.sent_here - 1))
    }

    /// Notes that this sender has received such a message from a channel.
    pub(crate) fn read_from(&mut self, channel: u64, sender: u64, message: u64) {
        self.receive = mix(mix(sender, channel), message);
        self.sent_here = 0;
        self.created_here = 0;
    }

    /// Writes the next message; `kind` is the type of its contents.
    #[inline]
    pub(crate) fn write(&mut self, me: TaskId, delivery: Delivery, label: &'static str, kind: u64) -> Envelope {
        let name = mix(mix(kind, self.receive), u64::from(self.sent_here));
        Envelope { name, label, ..self.write_blank(me, delivery, (name ^ name >> 32) as u32) }
    }

    /// Writes the next message without a name.
    #[inline]
    pub(crate) fn write_blank(&mut self, me: TaskId, delivery: Delivery, number: u32) -> Envelope {
        let ordinal = self.sent;
        self.sent += 1;
        self.sent_here += 1;
        let clock = if delivery == Delivery::Causal {
            let clock = self.clock.clone().into_boxed_slice();
            self.know(me, self.sent);
            clock
        } else {
            Box::default()
        };
        let (name, sender_name, label) = (0, self.name, "");
        Envelope { number, sender: me, ordinal, delayed: false, name, sender_name, label, clock }
    }

    /// Replaces what it knows, and the number of messages that it has sent.
    pub(super) fn go_by_clock(&mut self, clock: Vec<u32>, sent: u32) {
        (self.clock, self.sent) = (clock, sent);
    }

    /// A hash of what it knows; 0 unless deliveries are causal.
    pub(crate) fn knowledge(&self) -> u64 {
        if self.clock.is_empty() { 0 } else { digest(&self.clock) }
    }

    fn know(&mut self, task: TaskId, messages: u32) {
        if self.clock.len() <= task.index() {
            self.clock.resize(task.index() + 1, 0);
        }
        self.clock[task.index()] = self.clock[task.index()].max(messages);
    }

    /// Notes that this sender has received a message. The names of what it sends and creates next depend on that.
    #[inline]
    pub(crate) fn read(&mut self, envelope: &Envelope, delivery: Delivery) {
        self.receive = mix(mix(envelope.sender_name, self.name), envelope.name);
        self.sent_here = 0;
        self.created_here = 0;
        if delivery == Delivery::Causal {
            for (task, &known) in envelope.clock.iter().enumerate() {
                self.know(TaskId::next_of(task), known);
            }
            self.know(envelope.sender, envelope.ordinal + 1);
        }
    }
}
