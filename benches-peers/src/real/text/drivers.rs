//! The tests: two or three threads each, as one would write them for loom.

mod block_on;
mod channel;
mod deque;
mod notify;
mod oneshot;
mod semaphore;
mod shared;
mod slab;

use self::block_on::{block_on, poll_once};
use self::shared::Shared;
use super::types::{self, thread};
use crate::programs::Explore;
use crate::real::Code;
use std::sync::Arc;

/// Hands the test of the code to the explorer; with `PLANTED`, of the code with its bug.
pub fn hand_to<E: Explore, const PLANTED: bool>(code: Code, explorer: E) -> E::Seen {
    match code {
        Code::Channel => explorer.explore(channel::<PLANTED>),
        Code::Senders => explorer.explore(senders::<PLANTED>),
        Code::Oneshot => explorer.explore(oneshot::<PLANTED>),
        Code::Notify => explorer.explore(notify::<PLANTED>),
        Code::Semaphore => explorer.explore(semaphore::<PLANTED>),
        Code::Deque => explorer.explore(deque::<PLANTED>),
        Code::Slab => explorer.explore(slab::<PLANTED>),
    }
}

fn join<T>(thread: thread::JoinHandle<T>) -> T {
    thread.join().expect("a thread that panics ends the execution")
}

/// A sender has room for one of its two messages. The receiver gets both in their order, and then the end.
fn channel<const PLANTED: bool>() {
    let (sender, mut receiver) = channel::bounded::<usize, PLANTED>(1);
    let sends = thread::spawn(move || {
        for message in 1..=2 {
            block_on(sender.send(message)).expect("the receiver is there");
        }
    });
    for expected in [Some(1), Some(2), None] {
        assert_eq!(block_on(receiver.receive()), expected);
    }
    join(sends);
}

/// Two senders share room for one message. The receiver gets both, and then the end.
fn senders<const PLANTED: bool>() {
    let (sender, mut receiver) = channel::bounded::<usize, PLANTED>(1);
    let other = sender.clone();
    let first = thread::spawn(move || block_on(sender.send(1)).expect("the receiver is there"));
    let second = thread::spawn(move || block_on(other.send(2)).expect("the receiver is there"));
    let mut sum = 0;
    while let Some(message) = block_on(receiver.receive()) {
        sum += message;
    }
    assert_eq!(sum, 3, "both messages arrive, each once");
    join(first);
    join(second);
}

/// A request with a channel for its reply. Besides, the worker sends a value to someone who gives up meanwhile.
fn oneshot<const PLANTED: bool>() {
    let (request, requests) = oneshot::channel::<(usize, oneshot::Sender<usize, PLANTED>), PLANTED>();
    let (late, gives_up) = oneshot::channel::<usize, PLANTED>();
    let worker = thread::spawn(move || {
        let (number, reply) = block_on(requests).expect("the request is sent");
        reply.send(number + 1).expect("the client waits");
        late.send(3).is_err()
    });
    let impatient = thread::spawn(move || gives_up.close().is_some());
    let (reply, replies) = oneshot::channel::<usize, PLANTED>();
    assert!(request.send((1, reply)).is_ok(), "the worker waits");
    assert_eq!(block_on(replies), Some(2));
    let (returned, kept) = (join(worker), join(impatient));
    assert!(returned != kept, "the late value has one owner");
}

/// One notification, two waiters, of which one gives up and passes on what it got.
fn notify<const PLANTED: bool>() {
    let notify = Arc::new(notify::Notify::<PLANTED>::new());
    let notifier = {
        let notify = Arc::clone(&notify);
        thread::spawn(move || notify.notify_one())
    };
    let gives_up = {
        let notify = Arc::clone(&notify);
        thread::spawn(move || {
            if poll_once(notify.notified()) {
                notify.notify_one();
            }
        })
    };
    block_on(notify.notified());
    join(notifier);
    join(gives_up);
}

/// Two permits guard a cell: the writer takes both, a reader one.
fn semaphore<const PLANTED: bool>() {
    let guarded = Arc::new((semaphore::Semaphore::<PLANTED>::new(2), Shared::new(0)));
    let writer = {
        let guarded = Arc::clone(&guarded);
        thread::spawn(move || {
            let (semaphore, cell) = &*guarded;
            let _both = block_on(semaphore.acquire(2));
            cell.write(|value| *value += 1);
        })
    };
    let read = |guarded: &(semaphore::Semaphore<PLANTED>, Shared<usize>)| {
        let (semaphore, cell) = guarded;
        let _one = block_on(semaphore.acquire(1));
        cell.read(|value| *value)
    };
    let reader = {
        let guarded = Arc::clone(&guarded);
        thread::spawn(move || read(&guarded))
    };
    assert!(read(&guarded) <= 1);
    assert!(join(reader) <= 1);
    join(writer);
    assert_eq!(read(&guarded), 1);
    assert_eq!(guarded.0.available(), 2, "every permit came back");
}

/// The owner pushes two jobs and takes what is left, two thieves try to steal one each. Each job is run once.
fn deque<const PLANTED: bool>() {
    let deque = Arc::new(deque::Deque::<PLANTED>::new(2));
    let jobs: Arc<Vec<Shared<Option<usize>>>> = Arc::new((0..2).map(|job| Shared::new(Some(job + 1))).collect());
    let run = |jobs: &[Shared<Option<usize>>], job: usize| -> usize {
        jobs[job].write(Option::take).expect("a job is run once")
    };
    let steal = |_| {
        let (deque, jobs) = (Arc::clone(&deque), Arc::clone(&jobs));
        thread::spawn(move || deque.steal().map_or(0, |job| run(&jobs, job)))
    };
    let thieves: Vec<_> = (0..2).map(steal).collect();
    (0..2).for_each(|job| deque.push(job).expect("there is room for two"));
    let mut sum = 0;
    while let Some(job) = deque.pop() {
        sum += run(&jobs, job);
    }
    sum += thieves.into_iter().map(join).sum::<usize>();
    assert_eq!(sum, 3, "every job was run");
}

/// One thread reads a value through a guard, another removes it, and the owner of the shard wants its slot.
fn slab<const PLANTED: bool>() {
    let slab = Arc::new(slab::Slab::<usize, PLANTED>::new(2, 1));
    let mut owner = slab.owner(0);
    let key = owner.insert(7).expect("the shard is empty");
    let reader = {
        let slab = Arc::clone(&slab);
        thread::spawn(move || slab.get(key).is_none_or(|guard| guard.read(|value| *value == 7)))
    };
    let remover = {
        let slab = Arc::clone(&slab);
        thread::spawn(move || slab.remove(key))
    };
    let early = owner.insert(8);
    assert!(join(reader), "a guard shows the value of its key");
    assert!(join(remover), "nobody else removes");
    assert!(slab.get(key).is_none(), "a key is not valid for what comes after it");
    let later = early.or_else(|| owner.insert(8)).expect("the slot is free by now");
    assert_eq!(slab.get(later).map(|guard| guard.read(|value| *value)), Some(8));
}
