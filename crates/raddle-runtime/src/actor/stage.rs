//! A trait for setting up programs of actors, so that one function serves models and systems.

use crate::actor::{Address, System};
use crate::model::{ModelActor, Setup};

/// Creates the first actors and sends the first messages, in the setup of a [model](crate::model::Model) or in a system.
pub trait Stage {
    /// Creates an actor.
    fn spawn<A: ModelActor>(&mut self, actor: A) -> Address<A::Msg>;

    /// Sends a message.
    fn send<M: Send + 'static>(&mut self, to: &Address<M>, msg: M);
}

impl Stage for Setup {
    fn spawn<A: ModelActor>(&mut self, actor: A) -> Address<A::Msg> {
        Setup::spawn(self, actor)
    }

    fn send<M: Send + 'static>(&mut self, to: &Address<M>, msg: M) {
        Setup::send(self, to, msg);
    }
}
impl Stage for System {
    #[track_caller]
    fn spawn<A: ModelActor>(&mut self, actor: A) -> Address<A::Msg> {
        System::spawn(self, actor)
    }

    #[track_caller]
    fn send<M: Send + 'static>(&mut self, to: &Address<M>, msg: M) {
        to.send(msg);
    }
}
