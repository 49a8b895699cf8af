//! A client of a key-value server that pipelines: commands go out without waiting for the replies to earlier ones, and replies, which say
//! nothing of what they reply to, are matched by their order.
//!
//! - *Callers* have commands carried out. Most of them send many at once and handle replies as they come; one waits for each.
//! - The *pipeline* writes commands to the connection, in the order in which they come.
//! - The *connection* carries commands to the server, which is outside, and replies back.
//! - The *reader* gives each reply to whoever has waited longest.

mod caller;
mod pipeline;
mod reader;
mod server;

use raddle::actor::System;
use raddle::coverage::Criterion;

pub use self::caller::{Caller, Probe, ToCaller, ToProbe};
pub use self::pipeline::{Pipeline, Request};
pub use self::reader::{Reader, ToReader, Waiter};
pub use self::server::{Connection, Frame, Server, ToServer};
use super::Program;

/// What the server can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Is anybody there?
    Ping,
    /// Stores a value.
    Set(u32, u32),
    /// Says what is stored.
    Get(u32),
}

/// What the server says. It does not say to whom, or to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a ping.
    Pong,
    /// It is stored.
    Stored,
    /// This is stored.
    Value(Option<u32>),
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// The reader takes for granted that somebody waits when a reply comes. The server may be faster than the pipeline's word that
    /// somebody does.
    ReplyBeforeWaiter,
    /// Callers queue up at the reader by themselves when they hand their command to the pipeline. Two of them may come there in one order
    /// and here in another, and get each other's replies.
    WaitersInOtherOrder,
}

/// How much is going on, and what is wrong with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Callers that send commands without waiting.
    pub callers: u32,
    /// Values that each of them stores and reads.
    pub values: u32,
    /// Commands of the one that waits.
    pub pings: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { callers: 3, values: 4, pings: 4, bug: None };

    /// All of its orders can be tried.
    pub const SMALL: Self = Self { callers: 1, values: 1, pings: 1, bug: None };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
}

/// Lets the callers have all their commands carried out.
///
/// # Panics
///
/// If one of them has not heard of all.
pub fn run(config: Config) {
    let system = System::new();
    let reader = system.spawn(Reader::new(config));
    let server = system.spawn(Server::default());
    let connection = system.spawn(Connection::new(server, reader.clone()));
    let pipeline = system.spawn(Pipeline::new(connection, reader.clone()));
    let callers: Vec<_> = (0..config.callers)
        .map(|number| system.spawn(Caller::new(number, pipeline.clone(), reader.clone(), config)))
        .collect();
    let probe = system.spawn(Probe::new(pipeline, reader, config));
    for caller in &callers {
        caller.send(ToCaller::Start);
    }
    probe.send(ToProbe);
    system.run_until_quiet();
    for caller in &callers {
        let missing = system.with(caller, |caller: &Caller| caller.missing());
        assert_eq!(missing, 0, "every command is answered");
    }
}

const CORRECT: Program = Program::correct("Fyrie", || run(Config::USUAL));

/// The client and its bugs.
pub static PROGRAMS: [Program; 3] = [
    CORRECT,
    CORRECT.with("Fyrie 1", "panic", Criterion::Pairs, || run(Config::USUAL.with(Bug::ReplyBeforeWaiter))),
    CORRECT.with("Fyrie 2", "panic", Criterion::Pairs, || run(Config::USUAL.with(Bug::WaitersInOtherOrder))),
];
