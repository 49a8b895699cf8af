//! What else goes on in a large program: a log and a counter that everybody writes to.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[derive(Default)]
pub(super) struct Traffic {
    log: Mutex<Vec<&'static str>>,
    events: AtomicU32,
}

impl Traffic {
    /// Says what somebody is about to do. Who says it tells one statement from another here, not this one place.
    #[track_caller]
    pub(super) fn tell(&self, what: &'static str) {
        self.log.lock().unwrap().push(what);
        self.events.fetch_add(1, Relaxed);
    }
}
