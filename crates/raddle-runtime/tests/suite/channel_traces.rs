//! How many traces programs have that send and receive, counted by hand, and what messages order.

use std::sync::Arc;
use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_runtime::cell::Cell;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use raddle_runtime::sync::mpsc::{Receiver, Sender, channel};
use raddle_runtime::thread::{self, JoinHandle};

use crate::explore::{fails, passes};
use crate::reached::{self, Body, same};

/// A thread that sends so many messages, known by who it is.
fn producer(me: usize, sender: &Sender<usize>, messages: usize) -> JoinHandle<()> {
    let sender = sender.clone();
    thread::spawn(move || (0..messages).for_each(|_| sender.send(me).unwrap()))
}

fn take(receiver: &Receiver<usize>, messages: usize) -> Vec<usize> {
    (0..messages).map(|_| receiver.recv().unwrap()).collect()
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The traces of so many producers that send so many messages each to one receiver.
fn traces(producers: usize, messages: usize) -> u64 {
    let body = move || {
        let (sender, receiver) = channel();
        let threads: Vec<_> = (0..producers).map(|me| producer(me, &sender, messages)).collect();
        let seen = take(&receiver, producers * messages);
        join(threads);
        seen
    };
    same(body).0
}

#[test]
fn as_many_as_orders_of_the_sends() {
    assert_eq!(traces(1, 4), 1);
    assert_eq!(traces(2, 1), 2);
    assert_eq!(traces(2, 2), 6);
    assert_eq!(traces(2, 3), 20);
    assert_eq!(traces(3, 1), 6);
}

#[test]
fn channels_do_not_meet() {
    let body = || {
        let ((a, from_a), (b, from_b)) = (channel(), channel());
        let threads = [producer(0, &a, 2), producer(1, &a, 1), producer(0, &b, 1), producer(1, &b, 1)];
        let other = thread::spawn(move || take(&from_b, 2));
        let mut seen = take(&from_a, 3);
        seen.extend(other.join().unwrap());
        join(threads);
        seen
    };
    let body: Body = Arc::new(body);
    // Three sends, two of them of one sender; two sends.
    assert_eq!(reached::traces(&body), 3 * 2);
}

#[test]
fn a_relay_has_one() {
    let (few, many) = same(|| {
        let ((to_relay, from_producer), (to_main, from_relay)) = (channel(), channel());
        let producer = producer(5, &to_relay, 2);
        drop(to_relay);
        let relay = thread::spawn(move || from_producer.iter().for_each(|message| to_main.send(message + 1).unwrap()));
        let seen: Vec<usize> = from_relay.iter().collect();
        join([producer, relay]);
        seen
    });
    assert_eq!(few, 1);
    assert!(many > 100, "{many}");
}

#[test]
fn who_is_the_last_sender_goes_with_the_order_of_the_sends() {
    let (few, _) = same(|| {
        let (sender, receiver) = channel();
        let threads = [producer(0, &sender, 2), producer(1, &sender, 1)];
        drop(sender);
        let seen = receiver.iter().collect();
        join(threads);
        seen
    });
    assert_eq!(few, 3);
}

#[test]
fn who_looks_sees_every_number_of_messages() {
    // One send and one look: before or after.
    let (few, _) = same(|| {
        let (sender, receiver) = channel();
        let producer = producer(1, &sender, 1);
        let seen = receiver.try_recv().unwrap_or(0);
        join([producer]);
        vec![seen]
    });
    assert_eq!(few, 2);
    let (few, _) = same(|| {
        let (sender, receiver) = channel();
        let producer = producer(1, &sender, 1);
        let seen = receiver.recv_timeout(Duration::from_millis(1)).unwrap_or(0);
        join([producer]);
        vec![seen]
    });
    assert_eq!(few, 2);
}

/// A cell that is shared as only unsafe code can.
struct Shared(Cell<usize>);

// SAFETY: a lie; whether the accesses are ordered is what these tests find out, and executions run on one OS thread.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Self {
        Self(Cell::new(0))
    }

    #[track_caller]
    fn set(&self, value: usize) {
        self.0.set(value);
    }

    #[track_caller]
    fn get(&self) -> usize {
        self.0.get()
    }
}

#[test]
fn a_message_orders_what_its_own_sender_did() {
    passes(|| {
        let cell = Arc::new(Shared::new());
        let (sender, receiver) = channel();
        let mine = cell.clone();
        let writer = thread::spawn(move || {
            mine.set(1);
            sender.send(0).unwrap();
        });
        receiver.recv().unwrap();
        assert_eq!(cell.get(), 1);
        join([writer]);
    });
}

#[test]
fn a_message_that_was_not_received_orders_nothing() {
    let failure = fails(|| {
        let cell = Arc::new(Shared::new());
        let sent = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        let (mine, after) = (cell.clone(), sent.clone());
        let writer = thread::spawn(move || {
            mine.set(1);
            sender.send(0).unwrap();
            after.store(1, Relaxed);
        });
        if sent.load(Relaxed) == 1 {
            assert_eq!(receiver.recv(), Ok(1));
            cell.set(2);
        }
        join([writer]);
    });
    let Failure::DataRace { .. } = failure else { panic!("not a data race but {failure:?}") };
}

#[test]
fn the_end_of_all_senders_orders_what_each_did() {
    passes(|| {
        let cells = Arc::new([Shared::new(), Shared::new()]);
        let (sender, receiver) = channel::<()>();
        let writer = |me: usize| {
            let (cells, sender) = (cells.clone(), sender.clone());
            thread::spawn(move || {
                cells[me].set(1);
                drop(sender);
            })
        };
        let writers = [writer(0), writer(1)];
        drop(sender);
        assert!(receiver.recv().is_err());
        assert_eq!(cells.iter().map(|cell| cell.get()).sum::<usize>(), 2);
        join(writers);
    });
}

/// Looks at a cell when dropped.
struct Looks(Arc<Shared>);

impl Drop for Looks {
    fn drop(&mut self) {
        self.0.get();
    }
}

#[test]
fn messages_that_are_dropped_unreceived_are_known() {
    passes(|| {
        let (sender, receiver) = channel();
        let writer = |sender: Sender<Looks>| {
            move || {
                let cell = Arc::new(Shared::new());
                cell.set(1);
                let _ = sender.send(Looks(cell));
            }
        };
        let writers = [thread::spawn(writer(sender.clone())), thread::spawn(writer(sender))];
        drop(receiver);
        join(writers);
    });
}
