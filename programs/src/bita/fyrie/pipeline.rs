//! Who writes commands to the connection.

use raddle::actor::{Actor, Address, Context};

use super::{Command, Frame, ToReader, Waiter};

/// The messages to the pipeline.
#[derive(Debug)]
pub struct Request {
    /// What is to be carried out.
    pub command: Command,
    /// Who wants the reply; `None` if the reader was told.
    pub waiter: Option<Waiter>,
}

/// Tells the reader of waiters in the order in which their commands are written.
#[derive(Debug)]
pub struct Pipeline {
    connection: Address<Frame>,
    reader: Address<ToReader>,
}

impl Pipeline {
    /// A pipeline to a connection.
    #[must_use]
    pub fn new(connection: Address<Frame>, reader: Address<ToReader>) -> Self {
        Self { connection, reader }
    }
}

impl Actor for Pipeline {
    type Msg = Request;

    fn handle(&mut self, Request { command, waiter }: Request, ctx: &mut Context<'_, Request>) {
        if let Some(waiter) = waiter {
            ctx.send(&self.reader, ToReader::Expect(waiter));
        }
        ctx.send(&self.connection, Frame::Command(command));
    }

    fn label(_: &Request) -> &'static str {
        "Request"
    }
}
