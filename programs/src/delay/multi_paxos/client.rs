//! Those who have commands.

use raddle::actor::{Actor, Address, Context};

use super::{Command, ToLeader};

/// The messages to a client.
#[derive(Clone, Copy, Debug, Hash)]
pub enum ToClient {
    /// Begin.
    Begin,
    /// A replica has executed the command with this number.
    Done(u32),
}

/// Has one command after another.
#[derive(Clone, Debug, Hash)]
pub struct Client {
    leaders: Vec<Address<ToLeader>>,
    commands: u32,
    current: u32,
}

impl Client {
    /// One with so many commands.
    #[must_use]
    pub fn new(leaders: Vec<Address<ToLeader>>, commands: u32) -> Self {
        Self { leaders, commands, current: 0 }
    }

    /// Tells every leader, since any of them may be the one.
    fn send(&self, ctx: &mut Context<'_, ToClient>) {
        if self.current < self.commands {
            let command = Command { client: ctx.me(), number: self.current };
            for leader in &self.leaders {
                ctx.send(leader, ToLeader::Command(command.clone()));
            }
        }
    }
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Begin => self.send(ctx),
            ToClient::Done(number) if number == self.current => {
                self.current += 1;
                self.send(ctx);
            }
            // Another replica has said so before.
            ToClient::Done(_) => {}
        }
    }

    fn label(msg: &ToClient) -> &'static str {
        match msg {
            ToClient::Begin => "Begin",
            ToClient::Done(_) => "Done",
        }
    }
}
