//! Channels of one queue with many senders and one receiver, as in [`std::sync::mpsc`].
//!
//! A channel made inside an execution is controlled: each operation on it is a step. One made outside is a channel of `std`,
//! also where an execution uses it; such a one must not block there, because nobody could be chosen to wake it.

mod channel;
mod ends;
mod receiver;
mod rendezvous;
mod sender;
mod word;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use self::receiver::{IntoIter, Iter, Receiver, TryIter};
pub use self::sender::{Sender, SyncSender, channel, sync_channel};
