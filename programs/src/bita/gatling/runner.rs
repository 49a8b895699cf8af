//! Who begins a run, and reads what came of it.

use raddle::actor::{Actor, Address, Context};

use super::{Session, Summary, ToAction, ToTerminator, ToWriter};

/// The messages to the runner.
#[derive(Clone, Copy, Debug)]
pub enum ToRunner {
    /// Begin.
    Start,
    /// From the terminator: all users are done, and everything was written.
    Finished,
}

/// Sends users into the scenario.
#[derive(Debug)]
pub struct Runner {
    scenario: Address<ToAction>,
    writers: Vec<Address<ToWriter>>,
    terminator: Address<ToTerminator>,
    users: u32,
    /// What the writers have said at the end.
    pub summaries: Vec<Summary>,
}

impl Runner {
    /// A run of a scenario, given by its first action, with so many users.
    #[must_use]
    pub fn new(
        scenario: Address<ToAction>,
        writers: Vec<Address<ToWriter>>,
        terminator: Address<ToTerminator>,
        users: u32,
    ) -> Self {
        Self { scenario, writers, terminator, users, summaries: Vec::new() }
    }
}

impl Actor for Runner {
    type Msg = ToRunner;

    fn handle(&mut self, msg: ToRunner, ctx: &mut Context<'_, ToRunner>) {
        match msg {
            ToRunner::Start => {
                for writer in &self.writers {
                    ctx.send(writer, ToWriter::Open);
                }
                let runner = ctx.me();
                ctx.send(&self.terminator, ToTerminator::Open { users: self.users, runner });
                for user in 0..self.users {
                    ctx.send(&self.scenario, ToAction::Execute(Session { user, records: 0 }));
                }
            }
            ToRunner::Finished => {
                self.summaries = self.writers.iter().map(|writer| ctx.ask(writer, ToWriter::Summarise)).collect();
            }
        }
    }

    fn label(msg: &ToRunner) -> &'static str {
        match msg {
            ToRunner::Start => "Start",
            ToRunner::Finished => "Finished",
        }
    }
}
