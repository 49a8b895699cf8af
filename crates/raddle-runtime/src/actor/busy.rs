//! Outside an execution: whether a system of actors still has something to do.

use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::actor::system::lock;

/// How much a system has left to do: messages that wait or are being handled, and timers that are set.
#[derive(Default)]
pub(crate) struct Busy {
    count: Mutex<Going>,
    changed: Condvar,
}

#[derive(Default)]
struct Going {
    on: u64,
    /// The message of the first panic of an actor.
    panicked: Option<String>,
    /// The threads of actors, and in how many waits for quiet each is.
    actors: Vec<(ThreadId, u32)>,
}

impl Going {
    /// Whether nothing is left to do but what the thread `who` is in the middle of. If that thread runs an actor, other actors may wait for
    /// quiet at the same time.
    fn is_quiet(&self, who: ThreadId) -> bool {
        let rest = self.actors.iter().filter(|actor| actor.1 > 0).count();
        let is_actor = self.actors.iter().any(|actor| actor.0 == who);
        self.on == if is_actor { rest as u64 } else { 0 }
    }

    fn waits_of(&mut self, who: ThreadId) -> Option<&mut u32> {
        self.actors.iter_mut().find(|actor| actor.0 == who).map(|actor| &mut actor.1)
    }
}

/// While this value lives, its actor waits for quiet, and other actors that wait do not wait for it.
pub(crate) struct Rest<'a>(&'a Busy);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        if let Some(waits) = lock(&self.0.count).waits_of(thread::current().id()) {
            *waits -= 1;
        }
    }
}

impl Busy {
    pub(crate) fn more(&self) {
        lock(&self.count).on += 1;
    }

    pub(crate) fn less(&self) {
        lock(&self.count).on -= 1;
        self.changed.notify_all();
    }

    /// Notes that the current thread runs an actor.
    pub(crate) fn begin_actor(&self) {
        lock(&self.count).actors.push((thread::current().id(), 0));
    }

    /// Notes that the current thread does not run an actor any more.
    pub(crate) fn end_actor(&self) {
        let me = thread::current().id();
        lock(&self.count).actors.retain(|actor| actor.0 != me);
    }

    /// Notes that the current thread waits, whether it runs an actor or not.
    pub(crate) fn rest(&self) -> Rest<'_> {
        if let Some(waits) = lock(&self.count).waits_of(thread::current().id()) {
            *waits += 1;
        }
        self.changed.notify_all();
        Rest(self)
    }

    pub(crate) fn panicked(&self, message: String) {
        lock(&self.count).panicked.get_or_insert(message);
        self.changed.notify_all();
    }

    /// Waits until all is quiet. If an actor has panicked, this panics with its message, unless the caller is already panicking.
    pub(crate) fn wait_until_quiet(&self) {
        self.wait_until(|| false);
    }

    pub(crate) fn wait_until(&self, mut condition: impl FnMut() -> bool) -> bool {
        let (me, _rest) = (thread::current().id(), self.rest());
        let mut going = lock(&self.count);
        loop {
            if !thread::panicking()
                && let Some(message) = going.panicked.take()
            {
                drop(going);
                panic!("{message}");
            }
            let quiet = going.is_quiet(me);
            // The condition may look at actors, which may need the lock.
            drop(going);
            if condition() {
                return true;
            }
            if quiet {
                return false;
            }
            going = lock(&self.count);
            if !going.is_quiet(me) && (going.panicked.is_none() || thread::panicking()) {
                let waited = self.changed.wait_timeout(going, Duration::from_millis(10));
                going = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            }
        }
    }
}
