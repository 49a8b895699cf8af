//! Memory that executions of one model use one after another: a search copies what changes at nearly every step, and drops as much.

use std::cell::RefCell;
use std::rc::Rc;

use crate::model::handler::Handler;
use crate::model::slot::Slot;
use crate::model::untraced::UntracedMailbox;

/// What actors lay in that nobody uses any more, by actor. A copy of the model begins with nothing.
#[derive(Default)]
pub(super) struct Shelf {
    used: RefCell<Vec<Vec<Rc<Slot>>>>,
    mailboxes: RefCell<Vec<UntracedMailbox>>,
}

/// How many are kept of each actor.
const MOST: usize = 8;

impl Shelf {
    /// Keeps what an actor lay in, if nobody else has it.
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

    /// Desks on which nothing lies, as many as there are.
    pub(super) fn mailboxes(&self) -> Vec<UntracedMailbox> {
        self.mailboxes.take()
    }

    /// Keeps mailboxes on which nothing lies.
    pub(super) fn keep_desks(&self, mailboxes: Vec<UntracedMailbox>) {
        self.mailboxes.replace(mailboxes);
    }

    /// What the actor was, if nobody uses that any more.
    pub(super) fn actor(&self, actor: usize) -> Option<Rc<dyn Handler>> {
        let mut used = self.used.borrow_mut();
        let slot = Rc::get_mut(used.get_mut(actor)?.last_mut()?)?;
        slot.body.actor.take().filter(|actor| Rc::strong_count(actor) == 1)
    }

    /// What an actor lies in, to be changed; whoever shares it keeps it as it is.
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

impl Clone for Shelf {
    fn clone(&self) -> Self {
        Self::default()
    }
}
