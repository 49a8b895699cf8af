//! Actors of a model, of any type.

use std::any::{Any, type_name};
use std::rc::Rc;

use crate::actor::{Actor, Address, Context, Host, Route, digest, short_name};
use crate::model::ModelActor;
use crate::model::handling::{ModelHandling, Payload, PayloadCell, unwrap};
use crate::panics::{self, Panicked};

/// An actor of any type that can be copied and hashed.
pub(crate) trait Handler: Any {
    fn start(&mut self, handling: &mut ModelHandling);
    /// Handles a message on a copy, which takes the place of `spare` if it can.
    fn handle(&self, payload: &Payload, handling: &mut ModelHandling, spare: Option<Rc<dyn Handler>>) -> HandlerResult;
    /// Handles a message on the actor itself, without a copy.
    fn handle_for_good(&mut self, message: &mut PayloadCell, handling: &mut ModelHandling);
    fn copy(&self) -> Rc<dyn Handler>;
    fn digest(&self) -> u64;
    fn kind(&self) -> &'static str;
    /// The text of a message for reports.
    fn describe(&self, payload: &Payload) -> String;
}

/// The actor after a handler.
pub(crate) struct HandlerResult {
    /// `None` after a panic: the actor stays as it was.
    pub(super) state: Option<Rc<dyn Handler>>,
    pub(super) digest: u64,
    pub(super) panicked: Option<Box<Panicked>>,
}

/// The address of an actor of this type.
pub(super) fn address<A: ModelActor>(who: crate::actor::Who) -> Address<A::Msg> {
    Address { who, route: Route::Model { pack: Payload::pack::<A::Msg>, label: A::label } }
}

impl<A: ModelActor> Handler for A {
    fn start(&mut self, handling: &mut ModelHandling) {
        let me = address::<A>(handling.who);
        Actor::started(self, &mut Context { me: &me, host: Host::Model(handling) });
    }

    fn handle(&self, payload: &Payload, handling: &mut ModelHandling, spare: Option<Rc<dyn Handler>>) -> HandlerResult {
        let hashed = handling.hashed;
        let mut run = |copy: &mut A| {
            let me = address::<A>(handling.who);
            Actor::handle(copy, payload.open(), &mut Context { me: &me, host: Host::Model(handling) });
            if hashed { digest(copy) } else { 0 }
        };
        // `clone` and `hash` are code of the program, too, and may panic.
        let ran = panics::catch(|| -> (Rc<dyn Handler>, u64) {
            if let Some(mut state) = spare
                && let Some(copy) = place_for::<A>(&mut state)
            {
                copy.clone_from(self);
                let digest = run(copy);
                return (state, digest);
            }
            let mut copy = self.clone();
            let digest = run(&mut copy);
            (Rc::new(copy), digest)
        });
        match ran {
            Ok((state, digest)) => HandlerResult { state: Some(state), digest, panicked: None },
            Err(panicked) => HandlerResult { state: None, digest: 0, panicked: Some(Box::new(panicked)) },
        }
    }

    fn handle_for_good(&mut self, message: &mut PayloadCell, handling: &mut ModelHandling) {
        let me = address::<A>(handling.who);
        Actor::handle(self, unwrap(message), &mut Context { me: &me, host: Host::Model(handling) });
    }

    fn copy(&self) -> Rc<dyn Handler> {
        Rc::new(self.clone())
    }

    fn digest(&self) -> u64 {
        digest(self)
    }

    fn kind(&self) -> &'static str {
        short_name(type_name::<A>())
    }

    fn describe(&self, payload: &Payload) -> String {
        <A as Actor>::describe(&payload.open())
    }
}

/// The memory of an actor of this type, if nobody else uses it.
#[inline]
fn place_for<A: ModelActor>(spare: &mut Rc<dyn Handler>) -> Option<&mut A> {
    let spare: &mut dyn Any = Rc::get_mut(spare)?;
    spare.downcast_mut()
}

/// The actor, to be changed. If others share it, they keep the old one.
pub(super) fn own(actor: &mut Rc<dyn Handler>) -> &mut dyn Handler {
    if Rc::get_mut(actor).is_none() {
        *actor = actor.copy();
    }
    Rc::get_mut(actor).expect("nobody else knows the copy")
}
