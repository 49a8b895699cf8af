//! An actor of a model, whatever its type.

use std::any::{Any, type_name};
use std::sync::Arc;

use crate::actor::{Actor, Address, Context, Host, Route, digest, short_name};
use crate::model::ModelActor;
use crate::model::handling::{Handling, Parcel};

/// An actor that can be copied and hashed, whatever its type.
pub(crate) trait Handler: Send + Sync {
    fn start(&mut self, handling: &mut Handling);
    fn handle(&mut self, parcel: &Parcel, handling: &mut Handling);
    fn copy(&self) -> Arc<dyn Handler>;
    fn digest(&self) -> u64;
    fn kind(&self) -> &'static str;
    fn as_any(&self) -> &dyn Any;
}

/// The address of an actor of this type.
pub(super) fn address<A: ModelActor>(who: crate::actor::Who) -> Address<A::Msg> {
    Address { who, route: Route::Model { pack: Parcel::pack::<A::Msg>, label: A::label } }
}

impl<A: ModelActor> Handler for A {
    fn start(&mut self, handling: &mut Handling) {
        let me = address::<A>(handling.who);
        Actor::started(self, &mut Context { me: &me, host: Host::Model(handling) });
    }

    fn handle(&mut self, parcel: &Parcel, handling: &mut Handling) {
        let me = address::<A>(handling.who);
        Actor::handle(self, parcel.open(), &mut Context { me: &me, host: Host::Model(handling) });
    }

    fn copy(&self) -> Arc<dyn Handler> {
        Arc::new(self.clone())
    }

    fn digest(&self) -> u64 {
        digest(self)
    }

    fn kind(&self) -> &'static str {
        short_name(type_name::<A>())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The actor, to be changed; whoever shares it keeps it as it is.
pub(super) fn own(actor: &mut Arc<dyn Handler>) -> &mut dyn Handler {
    if Arc::get_mut(actor).is_none() {
        *actor = actor.copy();
    }
    Arc::get_mut(actor).expect("nobody else knows the copy")
}
