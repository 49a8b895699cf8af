//! In which order the messages in a mailbox can be received.

use raddle_engine::trace;

/// Which of the messages that wait in a mailbox can be received next. Chosen for a whole system of actors.
///
/// In the first three, which message an actor receives is a choice, and the order of sending to one mailbox does not matter by
/// itself. In the last, that order is all that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Any: a network without guarantees.
    Unordered,
    /// Messages of one sender in the order it sent them; those of different senders in any. As most actor systems do it.
    #[default]
    PerSender,
    /// No message before another that its sender knew of, by messages, when it sent it.
    Causal,
    /// One queue, in the order in which messages were sent. The sends of one handler are one step.
    Arrival,
}

impl Delivery {
    /// What the engine has to know of it; `None` if receives do not choose.
    pub(crate) fn offered(self) -> Option<trace::Delivery> {
        match self {
            Delivery::Unordered => Some(trace::Delivery::Unordered),
            Delivery::PerSender => Some(trace::Delivery::PerSender),
            Delivery::Causal => Some(trace::Delivery::Causal),
            Delivery::Arrival => None,
        }
    }
}
