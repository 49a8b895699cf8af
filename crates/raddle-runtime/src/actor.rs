//! Actors: types that handle one message after another. Other code can reach them only by messages.
//!
//! The same [`Actor`] runs in three places. Inside an execution it is a task whose only decision is which message it receives next, so a
//! [`System`] of actors is searched like any other program, and may be mixed with threads. Outside, it has a thread of its own: the code
//! under test is the code that ships. In a [model](crate::model), where actors can be copied and hashed, it is plain data.
//!
//! # What a search sees
//!
//! Handling a message is one step, together with everything that the handler sends, creates and announces. The [`Delivery`] of the system
//! says in which order messages can be received. Unless that is [`Delivery::Arrival`], two sends to one mailbox are independent, and only
//! the order in which a receiver takes messages matters. Reduction knows about mailboxes, monitors and budgets of faults, but not about the
//! private states of actors. So it may miss a state in which a predicate over several actors is false. [Announce](Context::announce) what
//! matters to a [`Monitor`] instead.
//!
//! A timer or a crash may end a wait, or may not. A reduced search that met one claims no proof.

mod actor_mailbox;
mod address;
mod behaviour;
mod busy;
mod causal_sets;
mod context;
mod delivery;
mod digest;
mod envelope;
mod free;
mod handling;
mod labels;
mod life;
mod look;
mod mailbox_handle;
mod mailboxes;
mod quiet;
mod reply;
mod resident;
mod rules;
mod send;
mod stage;
mod store;
mod system;
mod tell;
mod untraced;
pub(crate) mod watch;

pub use self::address::Address;
pub(crate) use self::address::{Roster, Route, Who};
pub(crate) use self::behaviour::short_name;
pub use self::behaviour::{Actor, Monitor};
pub(crate) use self::context::Host;
pub use self::context::{Context, Timer};
pub use self::delivery::Delivery;
pub(crate) use self::digest::{combine, digest, mix};
pub(crate) use self::envelope::{CausalClock, Envelope};
pub(crate) use self::labels::Labels;
pub(crate) use self::mailboxes::Mailboxes;
pub use self::reply::ReplyTo;
pub use self::rules::Faults;
pub(crate) use self::rules::{Fate, Rules};
pub use self::stage::Stage;
pub use self::system::System;
pub(crate) use self::tell::{Story, shorten};
pub(crate) use self::untraced::Counts;
