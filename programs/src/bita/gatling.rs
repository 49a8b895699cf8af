//! The core of a load-testing tool: users go through a chain of requests, every response is recorded by all writers, and when the last
//! user is done the writers flush, so that the runner can read their summaries.
//!
//! - The *runner* opens a run: it tells the writers and the terminator of it, and sends the users on their way.
//! - An *action* is one request of the scenario, shared by all users. It sends the request, has the response recorded and hands the user
//!   to the next action; at the end of the chain is one that tells the terminator.
//! - A *writer* keeps records in memory until it is told to flush.
//! - The *terminator* knows how many users are left.

mod action;
mod runner;
mod server;
mod terminator;
mod writer;

use raddle::actor::System;
use raddle::coverage::Criterion;

pub use self::action::{EndAction, RequestAction, Session, ToAction};
pub use self::runner::{Runner, ToRunner};
pub use self::server::{Request, Server};
pub use self::terminator::{Terminator, ToTerminator};
pub use self::writer::{Record, Summary, ToWriter, Writer};
use super::Program;

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// A writer flushes when it is told to. The records of the last user may still be on their way.
    FlushBeforeWrite,
    /// The terminator counts on being told how many users there are before the first of them is done.
    EndBeforeOpen,
    /// A writer that was not told of the run does not handle records. Some user must be faster.
    WriteBeforeOpen,
    /// The terminator ends the run when the first of the writers has flushed, and the runner reads the summaries of all.
    OneFlushSuffices,
}

/// How large a run is, and what is wrong with the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many go through the scenario.
    pub users: u32,
    /// Of each user.
    pub requests: u32,
    /// To the console, to a file.
    pub writers: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { users: 6, requests: 4, writers: 2, bug: None };

    /// All of its orders can be tried.
    pub const SMALL: Self = Self { users: 1, requests: 1, writers: 1, bug: None };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
}

/// One run of the tool, until nothing is left to do.
///
/// # Panics
///
/// If the summaries are not of the whole run.
pub fn run(config: Config) {
    let system = System::new().fail_on_unhandled(true);
    let writers: Vec<_> = (0..config.writers).map(|_| system.spawn(Writer::new(config))).collect();
    let terminator = system.spawn(Terminator::new(writers.clone(), config));
    let server = system.spawn(Server);
    let end = system.spawn(EndAction::new(terminator.clone()));
    let first = (0..config.requests)
        .rev()
        .fold(end, |next, request| system.spawn(RequestAction::new(request, server.clone(), writers.clone(), next)));
    let runner = system.spawn(Runner::new(first, writers, terminator, config.users));
    runner.send(ToRunner::Start);
    system.run_until_quiet();
    let summaries = system.with(&runner, |runner: &Runner| runner.summaries.clone());
    let whole = Summary { records: config.users * config.requests };
    assert_eq!(summaries, vec![whole; config.writers as usize], "every response is in every summary");
}

const CORRECT: Program = Program::correct("Gatling", || run(Config::USUAL));

/// The tool and its bugs.
pub static PROGRAMS: [Program; 5] = [
    CORRECT,
    CORRECT.with("Gatling 1", "panic", Criterion::Pairs, || run(Config::USUAL.with(Bug::FlushBeforeWrite))),
    CORRECT.with("Gatling 2", "panic", Criterion::Pairs, || run(Config::USUAL.with(Bug::EndBeforeOpen))),
    CORRECT.with("Gatling 3", "unhandled message", Criterion::Pairs, || run(Config::USUAL.with(Bug::WriteBeforeOpen))),
    CORRECT.with("Gatling 4", "panic", Criterion::Pairs, || run(Config::USUAL.with(Bug::OneFlushSuffices))),
];
