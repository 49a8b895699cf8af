//! Who decides how long services live.

use std::collections::BTreeMap;

use raddle::actor::{Actor, Context};

use super::{Config, Name, Process, ToService};

/// The messages to the supervisor.
#[derive(Clone, Debug)]
pub enum ToSupervisor {
    /// A service was started, to be found under this name.
    Started(Name, Process),
    /// A service is about to end, as it was told.
    Retiring(Process),
}

/// Retires services once all have started.
#[derive(Debug)]
pub struct Supervisor {
    config: Config,
    services: BTreeMap<Name, Process>,
}

impl Supervisor {
    /// One that knows of no service.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, services: BTreeMap::new() }
    }

    fn retire(&self, ctx: &mut Context<'_, ToSupervisor>) {
        let me = ctx.me();
        for service in self.services.values().take(self.config.retired as usize) {
            ctx.send(service, ToService::Retire(me.clone()));
        }
    }
}

impl Actor for Supervisor {
    type Msg = ToSupervisor;

    fn handle(&mut self, msg: ToSupervisor, ctx: &mut Context<'_, ToSupervisor>) {
        match msg {
            ToSupervisor::Started(name, service) => {
                self.services.insert(name, service);
                if self.services.len() == self.config.clients as usize {
                    self.retire(ctx);
                }
            }
            ToSupervisor::Retiring(service) => ctx.send(&service, ToService::Exit),
        }
    }

    fn label(msg: &ToSupervisor) -> &'static str {
        match msg {
            ToSupervisor::Started(..) => "Started",
            ToSupervisor::Retiring(_) => "Retiring",
        }
    }
}
