//! Runs a future on the thread that asks for it, which sleeps on a condition variable until it is woken.

use super::types::{Condvar, Mutex};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

struct Signal {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    fn wait(&self) {
        let mut woken = self.woken.lock().expect("nobody panics with the lock");
        while !*woken {
            woken = self.changed.wait(woken).expect("nobody panics with the lock");
        }
        *woken = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().expect("nobody panics with the lock") = true;
        self.changed.notify_one();
    }
}

fn signal() -> (Arc<Signal>, Waker) {
    let signal = Arc::new(Signal { woken: Mutex::new(false), changed: Condvar::new() });
    (Arc::clone(&signal), Waker::from(signal))
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (signal, waker) = signal();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => signal.wait(),
        }
    }
}

/// Whether the future is ready at once. If it is not, it is dropped.
pub fn poll_once<F: Future>(future: F) -> bool {
    let (_, waker) = signal();
    pin!(future).poll(&mut Context::from_waker(&waker)).is_ready()
}
