//! Which of the messages that wait in a mailbox can be received: the one definition for actors, models and untraced runs.
//!
//! [`Delivery::holds_back`] is the rule, for two messages of one mailbox. A message can be received if no message that arrived before it
//! holds it back. [Short lists](super::few) apply the rule to all pairs. In causal order, the rule asks which messages a sender [knew
//! of](Known): a clock says so in traced runs, a set of waiting messages in untraced ones.
//!
//! The [index](super::index) of a long mailbox needs the same rule in another form. There, messages that hold back others stand in
//! lines, each at a position. A message is held back while, in one of the lines that it depends on, another message stands before its bound.
//! The tests of [`Mailbox`](super::Mailbox) compare both forms. A new order needs an arm in each of these functions. If every message holds
//! back all later ones, no lines are needed: a long mailbox is then a [queue](super::queue).

use raddle_engine::ids::TaskId;

use super::message_set::MessageSet;
use crate::actor::Delivery;

/// What the rule has to know about a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveryInfo<'a> {
    /// Its number in schedules. It is unique in its mailbox.
    pub(crate) number: u32,
    pub(crate) sender: TaskId,
    /// A fault: messages that are sent later can overtake it.
    pub(crate) delayed: bool,
    /// What [`Known`] calls it. For causal order only.
    pub(crate) ordinal: u32,
    /// For causal order only.
    pub(crate) known: Known<'a>,
}

/// The messages that the sender of a message knew of when it sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    /// By task, how many of its messages. The ordinal of a message is how many its sender had sent before, to anybody.
    Clock(&'a [u32]),
    /// Those that were waiting. The ordinal of a message is its slot.
    Set(&'a MessageSet),
}

impl Known<'_> {
    pub(crate) const NOTHING: Self = Known::Clock(&[]);

    #[inline]
    fn includes(self, message: DeliveryInfo<'_>) -> bool {
        match self {
            Known::Clock(clock) => clock.get(message.sender.index()).copied().unwrap_or(0) > message.ordinal,
            Known::Set(set) => set.contains(message.ordinal),
        }
    }
}

impl Delivery {
    /// Whether `later` cannot be received while `earlier`, which arrived before it, waits in the same mailbox.
    #[inline]
    pub(crate) fn holds_back(self, earlier: DeliveryInfo<'_>, later: DeliveryInfo<'_>) -> bool {
        match self {
            Delivery::Unordered => false,
            Delivery::PerSender => !earlier.delayed && earlier.sender == later.sender,
            Delivery::Causal => !earlier.delayed && later.known.includes(earlier),
            Delivery::Arrival => true,
        }
    }

    /// How many of `len` messages can be received, if the order determines that.
    #[inline(always)]
    pub(super) fn count_open(self, len: usize) -> Option<u32> {
        match self {
            Delivery::Unordered => Some(len as u32),
            Delivery::Arrival => Some(len.min(1) as u32),
            Delivery::PerSender | Delivery::Causal => None,
        }
    }

    /// Whether every message holds back all that arrived later.
    #[inline]
    pub(super) fn is_queue(self) -> bool {
        self == Delivery::Arrival
    }

    /// Whether a new message takes the place before the last one, which is delayed. The delay ends then.
    #[inline]
    pub(super) fn overtakes(self, last_is_delayed: bool) -> bool {
        self == Delivery::Arrival && last_is_delayed
    }

    /// The line in which a message stands that arrived after `arrived` others, and its position there; `None` if it holds back nobody.
    pub(super) fn position(self, message: DeliveryInfo<'_>, arrived: u32) -> Option<(u32, u32)> {
        let line = message.sender.number();
        match self {
            Delivery::Unordered | Delivery::Arrival => None,
            Delivery::PerSender => (!message.delayed).then_some((line, arrived)),
            Delivery::Causal => (!message.delayed).then_some((line, message.ordinal)),
        }
    }

    /// The first line from `from` on that a message depends on, and its bound there.
    pub(super) fn bound(self, message: DeliveryInfo<'_>, arrived: u32, from: u32) -> Option<(u32, u32)> {
        let line = message.sender.number();
        match self {
            Delivery::Unordered | Delivery::Arrival => None,
            Delivery::PerSender => (line >= from).then_some((line, arrived)),
            Delivery::Causal => {
                let Known::Clock(clock) = message.known else { unreachable!("raddle bug: a set in a long mailbox") };
                let known = (0..).zip(clock).skip(from as usize);
                known.map(|(line, known)| (line, *known)).find(|(_, known)| *known > 0)
            }
        }
    }
}
