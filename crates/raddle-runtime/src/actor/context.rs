//! What a handler can do.

use std::any::type_name;
use std::fmt;
use std::time::Duration;

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::Actor;
use crate::actor::reply::ReplyTo;
use crate::actor::{free, handling};
use crate::execution::here;
use crate::model::{self, Effect};
use crate::time::Instant;

/// What an actor can do while it handles a message.
pub struct Context<'a, M> {
    pub(crate) me: &'a Address<M>,
    pub(crate) host: Host<'a>,
}

/// Where the actor runs.
pub(crate) enum Host<'a> {
    Model(&'a mut model::ModelHandling),
    Task(&'a mut handling::TaskHandling),
    Free(&'a mut free::FreeHandling),
}

/// A timer that was set, to be [cancelled](Context::cancel). It belongs to the actor that has set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer(pub(crate) u32);

impl<M: Send + 'static> Context<'_, M> {
    /// The actor's own address.
    #[must_use]
    pub fn me(&self) -> Address<M> {
        self.me.clone()
    }

    /// Sends a message; never waits.
    ///
    /// # Panics
    ///
    /// If `to` belongs to another system.
    #[inline]
    #[track_caller]
    pub fn send<N: Send + 'static>(&mut self, to: &Address<N>, msg: N) {
        let world = match &self.host {
            Host::Task(handling) => handling.system.inner.world,
            Host::Model(_) | Host::Free(_) => self.me.who.world,
        };
        assert!(
            to.who.world == world,
            "raddle: {} sends to {to:?}, which belongs to another system; let a thread carry messages between systems",
            self.me.who
        );
        match (&mut self.host, &to.route) {
            (Host::Model(handling), Route::Model { pack, label }) => {
                let label = label(&msg);
                handling.send(to.who, label, msg, *pack, here());
            }
            (Host::Task(_), Route::Task { mailbox, mail }) => mailbox.send_beside(&to.who, *mail, msg),
            _ => to.send(msg),
        }
    }

    /// Creates an actor.
    #[track_caller]
    pub fn spawn<A: Actor>(&mut self, actor: A) -> Address<A::Msg> {
        match &mut self.host {
            Host::Model(handling) => handling.spawn(actor, here()),
            Host::Task(handling) => handling.system.spawn_at(actor, None, here()),
            Host::Free(handling) => handling.system.spawn_free(actor, None),
        }
    }

    /// Creates an actor that can be restarted: after a panic, if the system restarts actors, and after a crash.
    #[track_caller]
    pub fn spawn_with<A: Actor>(&mut self, make: impl Fn() -> A + Send + Sync + 'static) -> Address<A::Msg> {
        let actor = make();
        match &mut self.host {
            Host::Model(handling) => handling.spawn(actor, here()),
            Host::Task(handling) => handling.system.spawn_at(actor, Some(Box::new(make)), here()),
            Host::Free(handling) => handling.system.spawn_free(actor, Some(Box::new(make))),
        }
    }

    /// Notes that the actor behaves differently from now on. Coverage counts the behaviours; the actor itself keeps which one it is in.
    #[track_caller]
    pub fn becomes(&mut self, behaviour: &'static str) {
        match &mut self.host {
            Host::Model(handling) => handling.add(Effect::Becomes(behaviour), here()),
            Host::Task(handling) => handling.becomes(behaviour, here()),
            Host::Free(_) => {}
        }
    }

    /// Notes that the actor does not handle this message in its present behaviour. Such messages are counted, and are failures after
    /// [`fail_on_unhandled`](crate::actor::System::fail_on_unhandled).
    #[track_caller]
    pub fn unhandled(&mut self, msg: M) {
        match (&mut self.host, &self.me.route) {
            (Host::Model(handling), Route::Model { label, .. }) => {
                handling.add(Effect::Unhandled(label(&msg)), here());
            }
            (Host::Task(handling), Route::Task { mailbox, .. }) => {
                handling.unhandled(self.me.who, msg, mailbox.message_fns.describe);
            }
            (Host::Free(handling), Route::Free(door)) => {
                handling.unhandled(self.me.who, msg, door.message_fns().describe)
            }
            _ => unreachable!("raddle bug: an actor has an address of another kind"),
        }
    }

    /// Sends a request and waits for the reply. The actor handles no other message meanwhile. `make` puts the [`ReplyTo`] into the request.
    ///
    /// # Panics
    ///
    /// If the request is dropped without a reply, for example because its receiver has stopped. If an actor asks itself. In a model, whose
    /// handlers cannot wait.
    #[track_caller]
    pub fn ask<N: Send + 'static, R: Send + 'static>(
        &mut self,
        to: &Address<N>,
        make: impl FnOnce(ReplyTo<R>) -> N,
    ) -> R {
        assert!(
            to.who != self.me.who,
            "raddle: {} asks itself, and would wait for ever: it handles nothing while it waits for a reply",
            self.me.who
        );
        match &mut self.host {
            Host::Model(_) => panic!(
                "raddle: {} asks {to:?}, but the handlers of a model cannot wait: send the request, and handle the reply as a \
                 message",
                self.me.who
            ),
            Host::Task(handling) => {
                let (reply_to, reply) = handling.question::<N, R>(to, here());
                let request = make(reply_to);
                self.send(to, request);
                reply.wait(self.me.who)
            }
            Host::Free(_) => {
                let (reply_to, reply) = ReplyTo::free();
                self.send(to, make(reply_to));
                reply.recv().unwrap_or_else(|_| no_reply(self.me.who, to.who))
            }
        }
    }

    /// Sends `msg` to the actor itself when `delay` has passed. Inside an execution this is time of the virtual clock, which may advance at any
    /// moment. In a model there is no clock: a timer that is set may go off at any moment.
    #[track_caller]
    pub fn after(&mut self, delay: Duration, msg: M) -> Timer {
        match &mut self.host {
            Host::Model(handling) => {
                let Route::Model { pack, label } = &self.me.route else {
                    unreachable!("raddle bug: a model's actor has another address")
                };
                let label = label(&msg);
                handling.set_timer(label, msg, *pack, here())
            }
            Host::Task(handling) => handling.set_timer(self.me, delay, msg, here()),
            Host::Free(handling) => handling.set_timer(self.me, delay, msg),
        }
    }

    /// Sends `msg` to the actor itself at this time.
    ///
    /// # Panics
    ///
    /// If that time has passed, and in a model, which has no clock.
    #[track_caller]
    pub fn at(&mut self, time: Instant, msg: M) -> Timer {
        assert!(
            !matches!(self.host, Host::Model(_)),
            "raddle: {} sets a timer by the clock, which a model does not have; use `after`",
            self.me.who
        );
        let delay = time.checked_duration_since(Instant::now());
        let delay = delay.unwrap_or_else(|| panic!("raddle: {} sets a timer in the past", self.me.who));
        self.after(delay, msg)
    }

    /// Cancels a timer, unless it has gone off already.
    #[track_caller]
    pub fn cancel(&mut self, timer: Timer) {
        match &mut self.host {
            Host::Model(handling) => handling.add(Effect::Cancel(timer), here()),
            Host::Task(handling) => handling.cancel(timer, here()),
            Host::Free(handling) => handling.cancel(self.me, timer),
        }
    }

    /// Stops the actor after this message. Messages that are sent to it later are dead letters.
    #[track_caller]
    pub fn stop(&mut self) {
        match &mut self.host {
            Host::Model(handling) => handling.add(Effect::Stop, here()),
            Host::Task(handling) => handling.stop(),
            Host::Free(handling) => handling.stopped = true,
        }
    }

    /// Gives a [delaying explorer](crate::hint_explorer) a hint about the program. It has no other effect.
    #[track_caller]
    pub fn hint_explorer(&mut self, value: u64) {
        match &mut self.host {
            Host::Model(handling) => handling.add(Effect::Hint(value), here()),
            Host::Task(_) => crate::hint_explorer(value),
            Host::Free(_) => {}
        }
    }

    /// Passes an event to all monitors of events of this type.
    #[track_caller]
    pub fn announce<E: Send + Sync + 'static>(&mut self, event: E) {
        match &mut self.host {
            Host::Model(handling) => handling.announce(event, here()),
            Host::Task(handling) => handling.system.announce_at(&event, type_name::<E>(), here()),
            Host::Free(handling) => handling.system.announce_free(&event),
        }
    }

    /// Returns a number below `n`, which the strategy chooses. Outside of any search, each is equally likely.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[track_caller]
    pub fn choose(&mut self, n: u32) -> u32 {
        assert!(n > 0, "raddle: choose(0): there is nothing to choose from");
        match &mut self.host {
            Host::Model(handling) => handling.choose(n, here()),
            Host::Task(_) => crate::choice::choose(n as usize) as u32,
            Host::Free(handling) => handling.rng.below(n),
        }
    }

    /// Returns true or false, which the strategy chooses.
    #[track_caller]
    pub fn flip(&mut self) -> bool {
        self.choose(2) == 1
    }
}

impl<M> fmt::Debug for Context<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("me", self.me).finish_non_exhaustive()
    }
}

/// A request was dropped while its sender waits for the reply.
#[track_caller]
pub(crate) fn no_reply(who: Who, asked: Who) -> ! {
    panic!("raddle: {who} asked {asked}, and the request was dropped without a reply")
}
