//! The receiver, and its iterators.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use raddle_engine::trace::Site;

use crate::coroutine::current;
use crate::execution::here;
use crate::sync::mpsc::channel::Channel;

/// The receiving end of a channel, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    receiving: Receiving<T>,
    /// A receiver is `Send` but not `Sync`.
    not_shared: PhantomData<Cell<()>>,
}

enum Receiving<T> {
    Std(mpsc::Receiver<T>),
    Task { channel: Arc<Channel<T>>, made: Site },
}

/// As in `std`: a panic leaves the channel in a valid state.
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn std(receiver: mpsc::Receiver<T>) -> Self {
        Self { receiving: Receiving::Std(receiver), not_shared: PhantomData }
    }

    #[track_caller]
    pub(super) fn task(channel: Arc<Channel<T>>) -> Self {
        Self { receiving: Receiving::Task { channel, made: here() }, not_shared: PhantomData }
    }

    /// Takes the next message. Blocks until there is one.
    ///
    /// # Errors
    ///
    /// If there is none and all senders are gone.
    ///
    /// # Panics
    ///
    /// If it would block in an execution, but the channel was made outside.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.receiving {
            Receiving::Std(receiver) if !current::inside() => receiver.recv(),
            Receiving::Std(receiver) => at_once(receiver).map_err(|_| RecvError),
            Receiving::Task { channel, .. } => channel.recv(None, here()).map_err(|_| RecvError),
        }
    }

    /// Takes the next message. Blocks until there is one, but not longer than `timeout`. In an execution the timeout is one of the virtual
    /// clock: the wait may time out at any point while there is no message.
    ///
    /// # Errors
    ///
    /// If the wait has timed out, or if there is no message and all senders are gone.
    ///
    /// # Panics
    ///
    /// If it would block in an execution, but the channel was made outside.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.receiving {
            Receiving::Std(receiver) if !current::inside() => receiver.recv_timeout(timeout),
            Receiving::Std(receiver) => at_once(receiver).map_err(|_| RecvTimeoutError::Disconnected),
            Receiving::Task { channel, .. } => channel.recv(Some(timeout), here()),
        }
    }

    /// Takes the next message if there is one.
    ///
    /// # Errors
    ///
    /// If there is none. The error says whether a sender is left.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.receiving {
            Receiving::Std(receiver) => receiver.try_recv(),
            Receiving::Task { channel, .. } => channel.try_recv(here()),
        }
    }

    /// Iterates over messages until all senders are gone. Blocks until the next one is there.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Iterates over the messages that are there. Never blocks.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

/// Receives, in an execution, from a channel made outside. Panics if that would block.
#[track_caller]
fn at_once<T>(receiver: &mpsc::Receiver<T>) -> Result<T, TryRecvError> {
    let received = receiver.try_recv();
    assert!(
        !matches!(received, Err(TryRecvError::Empty)),
        "raddle: this receive would block, and the channel was made outside the test, where nobody can be scheduled to \
         send; make the channel inside the test"
    );
    received
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Receiving::Task { channel, made } = &self.receiving {
            channel.remove_receiver(made);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Messages of a [`Receiver`] until all senders are gone, as [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

/// The messages that are there, as [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// Messages of a [`Receiver`] it owns until all senders are gone, as [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
