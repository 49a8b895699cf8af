//! Channels.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, channel, sync_channel};
use raddle::thread;

use super::table::{self, Row, fails, fails_without_reduction, holds, verified};

const CHANNEL: &[Row] = &[
    verified("two senders", 2, || {
        let (sender, receiver) = channel();
        let threads = [1, 2].map(|n| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap())
        });
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }),
    fails("which of two comes first", "panic", || {
        let (sender, receiver) = channel();
        for n in [1, 2] {
            let sender = sender.clone();
            thread::spawn(move || _ = sender.send(n));
        }
        assert_eq!(receiver.recv(), Ok(1));
    }),
    // The message is sent before the attempt or after it.
    verified("an attempt to receive", 2, || {
        let (sender, receiver) = channel();
        let theirs = sender.clone();
        let thread = thread::spawn(move || theirs.send(1).unwrap());
        assert_ne!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        thread.join().unwrap();
        drop(sender);
    }),
    fails("an attempt after the last sender is gone", "panic", || {
        let (sender, receiver) = channel::<u32>();
        let thread = thread::spawn(move || drop(sender));
        assert_ne!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        thread.join().unwrap();
    }),
    fails("a message after the receiver is gone", "panic", || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || drop(receiver));
        sender.send(1).unwrap();
        thread.join().unwrap();
    }),
    fails("a message that nobody sends", "deadlock", || {
        let (sender, receiver) = channel::<u32>();
        let theirs = sender.clone();
        let thread = thread::spawn(move || drop(theirs));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
        drop(sender);
    }),
    fails("two that wait for each other's message", "deadlock", || {
        let ((to_a, a), (to_b, b)) = (channel(), channel());
        let thread = thread::spawn(move || {
            let n: u32 = a.recv().unwrap();
            to_b.send(n).unwrap();
        });
        let n = b.recv().unwrap();
        to_a.send(n).unwrap();
        thread.join().unwrap();
    }),
    fails("messages that are dropped with the receiver take steps", "panic", || {
        struct Stores(Arc<AtomicUsize>);
        impl Drop for Stores {
            fn drop(&mut self) {
                self.0.store(1, SeqCst);
                self.0.store(2, SeqCst);
            }
        }
        let a = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = channel();
        sender.send(Stores(a.clone())).unwrap();
        let thread = thread::spawn(move || drop(receiver));
        assert_ne!(a.load(SeqCst), 1, "between the stores");
        thread.join().unwrap();
    }),
    // Which of two messages there is, and whether there is one.
    fails("try_iter sees one of two", "panic", || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_ne!(receiver.try_iter().count(), 1);
        thread.join().unwrap();
    }),
    // Each of two receivers gets the one message meant for it.
    verified("two channels", 1, || {
        let ((to_a, a), (to_b, b)) = (channel(), channel());
        let threads = [(to_a, 1), (to_b, 2)].map(|(sender, n)| thread::spawn(move || sender.send(n).unwrap()));
        assert_eq!((a.recv(), b.recv()), (Ok(1), Ok(2)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }),
    verified("three senders", 6, || {
        let (sender, receiver) = channel();
        for n in 0..3 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<u32>(), 3);
    }),
];

/// Sends from another thread while this one receives.
fn with_room(room: usize, send: fn(SyncSender<u32>), receive: fn(Receiver<u32>)) {
    let (sender, receiver) = sync_channel(room);
    let thread = thread::spawn(move || send(sender));
    receive(receiver);
    thread.join().unwrap();
}

fn send_two(sender: SyncSender<u32>) {
    sender.send(1).unwrap();
    sender.send(2).unwrap();
}

fn receive_two(receiver: Receiver<u32>) {
    assert_eq!([receiver.recv(), receiver.recv()], [Ok(1), Ok(2)]);
    assert!(receiver.recv().is_err(), "the sender is gone");
}

const SYNC_CHANNEL: &[Row] = &[
    holds("no room", || with_room(0, send_two, receive_two)),
    holds("room for one", || with_room(1, send_two, receive_two)),
    holds("room for both", || with_room(2, send_two, receive_two)),
    fails("nobody receives the second", "deadlock", || {
        let (sender, receiver) = sync_channel(1);
        let thread = thread::spawn(move || sender.send(0).and_then(|()| sender.send(0)));
        thread.join().unwrap().unwrap();
        drop(receiver);
    }),
    fails("nobody receives, and there is no room", "deadlock", || {
        let (sender, receiver) = sync_channel(0);
        sender.send(0).unwrap();
        drop(receiver);
    }),
    fails("the receiver goes while somebody waits for room", "panic", || {
        with_room(0, |sender| sender.send(0).unwrap(), drop)
    }),
    fails("an attempt to send without room", "panic", || {
        with_room(
            1,
            |sender| {
                sender.send(1).unwrap();
                assert_ne!(sender.try_send(2), Err(TrySendError::Full(2)));
            },
            |receiver| _ = receiver.recv(),
        );
    }),
    fails("an attempt to send before anybody receives", "panic", || {
        with_room(
            0,
            |sender| assert_ne!(sender.try_send(2), Err(TrySendError::Full(2))),
            |receiver| _ = receiver.recv(),
        );
    }),
    fails_without_reduction("an attempt that takes another's room", "panic", || {
        let (sender, receiver) = sync_channel(1);
        let theirs = sender.clone();
        let thread = thread::spawn(move || theirs.send(1).unwrap());
        let sent = sender.try_send(2).is_ok();
        receiver.recv().unwrap();
        thread.join().unwrap();
        assert!(sent);
    }),
    fails("the sender goes on at once when there is no room", "panic", || {
        let a = Arc::new(AtomicUsize::new(0));
        let (theirs, (sender, receiver)) = (a.clone(), sync_channel(0));
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            theirs.store(1, SeqCst);
        });
        receiver.recv().unwrap();
        assert_eq!(a.load(SeqCst), 0, "the sender was faster");
        thread.join().unwrap();
    }),
    fails("the sender goes on before anybody receives", "panic", || {
        let a = Arc::new(AtomicUsize::new(0));
        let (theirs, (sender, receiver)) = (a.clone(), sync_channel(1));
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            theirs.store(1, SeqCst);
        });
        assert_eq!(a.load(SeqCst), 0, "there was room");
        receiver.recv().unwrap();
        thread.join().unwrap();
    }),
];

#[test]
fn channels() {
    table::check(CHANNEL);
}

#[test]
fn sync_channels() {
    table::check(SYNC_CHANNEL);
}
