//! In which order the messages in a mailbox can be received.

use raddle_engine::trace;

use crate::actor::letter::Letter;

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

    /// Whether the letter at `place` of a queue in order of arrival can be received. What is delayed holds up nobody.
    pub(crate) fn lets<'a>(self, queue: impl Iterator<Item = &'a Letter>, place: usize, letter: &Letter) -> bool {
        match self {
            Delivery::Arrival => place == 0,
            Delivery::Unordered => true,
            Delivery::PerSender => !queue.take(place).any(|other| !other.delayed && other.sender == letter.sender),
            Delivery::Causal => {
                let mut others = queue.enumerate().filter(|(at, _)| *at != place);
                !others.any(|(_, other)| !other.delayed && letter.knows(other))
            }
        }
    }

    /// Where in a queue in order of arrival a message goes that is sent now: behind all others, but where order is all that
    /// matters, one that is delayed is overtaken.
    pub(crate) fn place_for_next(self, last_is_late: Option<&mut bool>, len: usize) -> usize {
        match last_is_late {
            Some(late) if self == Delivery::Arrival && *late => {
                *late = false;
                len - 1
            }
            _ => len,
        }
    }
}
