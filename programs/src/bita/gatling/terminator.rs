//! Who notices that a run is over.

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, ToRunner, ToWriter};

/// The messages to the terminator.
#[derive(Clone, Debug)]
pub enum ToTerminator {
    /// A run begins.
    Open {
        /// With so many users.
        users: u32,
        /// Who wants to know when it is over.
        runner: Address<ToRunner>,
    },
    /// A user has come to the end of the scenario.
    UserDone {
        /// How many of the user's responses were given to the writers.
        records: u32,
    },
    /// A writer has written everything.
    Flushed,
}

/// Counts users, then writers.
#[derive(Debug)]
pub struct Terminator {
    writers: Vec<Address<ToWriter>>,
    config: Config,
    run: Option<(u32, Address<ToRunner>)>,
    done: u32,
    records: u32,
    flushed: u32,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToTerminator>;

impl Terminator {
    /// One that waits for a run.
    #[must_use]
    pub fn new(writers: Vec<Address<ToWriter>>, config: Config) -> Self {
        Self { writers, config, run: None, done: 0, records: 0, flushed: 0 }
    }

    fn flush_after_the_last(&self, ctx: Ctx<'_, '_>) {
        if self.config.has(Bug::EndBeforeOpen) {
            assert!(self.run.is_some(), "a user has ended in a run that was not opened");
        }
        if self.run.as_ref().is_some_and(|(users, _)| *users == self.done) {
            let terminator = ctx.me();
            for writer in &self.writers {
                ctx.send(writer, ToWriter::Flush { records: self.records, terminator: terminator.clone() });
            }
        }
    }

    fn flushed(&mut self, ctx: Ctx<'_, '_>) {
        self.flushed += 1;
        let enough = if self.config.has(Bug::OneFlushSuffices) { 1 } else { self.config.writers };
        if self.flushed == enough {
            let (_, runner) = self.run.as_ref().expect("writers flush only when all users of a run are done");
            ctx.send(runner, ToRunner::Finished);
        }
    }
}

impl Actor for Terminator {
    type Msg = ToTerminator;

    fn handle(&mut self, msg: ToTerminator, ctx: &mut Context<'_, ToTerminator>) {
        match msg {
            ToTerminator::Open { users, runner } => {
                self.run = Some((users, runner));
                self.flush_after_the_last(ctx);
            }
            ToTerminator::UserDone { records } => {
                self.done += 1;
                self.records += records;
                self.flush_after_the_last(ctx);
            }
            ToTerminator::Flushed => self.flushed(ctx),
        }
    }

    fn label(msg: &ToTerminator) -> &'static str {
        match msg {
            ToTerminator::Open { .. } => "Open",
            ToTerminator::UserDone { .. } => "UserDone",
            ToTerminator::Flushed => "Flushed",
        }
    }
}
