//! A semaphore with a list of waiters. Permits that come back go to those who wait first; who finds permits free need not wait.

use super::shared::Shared;
use super::types::{AtomicUsize, Mutex};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::task::{Context, Poll, Waker};

/// Only who has the lock of the list touches its cells.
struct Waiter {
    wants: usize,
    has_them: Shared<bool>,
    waker: Shared<Waker>,
}

type List = VecDeque<Arc<Waiter>>;

pub struct Semaphore<const PLANTED: bool> {
    free: AtomicUsize,
    waiters: Mutex<List>,
}

impl<const PLANTED: bool> Semaphore<PLANTED> {
    pub fn new(permits: usize) -> Self {
        Semaphore { free: AtomicUsize::new(permits), waiters: Mutex::new(List::new()) }
    }

    pub fn available(&self) -> usize {
        self.free.load(Acquire)
    }

    pub fn acquire(&self, wants: usize) -> Acquiring<'_, PLANTED> {
        Acquiring { semaphore: self, wants, waiter: None }
    }

    fn take(&self, wants: usize) -> bool {
        let mut free = self.free.load(Acquire);
        while free >= wants {
            if PLANTED {
                // The planted bug: two may take the same permits.
                self.free.store(free - wants, Release);
                return true;
            }
            match self.free.compare_exchange(free, free - wants, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(now) => free = now,
            }
        }
        false
    }

    fn give_back(&self, permits: usize) {
        let mut waiters = self.waiters.lock().expect("nobody panics with the lock");
        self.free.fetch_add(permits, AcqRel);
        let wakers = self.serve(&mut waiters);
        drop(waiters);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Gives permits to those who wait first.
    fn serve(&self, waiters: &mut List) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(first) = waiters.front()
            && self.take(first.wants)
        {
            first.has_them.write(|has_them| *has_them = true);
            wakers.push(first.waker.read(Waker::clone));
            waiters.pop_front();
        }
        wakers
    }
}

/// Ready with the permits.
pub struct Acquiring<'a, const PLANTED: bool> {
    semaphore: &'a Semaphore<PLANTED>,
    wants: usize,
    waiter: Option<Arc<Waiter>>,
}

impl<'a, const PLANTED: bool> Future for Acquiring<'a, PLANTED> {
    type Output = Permits<'a, PLANTED>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let &mut Acquiring { semaphore, wants, .. } = &mut *self;
        if self.waiter.is_none() && semaphore.take(wants) {
            return Poll::Ready(Permits { semaphore, permits: wants });
        }
        let mut waiters = semaphore.waiters.lock().expect("nobody panics with the lock");
        let waker = context.waker().clone();
        let ready = match &self.waiter {
            Some(waiter) => {
                waiter.waker.write(|place| *place = waker);
                waiter.has_them.read(|has_them| *has_them)
            }
            // Permits that came back before the lock was taken found no waiter.
            None if semaphore.take(wants) => true,
            None => {
                let waiter = Arc::new(Waiter { wants, has_them: Shared::new(false), waker: Shared::new(waker) });
                waiters.push_back(Arc::clone(&waiter));
                self.waiter = Some(waiter);
                false
            }
        };
        if ready {
            self.waiter = None;
            return Poll::Ready(Permits { semaphore, permits: wants });
        }
        Poll::Pending
    }
}

impl<const PLANTED: bool> Drop for Acquiring<'_, PLANTED> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let mut waiters = self.semaphore.waiters.lock().expect("nobody panics with the lock");
        if waiter.has_them.read(|has_them| *has_them) {
            drop(waiters);
            self.semaphore.give_back(self.wants);
            return;
        }
        waiters.retain(|other| !Arc::ptr_eq(other, &waiter));
        let wakers = self.semaphore.serve(&mut waiters);
        drop(waiters);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Permits, given back when they are dropped.
pub struct Permits<'a, const PLANTED: bool> {
    semaphore: &'a Semaphore<PLANTED>,
    permits: usize,
}

impl<const PLANTED: bool> Drop for Permits<'_, PLANTED> {
    fn drop(&mut self) {
        self.semaphore.give_back(self.permits);
    }
}
