//! The senders, and the functions that make channels.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, SendError, TrySendError};

use raddle_engine::trace::Site;

use crate::coroutine::current;
use crate::execution::here;
use crate::sync::mpsc::channel::Channel;
use crate::sync::mpsc::receiver::Receiver;

/// Makes an unbounded channel, as [`std::sync::mpsc::channel`]. In an execution it is controlled.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if !current::inside() {
        let (sender, receiver) = mpsc::channel();
        return (Sender(Sending::Std(sender)), Receiver::std(receiver));
    }
    let channel = Channel::new(None);
    (Sender(Sending::Task(End::new(channel.clone()))), Receiver::task(channel))
}

/// Makes a channel that holds at most `bound` messages, as [`std::sync::mpsc::sync_channel`]. With a bound of 0, each send waits for its
/// receive. In an execution it is controlled.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if !current::inside() {
        let (sender, receiver) = mpsc::sync_channel(bound);
        return (SyncSender(Sending::Std(sender)), Receiver::std(receiver));
    }
    let channel = Channel::new(Some(bound));
    (SyncSender(Sending::Task(End::new(channel.clone()))), Receiver::task(channel))
}

/// A sender of a channel of `std`, or of a controlled one.
enum Sending<S, T> {
    Std(S),
    Task(End<T>),
}

impl<S: Clone, T> Clone for Sending<S, T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self {
            Sending::Std(sender) => Sending::Std(sender.clone()),
            Sending::Task(end) => Sending::Task(end.clone()),
        }
    }
}

/// A sender of a controlled channel.
struct End<T> {
    channel: Arc<Channel<T>>,
    /// Where it was made. Reports give this place for its drop, since a destructor has no caller.
    site: Site,
}

impl<T> End<T> {
    #[track_caller]
    fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel, site: here() }
    }
}

impl<T> Clone for End<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: self.channel.clone(), site: self.site }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.channel.remove_sender(self.site);
    }
}

/// A sender of a [`channel`], as [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Sending<mpsc::Sender<T>, T>);

impl<T> Sender<T> {
    /// Puts a message into the channel. Never blocks.
    ///
    /// # Errors
    ///
    /// If the receiver is gone; the error has the message.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Sending::Std(sender) => sender.send(message),
            Sending::Task(end) => end.channel.send(message, here()),
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A sender of a [`sync_channel`], as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Sending<mpsc::SyncSender<T>, T>);

impl<T> SyncSender<T> {
    /// Puts a message into the channel. Blocks until there is room.
    ///
    /// # Errors
    ///
    /// If the receiver is gone; the error has the message.
    ///
    /// # Panics
    ///
    /// If it would block in an execution, but the channel was made outside.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Sending::Std(sender) if !current::inside() => sender.send(message),
            Sending::Std(sender) => match sender.try_send(message) {
                Ok(()) => Ok(()),
                Err(TrySendError::Disconnected(message)) => Err(SendError(message)),
                Err(TrySendError::Full(_)) => panic!(
                    "raddle: this send would block, and the channel was made outside the test, where nobody can be \
                     scheduled to receive; make the channel inside the test"
                ),
            },
            Sending::Task(end) => end.channel.send(message, here()),
        }
    }

    /// Puts a message into the channel if there is room.
    ///
    /// # Errors
    ///
    /// If there is none, or if the receiver is gone; the error has the message.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Sending::Std(sender) => sender.try_send(message),
            Sending::Task(end) => end.channel.try_send(message, here()),
        }
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
