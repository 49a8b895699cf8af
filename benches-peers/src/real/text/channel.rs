//! A bounded channel. A sender first gets a permit, then a ticket, which tells the slot it writes to. The receiver reads the slots in
//! the order of the tickets, and gives a permit back for each.

use super::shared::Shared;
use super::types::{AtomicBool, AtomicUsize, Mutex};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::task::{Context, Poll, Waker};

struct Slot<T> {
    full: AtomicBool,
    message: Shared<Option<T>>,
}

struct Inner<T> {
    slots: Vec<Slot<T>>,
    /// Permits that nobody has.
    free: AtomicUsize,
    next_ticket: AtomicUsize,
    senders: AtomicUsize,
    closed: AtomicBool,
    receiver: Mutex<Option<Waker>>,
    waiting: Mutex<Waiting>,
}

/// Senders that wait for a permit, by their numbers.
#[derive(Default)]
struct Waiting {
    next_number: usize,
    wakers: VecDeque<(usize, Waker)>,
}

pub fn bounded<T, const PLANTED: bool>(capacity: usize) -> (Sender<T>, Receiver<T, PLANTED>) {
    let slot = |_| Slot { full: AtomicBool::new(false), message: Shared::new(None) };
    let inner = Arc::new(Inner {
        slots: (0..capacity).map(slot).collect(),
        free: AtomicUsize::new(capacity),
        next_ticket: AtomicUsize::new(0),
        senders: AtomicUsize::new(1),
        closed: AtomicBool::new(false),
        receiver: Mutex::new(None),
        waiting: Mutex::new(Waiting::default()),
    });
    (Sender(Arc::clone(&inner)), Receiver { inner, next: 0 })
}

impl<T> Inner<T> {
    fn take_permit(&self) -> bool {
        let mut free = self.free.load(Acquire);
        while free > 0 {
            match self.free.compare_exchange(free, free - 1, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(now) => free = now,
            }
        }
        false
    }

    fn give_permit_back(&self) {
        self.free.fetch_add(1, AcqRel);
        self.wake_one_sender();
    }

    fn wake_one_sender(&self) {
        let first = self.waiting.lock().expect("nobody panics with the lock").wakers.pop_front();
        if let Some((_, waker)) = first {
            waker.wake();
        }
    }

    fn wake_receiver(&self) {
        let waker = self.receiver.lock().expect("nobody panics with the lock").take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Needs a permit.
    fn put(&self, message: T) {
        let ticket = self.next_ticket.fetch_add(1, AcqRel);
        let slot = &self.slots[ticket % self.slots.len()];
        slot.message.write(|place| *place = Some(message));
        slot.full.store(true, Release);
        self.wake_receiver();
    }
}

pub struct Sender<T>(Arc<Inner<T>>);

impl<T> Sender<T> {
    pub fn send(&self, message: T) -> Send<'_, T> {
        Send { inner: &self.0, message: Some(message), number: None }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Relaxed);
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, AcqRel) == 1 {
            self.0.wake_receiver();
        }
    }
}

/// Ready when the message is in the channel, or with the message if the receiver is gone.
pub struct Send<'a, T> {
    inner: &'a Inner<T>,
    message: Option<T>,
    /// Under which it waits.
    number: Option<usize>,
}

impl<T> Send<'_, T> {
    /// Waits for a permit, if there is none now.
    fn take_permit_or_wait(&mut self, waker: &Waker) -> bool {
        let mut waiting = self.inner.waiting.lock().expect("nobody panics with the lock");
        if let Some(number) = self.number.take() {
            waiting.wakers.retain(|(waits, _)| *waits != number);
        }
        // Permits are given back before the list is looked at, so that one of both sides sees the other.
        if self.inner.take_permit() {
            return true;
        }
        let number = waiting.next_number;
        waiting.next_number += 1;
        waiting.wakers.push_back((number, waker.clone()));
        self.number = Some(number);
        false
    }
}

impl<T: Unpin> Future for Send<'_, T> {
    type Output = Result<(), T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.inner.closed.load(Acquire) {
            return Poll::Ready(Err(self.message.take().expect("a future is not polled after its end")));
        }
        let first_poll = self.number.is_none();
        if (first_poll && self.inner.take_permit()) || self.take_permit_or_wait(context.waker()) {
            let message = self.message.take().expect("a future is not polled after its end");
            self.inner.put(message);
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }
}

impl<T> Drop for Send<'_, T> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut waiting = self.inner.waiting.lock().expect("nobody panics with the lock");
        let before = waiting.wakers.len();
        waiting.wakers.retain(|(waits, _)| *waits != number);
        let was_woken = waiting.wakers.len() == before;
        drop(waiting);
        if was_woken {
            self.inner.wake_one_sender();
        }
    }
}

pub struct Receiver<T, const PLANTED: bool> {
    inner: Arc<Inner<T>>,
    /// The ticket that is to be received next.
    next: usize,
}

impl<T, const PLANTED: bool> Receiver<T, PLANTED> {
    /// The next message, or `None` when every sender is gone.
    pub async fn receive(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_receive(context)).await
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(end) = self.take() {
            return Poll::Ready(end);
        }
        let waker = context.waker().clone();
        *self.inner.receiver.lock().expect("nobody panics with the lock") = Some(waker);
        // The planted bug: a message that came before the waker was there wakes nobody.
        if !PLANTED && let Some(end) = self.take() {
            return Poll::Ready(end);
        }
        Poll::Pending
    }

    /// What there is to receive now: a message, the end, or nothing yet.
    fn take(&mut self) -> Option<Option<T>> {
        let no_senders = self.inner.senders.load(Acquire) == 0;
        let slot = &self.inner.slots[self.next % self.inner.slots.len()];
        if slot.full.load(Acquire) {
            let message = slot.message.write(Option::take).expect("a full slot has a message");
            slot.full.store(false, Release);
            self.next += 1;
            self.inner.give_permit_back();
            return Some(Some(message));
        }
        no_senders.then_some(None)
    }
}

impl<T, const PLANTED: bool> Drop for Receiver<T, PLANTED> {
    fn drop(&mut self) {
        self.inner.closed.store(true, Release);
        let mut waiting = self.inner.waiting.lock().expect("nobody panics with the lock");
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
