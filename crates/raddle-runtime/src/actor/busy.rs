//! Outside an execution: whether anything is still going on.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::actor::system::lock;

/// How much is going on in a system: messages that wait or are being handled, and timers that are set.
#[derive(Default)]
pub(crate) struct Busy {
    count: Mutex<Going>,
    changed: Condvar,
}

#[derive(Default)]
struct Going {
    on: u64,
    /// The first actor that panicked, and what it said.
    panicked: Option<String>,
}

impl Busy {
    pub(crate) fn more(&self) {
        lock(&self.count).on += 1;
    }

    pub(crate) fn less(&self) {
        lock(&self.count).on -= 1;
        self.changed.notify_all();
    }

    pub(crate) fn panicked(&self, message: String) {
        lock(&self.count).panicked.get_or_insert(message);
        self.changed.notify_all();
    }

    /// Waits until nothing is going on; an actor that has panicked is told of here.
    pub(crate) fn wait_until_quiet(&self) {
        self.wait_until(|| false);
    }

    pub(crate) fn wait_until(&self, mut condition: impl FnMut() -> bool) -> bool {
        let mut going = lock(&self.count);
        loop {
            if let Some(message) = going.panicked.take() {
                drop(going);
                panic!("{message}");
            }
            let quiet = going.on == 0;
            // The condition may look at actors, which may want to count.
            drop(going);
            if condition() {
                return true;
            }
            if quiet {
                return false;
            }
            going = lock(&self.count);
            if going.on > 0 && going.panicked.is_none() {
                let waited = self.changed.wait_timeout(going, Duration::from_millis(10));
                going = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            }
        }
    }
}
