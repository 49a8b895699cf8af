//! The connection and the server at its other end. Both keep the order of what goes through them.

use std::collections::BTreeMap;

use raddle::actor::{Actor, Address, Context};

use super::{Command, Reply, ToReader};

/// What goes through the connection.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// To the server.
    Command(Command),
    /// From it.
    Reply(Reply),
}

/// Carries frames both ways.
#[derive(Debug)]
pub struct Connection {
    server: Address<ToServer>,
    reader: Address<ToReader>,
}

impl Connection {
    /// A connection to a server, whose replies go to a reader.
    #[must_use]
    pub fn new(server: Address<ToServer>, reader: Address<ToReader>) -> Self {
        Self { server, reader }
    }
}

impl Actor for Connection {
    type Msg = Frame;

    fn handle(&mut self, frame: Frame, ctx: &mut Context<'_, Frame>) {
        match frame {
            Frame::Command(command) => {
                let connection = ctx.me();
                ctx.send(&self.server, ToServer { command, connection });
            }
            Frame::Reply(reply) => ctx.send(&self.reader, ToReader::Data(reply)),
        }
    }

    fn label(frame: &Frame) -> &'static str {
        match frame {
            Frame::Command(_) => "Command",
            Frame::Reply(_) => "Reply",
        }
    }
}

/// The messages to the server.
#[derive(Clone, Debug)]
pub struct ToServer {
    /// What is to be done.
    pub command: Command,
    /// Where the reply goes.
    pub connection: Address<Frame>,
}

/// Keeps values.
#[derive(Debug, Default)]
pub struct Server {
    values: BTreeMap<u32, u32>,
}

impl Actor for Server {
    type Msg = ToServer;

    fn handle(&mut self, ToServer { command, connection }: ToServer, ctx: &mut Context<'_, ToServer>) {
        let reply = match command {
            Command::Ping => Reply::Pong,
            Command::Set(key, value) => {
                self.values.insert(key, value);
                Reply::Stored
            }
            Command::Get(key) => Reply::Value(self.values.get(&key).copied()),
        };
        ctx.send(&connection, Frame::Reply(reply));
    }

    fn label(_: &ToServer) -> &'static str {
        "Command"
    }
}
