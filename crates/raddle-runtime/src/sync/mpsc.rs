//! Channels of one queue with many senders and one receiver, as in [`std::sync::mpsc`].
//!
//! A channel made in an execution is controlled: each operation on it is a step. A channel made outside is a channel of `std`, also if an
//! execution uses it. An operation on such a channel must not block in an execution, because no task could be scheduled to wake it.

mod channel;
mod ends;
mod receiver;
mod rendezvous;
mod sender;
mod word;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use self::receiver::{IntoIter, Iter, Receiver, TryIter};
pub use self::sender::{Sender, SyncSender, channel, sync_channel};
