//! The server that is being loaded. It answers everything.

use raddle::actor::{Actor, Address, Context};

use super::{Session, ToAction};

/// The messages to the server.
#[derive(Clone, Debug)]
pub struct Request {
    /// For whom.
    pub session: Session,
    /// Who waits for the response.
    pub action: Address<ToAction>,
}

/// Outside of the tool.
#[derive(Debug)]
pub struct Server;

impl Actor for Server {
    type Msg = Request;

    fn handle(&mut self, Request { session, action }: Request, ctx: &mut Context<'_, Request>) {
        ctx.send(&action, ToAction::Response(session));
    }

    fn label(_: &Request) -> &'static str {
        "Request"
    }
}
