//! Two-phase commit with presumed abort: a coordinator, participants with a disk that may crash and recover, and clients whose
//! transactions write a key at every participant.
//!
//! 1. A client begins a transaction. The coordinator sets an alarm and asks every participant to prepare.
//! 2. A participant locks the key, puts the write into its log and, once that is on disk, votes yes. What comes while the disk is busy
//!    is written together. If the key is locked it votes no at once. Until it hears the decision it can neither commit nor abort.
//! 3. With a yes from everybody the coordinator commits; with one no, or if the alarm goes off first, it aborts. A commit is
//!    kept until everybody has acknowledged it; aborts are not kept: what the coordinator does not know was aborted.
//! 4. A participant that recovers takes the locks of what it has prepared, and inquires what became of it.
//!
//! The coordinator and the network do not fail. What is sent to a participant that is down is lost.

mod client;
mod coordinator;
mod participant;
mod specification;

use std::fmt;

use raddle::actor::{Delivery, Stage, System};
use raddle::model::Model;

pub use self::client::{Client, ToClient};
pub use self::coordinator::{Coordinator, ToCoordinator};
pub use self::participant::{Participant, ToParticipant};
pub use self::specification::{Atomicity, Event, Serial};
use crate::delay::Program;
use crate::delay::failures::{Draw, Failures};
use crate::delay::timer::Timer;

/// A transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxId(pub u32);

impl fmt::Display for TxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transaction {}", self.0)
    }
}

/// A participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParticipantId(pub u32);

/// Something that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// All of it has happened.
    Commit,
    /// Nothing of it has happened.
    Abort,
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// The coordinator does not expect a participant to vote yes on what is aborted already. That takes an alarm that goes off before
    /// all votes are in, or two transactions that reach the participants in different orders.
    LateYesUnhandled,
    /// When the disk is done, a participant votes on what came meanwhile too, which is still to be written. It has to crash
    /// before that is done, and everybody else has to vote yes in time: then it is told to commit what it knows nothing of.
    VoteBeforeFlush,
    /// A participant that recovers takes no locks for what it has prepared. Another transaction must come by before the decision on the
    /// first arrives.
    RecoveryWithoutLocks,
    /// The coordinator counts acknowledgements instead of noting who has sent them. A participant that crashes and inquires while
    /// the decision is on its way acknowledges twice; if another one is down when the decision arrives, the commit is forgotten
    /// before that one inquires, and it is told to abort.
    AcknowledgementsCounted,
}

/// How large the system is, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who all have to agree.
    pub participants: u32,
    /// Each begins its next transaction when the last one has ended.
    pub clients: u32,
    /// Transactions of each client.
    pub requests: u32,
    /// How often participants may crash in all.
    pub crashes: u32,
    /// After how many ticks the coordinator gives up.
    pub patience: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { participants: 3, clients: 2, requests: 2, crashes: 2, patience: 12, bug: None };

    /// All of its states can be visited.
    pub const SMALL: Self = Self { participants: 2, clients: 1, requests: 1, crashes: 2, patience: 0, bug: None };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
}

/// Creates the actors and sends the first messages.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    let ids = (0..config.participants).map(ParticipantId);
    let participants: Vec<_> = ids.map(|id| stage.spawn(Participant::new(id, config))).collect();
    let timer = stage.spawn(Timer::new(config.patience));
    let coordinator = stage.spawn(Coordinator::new(participants.clone(), timer, config));
    for client in 0..config.clients {
        // Whose transactions meet depends on how far they are.
        let transaction =
            |request| (TxId(client * config.requests + request), Key((client + request) % config.clients));
        let client = stage.spawn(Client::new(coordinator.clone(), (0..config.requests).map(transaction).collect()));
        stage.send(&client, ToClient::Next);
    }
    if config.crashes > 0 {
        let failures = stage.spawn(Failures::new(participants, ToParticipant::Crash, config.crashes));
        stage.send(&failures, Draw);
    }
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Arrival);
        m.fail_on_unhandled(true);
        m.monitor(Atomicity::new(config.participants));
        m.monitor(Serial::default());
        set_up(m, config);
    })
}

/// As actors, until nothing is left to do.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::Arrival).fail_on_unhandled(true);
    let mut system = system.monitor(Atomicity::new(config.participants)).monitor(Serial::default());
    set_up(&mut system, config);
    system.run_until_quiet();
}

/// The protocol and its bugs.
pub static PROGRAMS: [Program; 5] = [
    Program { label: "2PC", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    Program {
        label: "2PC 1",
        failure: Some("unhandled message"),
        model: || model(Config::USUAL.with(Bug::LateYesUnhandled)),
        run: || run(Config::USUAL.with(Bug::LateYesUnhandled)),
    },
    Program {
        label: "2PC 2",
        failure: Some("violated monitor"),
        model: || model(Config::USUAL.with(Bug::VoteBeforeFlush)),
        run: || run(Config::USUAL.with(Bug::VoteBeforeFlush)),
    },
    Program {
        label: "2PC 3",
        failure: Some("panic"),
        model: || model(Config::USUAL.with(Bug::RecoveryWithoutLocks)),
        run: || run(Config::USUAL.with(Bug::RecoveryWithoutLocks)),
    },
    Program {
        label: "2PC 4",
        failure: Some("violated monitor"),
        model: || model(Config::USUAL.with(Bug::AcknowledgementsCounted)),
        run: || run(Config::USUAL.with(Bug::AcknowledgementsCounted)),
    },
];
