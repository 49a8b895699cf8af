//! A channel for one value. One word of bits says who may touch the value and the waker.

use super::shared::Shared;
use super::types::AtomicUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::task::{Context, Poll, Waker};

/// The value is there, and belongs to the receiver.
const SENT: usize = 1;
/// The waker is there, and the sender may look at it.
const WAITING: usize = 2;
/// The receiver does not want the value any more.
const CLOSED: usize = 4;
/// The sender went without a value.
const GONE: usize = 8;

struct Inner<T> {
    bits: AtomicUsize,
    value: Shared<Option<T>>,
    waker: Shared<Option<Waker>>,
}

pub struct Sender<T, const PLANTED: bool>(Option<Arc<Inner<T>>>);
pub struct Receiver<T>(Arc<Inner<T>>);

pub fn channel<T, const PLANTED: bool>() -> (Sender<T, PLANTED>, Receiver<T>) {
    let inner = Arc::new(Inner { bits: AtomicUsize::new(0), value: Shared::new(None), waker: Shared::new(None) });
    (Sender(Some(Arc::clone(&inner))), Receiver(inner))
}

impl<T> Inner<T> {
    /// Sets one of the sender's bits, and wakes the receiver if it waits. Returns the bits from before.
    fn finish(&self, bit: usize) -> usize {
        let before = self.bits.fetch_or(bit, AcqRel);
        if before & WAITING != 0 {
            // A receiver that waits does not touch its waker before it has seen that the sender is not done.
            let waker = self.waker.read(Option::clone);
            waker.expect("a receiver that waits has left its waker").wake();
        }
        before
    }
}

impl<T, const PLANTED: bool> Sender<T, PLANTED> {
    /// Gives the value back if the receiver does not want it any more.
    pub fn send(mut self, value: T) -> Result<(), T> {
        let inner = self.0.take().expect("only `send` takes it");
        if PLANTED {
            // The planted bug: the receiver may look before the value is there.
            inner.finish(SENT);
            inner.value.write(|place| *place = Some(value));
            return Ok(());
        }
        inner.value.write(|place| *place = Some(value));
        let before = inner.finish(SENT);
        if before & CLOSED != 0 {
            return Err(inner.value.write(Option::take).expect("a closed receiver takes nothing"));
        }
        Ok(())
    }
}

impl<T, const PLANTED: bool> Drop for Sender<T, PLANTED> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            inner.finish(GONE);
        }
    }
}

impl<T> Receiver<T> {
    /// Gives up. Returns the value if it was sent before.
    pub fn close(&self) -> Option<T> {
        let before = self.0.bits.fetch_or(CLOSED, AcqRel);
        if before & (SENT | CLOSED) == SENT { self.0.value.write(Option::take) } else { None }
    }

    fn end(&self, bits: usize) -> Option<Option<T>> {
        if bits & SENT != 0 {
            return Some(self.0.value.write(Option::take));
        }
        (bits & GONE != 0).then_some(None)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut bits = self.0.bits.load(Acquire);
        if bits & (SENT | GONE | WAITING) == WAITING {
            // From here on the sender does not look at the waker.
            bits = self.0.bits.fetch_and(!WAITING, AcqRel);
        }
        if let Some(end) = self.end(bits) {
            return Poll::Ready(end);
        }
        let waker = context.waker().clone();
        self.0.waker.write(|place| *place = Some(waker));
        let bits = self.0.bits.fetch_or(WAITING, AcqRel);
        match self.end(bits) {
            Some(end) => Poll::Ready(end),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
    }
}
