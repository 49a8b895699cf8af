//! Monitors of a model: part of its state, so they can be copied and hashed as well.

use std::hash::Hash;

use crate::actor::watch::Watching;
use crate::actor::{Monitor, digest};

/// A monitor whatever its type, as part of a state.
pub(crate) trait ModelMonitor: Watching {
    fn copy(&self) -> Box<dyn ModelMonitor>;
    fn digest(&self) -> u64;
}

impl<W: Monitor + Clone + Hash> ModelMonitor for W {
    fn copy(&self) -> Box<dyn ModelMonitor> {
        Box::new(self.clone())
    }

    fn digest(&self) -> u64 {
        digest(self)
    }
}

impl Clone for Box<dyn ModelMonitor> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}
