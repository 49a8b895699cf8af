//! An actor that does what its messages say: each is a function.

use raddle_runtime::actor::{Actor, Address, Context, System};

/// What is to be done.
pub struct Act(Box<Function>);

type Function = dyn FnOnce(&mut Acts, &mut Context<'_, Act>) + Send;

/// Does it.
#[derive(Default)]
pub struct Acts {
    pub log: Vec<u32>,
    /// Whatever is to live as long as the actor.
    pub kept: Vec<Box<dyn std::any::Any + Send>>,
}

impl Actor for Acts {
    type Msg = Act;

    fn handle(&mut self, msg: Act, ctx: &mut Context<'_, Act>) {
        (msg.0)(self, ctx);
    }
}

/// A message.
pub fn act(run: impl FnOnce(&mut Acts, &mut Context<'_, Act>) + Send + 'static) -> Act {
    Act(Box::new(run))
}

/// A message that is only noted.
pub fn note(n: u32) -> Act {
    act(move |me, _| me.log.push(n))
}

/// What was noted.
pub fn noted(system: &System, who: &Address<Act>) -> Vec<u32> {
    system.with(who, |acts: &Acts| acts.log.clone())
}

/// Panics when it is dropped.
pub struct Explodes;

impl Drop for Explodes {
    fn drop(&mut self) {
        panic!("the destructor panics");
    }
}
