//! An actor of any type, while it waits for its next message. In an untraced run it handles the message that was drawn for it.

use std::any::Any;
use std::cell::RefMut;
use std::panic::{self, AssertUnwindSafe};

use crate::actor::behaviour::Actor;
use crate::actor::life::Home;
use crate::actor::store::StoreSlot;
use crate::actor::untraced::After;
use crate::execution::{Execution, State};

/// An actor that is not in a handler.
pub(crate) trait Resident: Any + Send {
    /// Handles the message at this place, which was drawn in an [untraced run](crate::actor::untraced), and waits again. Returns the state
    /// if the untraced run can go on.
    fn handle_untraced<'a>(
        self: Box<Self>,
        execution: &'a Execution,
        state: RefMut<'a, State>,
        mail: usize,
        place: StoreSlot,
    ) -> Option<RefMut<'a, State>>;
}

impl<A: Actor> Resident for Home<A> {
    fn handle_untraced<'a>(
        mut self: Box<Self>,
        execution: &'a Execution,
        mut state: RefMut<'a, State>,
        mail: usize,
        place: StoreSlot,
    ) -> Option<RefMut<'a, State>> {
        let begun = state.actors.supply.times_ended();
        let ended = panic::catch_unwind(AssertUnwindSafe(|| {
            let store = state.actors.mailboxes[mail].store;
            let msg = state.actors.stores.get::<A::Msg>(store).take(place);
            drop(state);
            self.handle(msg);
        }));
        let mut state = execution.state.borrow_mut();
        let again = ended.is_ok() && !self.handling.wants_more() && state.actors.supply.times_ended() == begun;
        let mailbox = &mut state.actors.mailboxes[mail];
        mailbox.actor = Some(self);
        if again && mailbox.plain {
            let counts = state.still_counts();
            debug_assert!(!counts || state.counted_as_listed(), "raddle bug: messages were counted wrongly");
            return counts.then_some(state);
        }
        state.actors.supply.after = Some(match ended {
            Ok(()) => After::Done,
            Err(payload) => After::Panicked(payload),
        });
        None
    }
}

/// Casts the actor to its own type, which the caller knows.
#[inline]
pub(super) fn known<A: Actor>(resident: Box<dyn Resident>) -> Box<Home<A>> {
    let home: Box<dyn Any> = resident;
    home.downcast().unwrap_or_else(|_| panic!("raddle bug: an actor of another type"))
}
