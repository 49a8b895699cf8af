//! A notification that wakes one waiter, or is kept for the next one. A waiter that gives up after it was chosen passes the
//! notification on.

use super::shared::Shared;
use super::types::{AtomicUsize, Mutex};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::task::{Context, Poll, Waker};

const EMPTY: usize = 0;
/// Somebody is in the list. Only who has the lock of the list enters or leaves this state.
const WAITING: usize = 1;
/// A notification is kept.
const NOTIFIED: usize = 2;

/// Only who has the lock of the list touches its cells.
struct Waiter {
    chosen: Shared<bool>,
    waker: Shared<Waker>,
}

type List = VecDeque<Arc<Waiter>>;

pub struct Notify<const PLANTED: bool> {
    state: AtomicUsize,
    waiters: Mutex<List>,
}

impl<const PLANTED: bool> Notify<PLANTED> {
    pub fn new() -> Self {
        Notify { state: AtomicUsize::new(EMPTY), waiters: Mutex::new(List::new()) }
    }

    pub fn notified(&self) -> Notified<'_, PLANTED> {
        Notified { notify: self, waiter: None }
    }

    pub fn notify_one(&self) {
        let mut state = self.state.load(Acquire);
        while state != WAITING {
            match self.state.compare_exchange(state, NOTIFIED, AcqRel, Acquire) {
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
        let mut waiters = self.waiters.lock().expect("nobody panics with the lock");
        let waker = self.choose(&mut waiters);
        drop(waiters);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Chooses the first waiter, or keeps the notification if there is none.
    fn choose(&self, waiters: &mut List) -> Option<Waker> {
        let Some(first) = waiters.pop_front() else {
            self.state.swap(NOTIFIED, AcqRel);
            return None;
        };
        self.leave_waiting(waiters);
        first.chosen.write(|chosen| *chosen = true);
        Some(first.waker.read(Waker::clone))
    }

    fn leave_waiting(&self, waiters: &List) {
        if waiters.is_empty() {
            self.state.store(EMPTY, Release);
        }
    }

    fn take(&self) -> bool {
        self.state.compare_exchange(NOTIFIED, EMPTY, AcqRel, Acquire).is_ok()
    }
}

/// Ready when this waiter was notified.
pub struct Notified<'a, const PLANTED: bool> {
    notify: &'a Notify<PLANTED>,
    waiter: Option<Arc<Waiter>>,
}

impl<const PLANTED: bool> Future for Notified<'_, PLANTED> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let notify = self.notify;
        if self.waiter.is_none() && notify.take() {
            return Poll::Ready(());
        }
        let mut waiters = notify.waiters.lock().expect("nobody panics with the lock");
        let waker = context.waker().clone();
        if let Some(waiter) = &self.waiter {
            if waiter.chosen.read(|chosen| *chosen) {
                self.waiter = None;
                return Poll::Ready(());
            }
            waiter.waker.write(|place| *place = waker);
            return Poll::Pending;
        }
        // A notification that is kept is taken; otherwise, nobody keeps one from here on while the list has someone.
        while let Err(NOTIFIED) = notify.state.compare_exchange(EMPTY, WAITING, AcqRel, Acquire) {
            if notify.take() {
                return Poll::Ready(());
            }
        }
        let waiter = Arc::new(Waiter { chosen: Shared::new(false), waker: Shared::new(waker) });
        waiters.push_back(Arc::clone(&waiter));
        self.waiter = Some(waiter);
        Poll::Pending
    }
}

impl<const PLANTED: bool> Drop for Notified<'_, PLANTED> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let mut waiters = self.notify.waiters.lock().expect("nobody panics with the lock");
        if !waiter.chosen.read(|chosen| *chosen) {
            waiters.retain(|other| !Arc::ptr_eq(other, &waiter));
            self.notify.leave_waiting(&waiters);
            return;
        }
        // The planted bug: the notification is lost with the waiter that was chosen.
        let waker = if PLANTED { None } else { self.notify.choose(&mut waiters) };
        drop(waiters);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
