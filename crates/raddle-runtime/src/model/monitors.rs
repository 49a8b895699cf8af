//! Monitors of a model: part of its state, so they can be copied and hashed as well.

use std::any::{Any, TypeId, type_name};
use std::hash::Hash;

use crate::actor::{Monitor, digest, short_name};

/// A monitor whatever its type.
pub(crate) trait Watcher: Send + Sync {
    fn name(&self) -> &'static str;
    /// The type of the events it hears of.
    fn hears(&self) -> TypeId;
    fn observe(&mut self, event: &dyn Any) -> Result<(), String>;
    fn at_quiet(&self) -> Result<(), String>;
    fn copy(&self) -> Box<dyn Watcher>;
    fn digest(&self) -> u64;
}

impl<W: Monitor + Clone + Hash + Sync> Watcher for W {
    fn name(&self) -> &'static str {
        short_name(type_name::<W>())
    }

    fn hears(&self) -> TypeId {
        TypeId::of::<W::Event>()
    }

    fn observe(&mut self, event: &dyn Any) -> Result<(), String> {
        Monitor::observe(self, event.downcast_ref().expect("raddle bug: an event of another type"))
    }

    fn at_quiet(&self) -> Result<(), String> {
        Monitor::at_quiet(self)
    }

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
