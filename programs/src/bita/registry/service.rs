//! A process that can be found by its name.

use raddle::actor::{Actor, Address, Context};

use super::{ToRegistry, ToSupervisor};

/// The messages to a service.
#[derive(Clone, Debug)]
pub enum ToService {
    /// Go to work.
    Start,
    /// Do something.
    Work,
    /// From the supervisor: get ready to end.
    Retire(Address<ToSupervisor>),
    /// From the supervisor: end.
    Exit,
}

/// Works until it is told to end.
#[derive(Debug)]
pub struct Service {
    registry: Address<ToRegistry>,
    /// How often it was used.
    pub uses: u32,
}

impl Service {
    /// A service that has not started.
    #[must_use]
    pub fn new(registry: Address<ToRegistry>) -> Self {
        Self { registry, uses: 0 }
    }
}

impl Actor for Service {
    type Msg = ToService;

    fn handle(&mut self, msg: ToService, ctx: &mut Context<'_, ToService>) {
        let me = ctx.me();
        match msg {
            ToService::Start => ctx.send(&self.registry, ToRegistry::Ready(me)),
            ToService::Work => self.uses += 1,
            ToService::Retire(supervisor) => ctx.send(&supervisor, ToSupervisor::Retiring(me)),
            ToService::Exit => {
                ctx.send(&self.registry, ToRegistry::Down(me));
                ctx.stop();
            }
        }
    }

    fn label(msg: &ToService) -> &'static str {
        match msg {
            ToService::Start => "Start",
            ToService::Work => "Work",
            ToService::Retire(_) => "Retire",
            ToService::Exit => "Exit",
        }
    }
}
