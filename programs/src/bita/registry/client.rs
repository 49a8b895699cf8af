//! Who starts services and uses those of others.

use raddle::actor::{Actor, Address, Context};

use super::{Config, Name, Service, ToRegistry, ToService, ToSupervisor};

/// The messages to a client.
#[derive(Clone, Copy, Debug)]
pub enum ToClient {
    /// Start the service.
    Begin,
    /// Look up and use somebody's.
    LookUp,
}

/// Has a service, and uses those of others one after the other.
#[derive(Debug)]
pub struct Client {
    number: u32,
    registry: Address<ToRegistry>,
    supervisor: Address<ToSupervisor>,
    config: Config,
    lookups: u32,
}

impl Client {
    /// A client whose service has not started.
    #[must_use]
    pub fn new(number: u32, registry: Address<ToRegistry>, supervisor: Address<ToSupervisor>, config: Config) -> Self {
        Self { number, registry, supervisor, config, lookups: 0 }
    }
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Begin => {
                let service = ctx.spawn(Service::new(self.registry.clone()));
                let name = Name(self.number);
                ctx.send(&self.registry, ToRegistry::Register(name, service.clone()));
                ctx.send(&service, ToService::Start);
                ctx.send(&self.supervisor, ToSupervisor::Started(name, service));
            }
            ToClient::LookUp => {
                self.lookups += 1;
                let name = Name((self.number + self.lookups) % self.config.clients);
                if let Some(service) = ctx.ask(&self.registry, |reply| ToRegistry::WhereIs(name, reply)) {
                    ctx.send(&service, ToService::Work);
                }
            }
        }
        if self.lookups < self.config.lookups {
            let me = ctx.me();
            ctx.send(&me, ToClient::LookUp);
        }
    }

    fn label(msg: &ToClient) -> &'static str {
        match msg {
            ToClient::Begin => "Begin",
            ToClient::LookUp => "LookUp",
        }
    }
}
