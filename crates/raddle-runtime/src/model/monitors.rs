//! Monitors of a model: part of its state, so they can be copied and hashed as well.

use std::hash::Hash;

use crate::actor::watch::Watching;
use crate::actor::{Monitor, digest};

/// A monitor whatever its type, as part of a state.
pub(crate) trait Watcher: Watching {
    fn copy(&self) -> Box<dyn Watcher>;
    fn digest(&self) -> u64;
}

impl<W: Monitor + Clone + Hash> Watcher for W {
    fn copy(&self) -> Box<dyn Watcher> {
        Box::new(self.clone())
    }

    fn digest(&self) -> u64 {
        digest(self)
    }
}

impl Clone for Box<dyn Watcher> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}
