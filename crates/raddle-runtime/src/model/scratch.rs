//! Memory that the handlers of one execution of a model reuse.

use std::rc::Rc;

use raddle_engine::system::Choice;

use crate::actor::Counts;
use crate::model::handle::Ran;
use crate::model::handler::Handler;
use crate::model::handling::ModelHandling;
use crate::model::untraced::UntracedMailbox;

/// Reused memory. A copy of a run allocates its own when it needs some.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) handling: Option<Box<ModelHandling>>,
    /// An old copy of an actor, whose memory can be reused.
    pub(super) spare: Option<Rc<dyn Handler>>,
    /// The result of a handler that ran when the search peeked at its receive, and the choice that this receive is.
    pub(super) peeked: Option<(Choice, Ran)>,
    /// How many messages can be received from each mailbox.
    pub(super) counts: Counts,
    /// The mailboxes during an untraced run.
    pub(super) mailboxes: Vec<UntracedMailbox>,
    /// True in an untraced run: hashes are not needed.
    pub(super) unhashed: bool,
}

impl Scratch {
    /// Forgets the handler that has run already.
    pub(super) fn discard(&mut self) {
        if let Some((_, ran)) = self.peeked.take() {
            self.take_back(ran);
        }
    }

    /// Keeps what a handler that has run already did, or its memory.
    pub(super) fn keep(&mut self, choice: Choice, ran: Ran, counts: bool) {
        if counts {
            self.peeked = Some((choice, ran));
        } else {
            self.take_back(ran);
        }
    }

    /// Keeps the memory of a handler that has run, and of its actor as it was.
    #[inline]
    pub(super) fn keep_memory(&mut self, handling: Box<ModelHandling>, before: Option<Rc<dyn Handler>>) {
        self.handling = Some(handling);
        if let Some(before) = before
            && Rc::strong_count(&before) == 1
        {
            self.spare = Some(before);
        }
    }

    /// Keeps the memory of a handler whose result is not used.
    pub(super) fn take_back(&mut self, ran: Ran) {
        (self.handling, self.spare) = (Some(ran.handling), ran.state);
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}
