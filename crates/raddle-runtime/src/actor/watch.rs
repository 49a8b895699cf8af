//! The monitors of a running system.

use std::any::{Any, TypeId, type_name};
use std::panic::{self, AssertUnwindSafe};

use raddle_engine::ids::ObjectId;
use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use crate::actor::behaviour::{Monitor, short_name};
use crate::actor::life::forget_panic;
use crate::actor::system::{System, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Moment};
use crate::panics;

static ANNOUNCE: Operation = Operation { verb: "announce to", class: Class::Update };

/// A monitor of any type.
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

/// A monitor, and the object that its events access; `NONE` outside an execution.
pub(crate) struct Watcher {
    pub(crate) monitor: Box<dyn Watching>,
    pub(crate) object: ObjectId,
}

impl System {
    /// Passes an event of the current task to the monitors; `called` is the name of its type.
    pub(crate) fn announce_at(&self, event: &dyn Any, called: &'static str, site: Site) {
        let kind = event.type_id();
        let count = lock(&self.inner.watchers).len();
        for at in 0..count {
            let (object, name) = {
                let watchers = lock(&self.inner.watchers);
                if watchers[at].monitor.hears() != kind {
                    continue;
                }
                (watchers[at].object, watchers[at].monitor.name())
            };
            current::with(|execution| {
                let one_step = execution.state.borrow().is_one_step();
                let ask = Ask { ordered: Ordered::BOTH, ..Ask::new(&ANNOUNCE, object, Effect::Change, site) };
                let act = |moment: &mut Moment<'_>| {
                    if moment.state.tells() {
                        moment.state.tell_instead(format!("announce {} to {name}", short_name(called)));
                    }
                };
                if one_step { execution.step_unseen(ask, act) } else { execution.step(ask, act) }
            });
            self.observe(at, event);
        }
    }

    pub(crate) fn announce_free(&self, event: &dyn Any) {
        let kind = event.type_id();
        let count = lock(&self.inner.watchers).len();
        for at in 0..count {
            if lock(&self.inner.watchers)[at].monitor.hears() == kind {
                self.observe(at, event);
            }
        }
    }

    fn observe(&self, at: usize, event: &dyn Any) {
        let observed = {
            let mut watchers = lock(&self.inner.watchers);
            let monitor = &mut watchers[at].monitor;
            // A panic of a monitor is a failure of the program, and no panic of the actor that announced the event.
            let observed = panic::catch_unwind(AssertUnwindSafe(|| monitor.observe(event)));
            let observed = observed.unwrap_or_else(|payload| {
                forget_panic();
                Err(format!("the monitor panicked: {}", panics::message(&*payload)))
            });
            observed.map_err(|message| (monitor.name(), message))
        };
        if let Err((monitor, message)) = observed {
            self.violated(monitor, message);
        }
    }

    pub(crate) fn violated(&self, monitor: &'static str, message: String) {
        let failed = current::with(|execution| {
            let task = execution.state.borrow().current;
            let (monitor, message) = (monitor.to_owned(), message.clone());
            execution.fail(Failure::Violation { task, monitor, message });
        });
        assert!(failed.is_some(), "raddle: monitor {monitor} is violated: {message}");
    }
}
