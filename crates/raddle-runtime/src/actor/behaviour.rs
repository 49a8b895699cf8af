//! What the user writes: actors, and monitors that watch them.

use std::any::type_name;

use crate::actor::context::Context;

/// An actor: an ordinary type that handles one message after another. Others can reach its state only by messages.
///
/// ```
/// use raddle_runtime::actor::{Actor, Address, Context};
///
/// struct Pong;
///
/// impl Actor for Pong {
///     type Msg = (u32, Address<u32>);
///
///     fn handle(&mut self, (ball, player): Self::Msg, ctx: &mut Context<'_, Self::Msg>) {
///         ctx.send(&player, ball + 1);
///     }
/// }
/// ```
pub trait Actor: Send + 'static {
    /// The type of its messages.
    type Msg: Send + 'static;

    /// Called once, when the actor is created or restarted, before its first message.
    fn started(&mut self, ctx: &mut Context<'_, Self::Msg>) {
        let _ = ctx;
    }

    /// Called for each message. Inside an execution, and in a model, this is one step with everything that is sent and created
    /// on the way, unless the handler waits for something.
    fn handle(&mut self, msg: Self::Msg, ctx: &mut Context<'_, Self::Msg>);

    /// What reports and coverage call a message; the name of its type if not said otherwise. Called for each message sent.
    fn label(msg: &Self::Msg) -> &'static str
    where
        Self: Sized,
    {
        let _ = msg;
        type_name::<Self::Msg>()
    }

    /// What reports write for a message; its label if not said otherwise. Called only for the execution that a report shows, so
    /// it may be slow: `format!("{msg:?}")` where messages can be written so.
    fn describe(msg: &Self::Msg) -> String
    where
        Self: Sized,
    {
        short_name(Self::label(msg)).to_owned()
    }

    /// Returns a copy of a message, for faults that duplicate messages; `None` if it cannot be copied.
    fn duplicate(msg: &Self::Msg) -> Option<Self::Msg>
    where
        Self: Sized,
    {
        let _ = msg;
        None
    }
}

/// A state machine that watches what actors [announce](Context::announce) and says when a property is violated.
///
/// Announcing takes part in dependence: a reduced search sees every order of the events of one monitor. A predicate over the private
/// states of several actors does not, so a reduced search may miss the moment in which it is false.
pub trait Monitor: Send + 'static {
    /// The type of the events that it sees.
    type Event: 'static;

    /// Called for each event, when it is announced.
    ///
    /// # Errors
    ///
    /// If something has happened that must not: what the report is to say.
    fn observe(&mut self, event: &Self::Event) -> Result<(), String>;

    /// Called when all is quiet. Checks that everything has happened that had to happen eventually.
    ///
    /// # Errors
    ///
    /// If it has not.
    fn at_quiet(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The last part of a type's path, without its parameters.
pub(crate) fn short_name(path: &'static str) -> &'static str {
    let path = &path[..path.find('<').unwrap_or(path.len())];
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(short_name("alloc::vec::Vec<core::option::Option<u8>>"), "Vec");
        assert_eq!(short_name("u8"), "u8");
    }
}
