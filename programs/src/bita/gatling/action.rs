//! The chain of actions that makes up a scenario.

use raddle::actor::{Actor, Address, Context};

use super::{Record, Request, ToTerminator, ToWriter};

/// A user on the way through the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Who.
    pub user: u32,
    /// How many of this user's responses were recorded.
    pub records: u32,
}

/// The messages to an action.
#[derive(Clone, Copy, Debug)]
pub enum ToAction {
    /// A user has come here.
    Execute(Session),
    /// The server has answered this user's request.
    Response(Session),
}

fn label(msg: &ToAction) -> &'static str {
    match msg {
        ToAction::Execute(_) => "Execute",
        ToAction::Response(_) => "Response",
    }
}

/// Sends one request for each user.
#[derive(Debug)]
pub struct RequestAction {
    request: u32,
    server: Address<Request>,
    writers: Vec<Address<ToWriter>>,
    next: Address<ToAction>,
}

impl RequestAction {
    /// A request of the scenario, and what comes after it.
    #[must_use]
    pub fn new(
        request: u32,
        server: Address<Request>,
        writers: Vec<Address<ToWriter>>,
        next: Address<ToAction>,
    ) -> Self {
        Self { request, server, writers, next }
    }
}

impl Actor for RequestAction {
    type Msg = ToAction;

    fn handle(&mut self, msg: ToAction, ctx: &mut Context<'_, ToAction>) {
        match msg {
            ToAction::Execute(session) => {
                let action = ctx.me();
                ctx.send(&self.server, Request { session, action });
            }
            ToAction::Response(session) => {
                for writer in &self.writers {
                    ctx.send(writer, ToWriter::Write(Record { user: session.user, request: self.request }));
                }
                ctx.send(&self.next, ToAction::Execute(Session { records: session.records + 1, ..session }));
            }
        }
    }

    fn label(msg: &ToAction) -> &'static str {
        label(msg)
    }
}

/// The end of the chain.
#[derive(Debug)]
pub struct EndAction {
    terminator: Address<ToTerminator>,
}

impl EndAction {
    /// Tells the terminator of every user that comes here.
    #[must_use]
    pub fn new(terminator: Address<ToTerminator>) -> Self {
        Self { terminator }
    }
}

impl Actor for EndAction {
    type Msg = ToAction;

    fn handle(&mut self, msg: ToAction, ctx: &mut Context<'_, ToAction>) {
        match msg {
            ToAction::Execute(Session { records, .. }) => {
                ctx.send(&self.terminator, ToTerminator::UserDone { records })
            }
            ToAction::Response(_) => ctx.unhandled(msg),
        }
    }

    fn label(msg: &ToAction) -> &'static str {
        label(msg)
    }
}
