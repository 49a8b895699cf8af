//! The addresses of actors.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::actor::free::Door;
use crate::actor::mailbox_handle::MailboxHandle;
use crate::model::Pack;
use crate::sync::Arc;

/// The address of an actor, to which messages can be sent. It is cheap to clone and can be part of messages.
///
/// Addresses are ordered by creation. `Debug` writes the actor's name, such as `Writer#2`.
// The fields that a send needs come first, in as few cache lines as possible.
#[repr(C)]
pub struct Address<M> {
    pub(crate) route: Route<M>,
    pub(crate) who: Who,
}

/// The prefix of the names of external actors.
pub(crate) const EXTERNAL: &str = "external ";

/// The identity of an actor: its system, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Who {
    /// No two systems of a process have the same.
    pub(crate) world: u64,
    /// Its place in the order of creation.
    pub(crate) index: u32,
    /// Its number among the actors of its type, from 1.
    pub(crate) ordinal: u32,
    /// The name of its type.
    pub(crate) kind: &'static str,
}

impl Who {
    /// Whether it is an external actor.
    pub(crate) fn is_external(&self) -> bool {
        self.kind.starts_with(EXTERNAL)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.kind, self.ordinal)
    }
}

/// How messages reach an actor.
pub(crate) enum Route<M> {
    /// An actor of a model: messages can be copied and hashed.
    Model { pack: Pack<M>, label: fn(&M) -> &'static str },
    /// An actor of an execution.
    Task {
        mailbox: Arc<MailboxHandle<M>>,
        /// The number of its mailbox.
        mail: u32,
    },
    /// An actor on a thread.
    Free(Arc<Door<M>>),
}

impl<M> Clone for Route<M> {
    fn clone(&self) -> Self {
        match self {
            Route::Model { pack, label } => Route::Model { pack: *pack, label: *label },
            Route::Task { mailbox, mail } => Route::Task { mailbox: mailbox.clone(), mail: *mail },
            Route::Free(door) => Route::Free(door.clone()),
        }
    }
}

impl<M: Send + 'static> Address<M> {
    /// Sends a message; never waits. One to an actor that has stopped is a dead letter.
    ///
    /// # Panics
    ///
    /// If the actor belongs to an execution that is over or to another system, or lives in a model, where
    /// messages are sent through a [context](crate::actor::Context) or by the setup.
    #[inline]
    #[track_caller]
    pub fn send(&self, msg: M) {
        match &self.route {
            Route::Model { .. } => panic!(
                "raddle: {self:?} lives in a model: send to it with `ctx.send` in a handler, or `m.send` in the model's setup"
            ),
            Route::Task { mailbox, .. } => mailbox.send(&self.who, msg),
            Route::Free(door) => door.send(msg),
        }
    }
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Self { who: self.who, route: self.route.clone() }
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.who, f)
    }
}

impl<M> PartialEq for Address<M> {
    fn eq(&self, other: &Self) -> bool {
        (self.who.world, self.who.index) == (other.who.world, other.who.index)
    }
}

impl<M> Eq for Address<M> {}

/// Only the order of creation is hashed, so that equal states of a model have equal hashes.
impl<M> Hash for Address<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.who.index.hash(state);
    }
}

impl<M> PartialOrd for Address<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Address<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.who.world, self.who.index).cmp(&(other.who.world, other.who.index))
    }
}

/// Counts the actors of each kind, to name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    kinds: Vec<(&'static str, u32)>,
    len: u32,
}

impl Roster {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The next actor of this kind.
    pub(crate) fn next(&mut self, world: u64, kind: &'static str) -> Who {
        let at = self.kinds.iter().position(|known| known.0 == kind).unwrap_or_else(|| {
            self.kinds.push((kind, 0));
            self.kinds.len() - 1
        });
        self.kinds[at].1 += 1;
        self.len += 1;
        Who { world, index: self.len - 1, kind, ordinal: self.kinds[at].1 }
    }
}
