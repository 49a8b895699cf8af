//! Looking at the state of a model.

use std::any::Any;

use crate::actor::Address;
use crate::model::slot::Slot;
use crate::model::step::ModelState;
use crate::model::untraced::UntracedMailbox;

/// The state of a model between two steps.
pub struct View<'a>(pub(super) &'a ModelState);

impl<'a> View<'a> {
    /// All actors of a type that have not stopped, in order of creation.
    pub fn actors<A: 'static>(&self) -> impl Iterator<Item = &'a A> + use<'a, A> {
        self.0.actors.iter().filter_map(|slot| of_type(slot))
    }

    /// One actor; `None` if it has stopped or is of another type.
    #[must_use]
    pub fn actor<A: crate::actor::Actor>(&self, address: &Address<A::Msg>) -> Option<&'a A> {
        let slot = self.0.actors.get(address.who.index as usize)?;
        of_type(slot)
    }

    /// How many messages wait to be received.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let mailboxes = self.0.scratch.mailboxes.iter().map(UntracedMailbox::len);
        self.0.actors.iter().map(|slot| slot.mail.queue.len()).chain(mailboxes).sum()
    }

    /// How many messages were sent to actors that have stopped.
    #[must_use]
    pub fn dead_letters(&self) -> u32 {
        self.0.dead_letters
    }

    /// How many messages were not handled by their receivers.
    #[must_use]
    pub fn unhandled(&self) -> u32 {
        self.0.unhandled
    }
}

/// The actor, if it has not stopped and is of this type.
#[inline]
fn of_type<A: 'static>(slot: &Slot) -> Option<&A> {
    let actor: &dyn Any = &**slot.body.actor.as_ref()?;
    actor.downcast_ref()
}
