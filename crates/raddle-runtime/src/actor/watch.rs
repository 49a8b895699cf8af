//! The monitors of a running system.

use std::any::{Any, TypeId, type_name};

use raddle_engine::ids::ObjectId;

use crate::actor::behaviour::{Monitor, short_name};

/// A monitor whatever its type.
pub(crate) trait Watching: Send {
    fn name(&self) -> &'static str;
    fn hears(&self) -> TypeId;
    fn observe(&mut self, event: &dyn Any) -> Result<(), String>;
    fn at_quiet(&self) -> Result<(), String>;
}

impl<W: Monitor> Watching for W {
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
}

/// A monitor and what stands for it in dependence; `NONE` outside an execution.
pub(crate) struct Watcher {
    pub(crate) monitor: Box<dyn Watching>,
    pub(crate) object: ObjectId,
}
