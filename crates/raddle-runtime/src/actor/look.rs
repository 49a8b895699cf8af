//! Looking at a system from a test: the states of its actors, and what was counted.

use std::any::{Any, type_name};
use std::sync::TryLockError;
use std::sync::atomic::Ordering;

use raddle_engine::trace::{Class, Effect, Operation, Site};

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::Actor;
use crate::actor::life::Home;
use crate::actor::mailbox_handle::MailboxHandle;
use crate::actor::resident::Resident;
use crate::actor::system::{ExecutionIds, System};
use crate::coroutine::current;
use crate::execution::{Ask, Moment, here};

static LOOK: Operation = Operation { verb: "look at", class: Class::Read };

impl System {
    /// Looks at the state of an actor.
    ///
    /// # Panics
    ///
    /// If the actor is of another type, belongs to another system, has stopped, or is in the middle of a handler.
    #[track_caller]
    pub fn with<A: Actor, R>(&self, who: &Address<A::Msg>, look: impl FnOnce(&A) -> R) -> R {
        let site = here();
        assert!(who.who.world == self.inner.world, "raddle: {who:?} belongs to another system");
        self.inner.inside.iter().for_each(ExecutionIds::demand_here);
        let look = |actor: Option<&dyn Any>| {
            let Some(actor) = actor else { panic!("raddle: {who:?} has stopped, so there is nothing to look at") };
            let actor = actor.downcast_ref::<A>().or_else(|| Some(&actor.downcast_ref::<Home<A>>()?.actor));
            look(actor.unwrap_or_else(|| panic!("raddle: {who:?} is no {}", type_name::<A>())))
        };
        match &who.route {
            Route::Task { mailbox, .. } => look_at_task(mailbox, who.who, site, look),
            Route::Free(door) => match door.actor().try_lock() {
                Ok(state) => look(state.as_deref().map(|state| state as &dyn Any)),
                Err(TryLockError::Poisoned(state)) => {
                    look(state.into_inner().as_deref().map(|state| state as &dyn Any))
                }
                Err(TryLockError::WouldBlock) => in_a_handler(who),
            },
            Route::Model { .. } => panic!("raddle: {who:?} lives in a model; look at it with its `View`"),
        }
    }

    /// How many messages were sent to actors that have stopped.
    #[must_use]
    pub fn dead_letters(&self) -> u32 {
        self.inner.dead_letters.load(Ordering::SeqCst)
    }

    /// How many messages were not handled by their receivers.
    #[must_use]
    pub fn unhandled(&self) -> u32 {
        self.inner.unhandled.load(Ordering::SeqCst)
    }
}

/// Looks at an actor inside an execution, and puts it back, also after a panic.
#[track_caller]
fn look_at_task<M, R>(mailbox: &MailboxHandle<M>, who: Who, site: Site, look: impl FnOnce(Option<&dyn Any>) -> R) -> R {
    struct Lent<'a, M>(&'a MailboxHandle<M>, Option<Box<dyn Resident>>);
    impl<M> Drop for Lent<'_, M> {
        fn drop(&mut self) {
            if let Some(actor) = self.1.take() {
                self.0.put_actor(actor);
            }
        }
    }
    current::with(|execution| {
        let ask = Ask::new(&LOOK, mailbox.head, Effect::Read, site);
        let checks = execution.state.borrow().actors.checks_condition;
        let act = |moment: &mut Moment<'_>| {
            if moment.state.tells() {
                moment.state.tell_instead(format!("look at {who}"));
            }
        };
        if checks { execution.step_unseen(ask, act) } else { execution.step(ask, act) }
    });
    let lent = Lent(mailbox, mailbox.take_actor());
    assert!(
        lent.1.is_some() || mailbox.has_stopped(),
        "raddle: {who} is in the middle of a handler; look at it when all is quiet"
    );
    look(lent.1.as_deref().map(|resident| resident as &dyn Any))
}

fn in_a_handler<M>(who: &Address<M>) -> ! {
    panic!("raddle: {who:?} is in the middle of a handler; look at it when all is quiet")
}
