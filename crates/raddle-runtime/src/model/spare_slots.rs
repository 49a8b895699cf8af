//! Memory that executions of one model reuse. A search copies an actor at nearly every step, and drops about as many copies.

use std::cell::RefCell;
use std::rc::Rc;

use crate::model::handler::Handler;
use crate::model::slot::Slot;
use crate::model::untraced::UntracedMailbox;

/// Slots of actors that no execution uses any more, by actor. A copy of the model starts without any.
#[derive(Default)]
pub(super) struct SpareSlots {
    used: RefCell<Vec<Vec<Rc<Slot>>>>,
    mailboxes: RefCell<Vec<UntracedMailbox>>,
}

/// Spare slots per actor.
const MOST: usize = 8;

impl SpareSlots {
    /// Adds a slot of this actor, unless another execution still uses it.
    pub(super) fn keep(&self, actor: usize, slot: Rc<Slot>) {
        if Rc::strong_count(&slot) > 1 {
            return;
        }
        let mut used = self.used.borrow_mut();
        if used.len() <= actor {
            used.resize_with(actor + 1, Vec::new);
        }
        if used[actor].len() < MOST {
            used[actor].push(slot);
        }
    }

    /// Takes the spare mailboxes, which are empty.
    pub(super) fn mailboxes(&self) -> Vec<UntracedMailbox> {
        self.mailboxes.take()
    }

    /// Stores empty mailboxes for the next untraced run.
    pub(super) fn keep_mailboxes(&self, mailboxes: Vec<UntracedMailbox>) {
        self.mailboxes.replace(mailboxes);
    }

    /// The memory of an earlier state of the actor, if no execution uses it any more.
    pub(super) fn actor(&self, actor: usize) -> Option<Rc<dyn Handler>> {
        let mut used = self.used.borrow_mut();
        let slot = Rc::get_mut(used.get_mut(actor)?.last_mut()?)?;
        slot.body.actor.take().filter(|actor| Rc::strong_count(actor) == 1)
    }

    /// The slot of an actor, to be changed. If other executions share it, they keep the old one and this one gets a copy.
    #[inline]
    pub(super) fn own<'a>(&self, actor: usize, slot: &'a mut Rc<Slot>) -> &'a mut Slot {
        if Rc::get_mut(slot).is_none() {
            *slot = self.copy(actor, slot);
        }
        Rc::get_mut(slot).expect("nobody else knows the copy")
    }

    #[inline(never)]
    fn copy(&self, actor: usize, slot: &Slot) -> Rc<Slot> {
        let used = self.used.borrow_mut().get_mut(actor).and_then(Vec::pop);
        let Some(mut copy) = used else { return Rc::new(slot.clone()) };
        Rc::get_mut(&mut copy).expect("nobody has it").clone_from(slot);
        copy
    }
}

impl Clone for SpareSlots {
    fn clone(&self) -> Self {
        Self::default()
    }
}
