//! How a step accesses an object: what it reads or changes, how it orders memory, and what it means for tasks that wait.

use serde::{Deserialize, Serialize};

use crate::ids::ObjectId;

/// Whether an access reads or changes. Two accesses to one object are dependent if one of them changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// The object stays the same.
    Read,
    /// The object may change.
    Change,
}

/// How an access orders memory. Data-race detection uses this.
///
/// Every object has a clock of what tasks have published through it. The three flags say what an access does with that clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// The task adds the object's clock to its own (acquire).
    pub acquire: bool,
    /// The object's clock is cleared first (a plain store ends a release sequence).
    pub reset: bool,
    /// The task adds its clock to the object's (release).
    pub release: bool,
}

impl Ordered {
    /// Orders nothing.
    pub const RELAXED: Self = Self { acquire: false, reset: false, release: false };
    /// Acquire.
    pub const ACQUIRE: Self = Self { acquire: true, reset: false, release: false };
    /// Release.
    pub const RELEASE: Self = Self { acquire: false, reset: false, release: true };
    /// Acquire, then release.
    pub const BOTH: Self = Self { acquire: true, reset: false, release: true };
}

/// What an access means for tasks that wait. An access that gives lets a task that takes continue. This is causality and not a race,
/// because the two cannot happen in the other order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// No task waits for it, and it does not wait.
    #[default]
    Plain,
    /// Waits until the object can be taken.
    Takes,
    /// Waits until the object is ready, and may let other tasks continue: the two sides of a bounded channel wait for each other.
    Waits,
    /// Lets tasks that wait to take the object continue.
    Gives,
    /// Reads something that cannot change any more, so it needs no decision. In an order in which the object can still change, the same
    /// operation is a step of its own.
    Settled,
    /// Ends a timed wait: by its timeout (then it changes the clock) or otherwise (then it does not). Waits with a later deadline can end
    /// only after that.
    Timed,
    /// A receive from this object may take the message that this step sends. Such an access is never dependent with another, and its effect
    /// does not count.
    Offers(Offer),
    /// Belongs to a side of the object that only one task can use (the receiving end of a channel). Such an access is never dependent with
    /// another; the other accesses of the step say what it depends on.
    Alone,
}

impl Role {
    /// Whether accesses of this role are never dependent with others.
    #[must_use]
    pub const fn orders_nothing(self) -> bool {
        matches!(self, Self::Offers(_) | Self::Alone)
    }
}

/// A message, as its possible receivers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// Its number: a receive takes it by [`Variant::Message`](crate::system::Variant::Message) with this number.
    pub message: u32,
    /// In which order it can be received.
    pub delivery: Delivery,
    /// It is delayed: messages that are sent later can be received before it.
    pub late: bool,
}

/// Which of the messages in one mailbox can be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivery {
    /// Any message.
    Unordered,
    /// A message if no earlier message of the same sender waits.
    PerSender,
    /// A message if no waiting message happened before it, as far as messages carry knowledge.
    Causal,
}

/// An access of a step to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The object.
    pub object: ObjectId,
    /// Whether it reads or changes the object.
    pub effect: Effect,
    /// What it means for tasks that wait.
    pub role: Role,
    /// How it orders memory.
    pub ordered: Ordered,
}
