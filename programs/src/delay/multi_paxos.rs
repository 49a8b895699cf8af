//! Multi-Paxos: a log of commands, each slot of which is decided as in [Paxos](super::paxos), by leaders that ask for promises once for
//! all slots.
//!
//! Clients tell every leader what they want. A leader campaigns with a ballot above all that it has heard of. When a majority of the
//! acceptors has promised, it proposes again what any of them has accepted, in each slot what was accepted in the highest
//! ballot, fills the slots between with nothing, and goes on behind them with what clients want. A leader that is refused
//! follows. Replicas count votes and execute the log in order; the same command may be chosen for two slots, under two
//! leaders, and is executed once.
//!
//! Nothing is asked of the network: any message may overtake any other ([`Delivery::Unordered`]). The first leader campaigns at the
//! beginning. Leaders do not fail, but may be taken to have failed at any time, and that is all the same to the protocol:
//! [`Failures`] draws who campaigns next, nobody being the first choice.
//!
//! What must hold: no slot is decided twice ([`OneLog`]), and every replica executes every command once, all in the same order
//! ([`SameOrder`]). The leader with the highest ballot of all is refused by nobody, so in the end all is done.

mod acceptor;
mod client;
mod leader;
mod monitor;
mod replica;

use raddle::actor::{Address, Delivery, Stage, System};
use raddle::model::Model;

pub use self::acceptor::{Acceptor, ToAcceptor};
pub use self::client::{Client, ToClient};
pub use self::leader::{Leader, ToLeader};
pub use self::monitor::{Chosen, Executed, OneLog, SameOrder};
pub use self::replica::{Replica, Vote};
use crate::delay::Program;
use crate::delay::failures::{Draw, Failures};

/// A place in the log, from 0.
pub type Slot = u32;

/// Rounds first, then leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// How often somebody has campaigned.
    pub round: u32,
    /// Which leader.
    pub leader: u32,
}

/// What a client wants: known by who wants it and how much it had before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Command {
    /// Who wants it, and is told when it is done.
    pub client: Address<ToClient>,
    /// Which of the client's commands it is.
    pub number: u32,
}

/// What is in a slot: a command, or nothing.
pub type Entry = Option<Command>;

/// How many actors take part.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Those who may lead.
    pub leaders: u32,
    /// Those who choose.
    pub acceptors: u32,
    /// Those who execute.
    pub replicas: u32,
    /// Those who have commands.
    pub clients: u32,
    /// How many each has, one after another.
    pub commands: u32,
    /// How often somebody campaigns, besides the first leader at the beginning.
    pub takeovers: u32,
    /// The bug, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The smallest in which another leader may take over.
    pub const SMALL: Self =
        Self { leaders: 2, acceptors: 2, replicas: 1, clients: 1, commands: 1, takeovers: 1, bug: None };
    /// Two clients, and two changes of leaders.
    pub const USUAL: Self =
        Self { leaders: 2, acceptors: 3, replicas: 2, clients: 2, commands: 2, takeovers: 2, bug: None };
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// A replica takes it that the votes for a slot make a majority once. A leader that takes over proposes again what may have
    /// been chosen, so it shows if another campaigns after some slot was decided.
    ChosenOnce,
    /// A leader that takes over does not fill the slots between those it has heard of. It shows if an acceptor has accepted a slot, and
    /// no acceptor that it heard from has accepted the one before: then the log is stuck there.
    LeavesGaps,
    /// A replica does not look whether it has executed a command before. It shows if a leader recovers a command in one slot from an
    /// acceptor that has heard from one former leader, and in another slot from one that has heard from another.
    ExecutesTwice,
}

impl Bug {
    /// A configuration in which it can show.
    #[must_use]
    pub const fn config(self) -> Config {
        Config { bug: Some(self), ..Config::USUAL }
    }
}

/// The program as it should be, and with its bugs.
pub static PROGRAMS: [Program; 4] = [
    Program { label: "MultiPaxos", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    Program {
        label: "MultiPaxos 1",
        failure: Some("panic"),
        model: || model(Bug::ChosenOnce.config()),
        run: || run(Bug::ChosenOnce.config()),
    },
    Program {
        label: "MultiPaxos 2",
        failure: Some("violated monitor"),
        model: || model(Bug::LeavesGaps.config()),
        run: || run(Bug::LeavesGaps.config()),
    },
    Program {
        label: "MultiPaxos 3",
        failure: Some("violated monitor"),
        model: || model(Bug::ExecutesTwice.config()),
        run: || run(Bug::ExecutesTwice.config()),
    },
];

/// Creates the actors and lets the first leader campaign.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    let bug = config.bug;
    let replicas: Vec<_> = (0..config.replicas).map(|n| stage.spawn(Replica::new(n, config.acceptors, bug))).collect();
    let acceptors: Vec<_> = (0..config.acceptors).map(|n| stage.spawn(Acceptor::new(n, replicas.clone()))).collect();
    let leaders: Vec<_> = (0..config.leaders).map(|n| stage.spawn(Leader::new(n, acceptors.clone(), bug))).collect();
    stage.send(&leaders[0], ToLeader::Campaign);
    for _ in 0..config.clients {
        let client = stage.spawn(Client::new(leaders.clone(), config.commands));
        stage.send(&client, ToClient::Begin);
    }
    if config.takeovers > 0 {
        let elections = stage.spawn(Failures::new(leaders, ToLeader::Campaign, config.takeovers));
        stage.send(&elections, Draw);
    }
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Unordered);
        m.fail_on_unhandled(true);
        m.monitor(OneLog::default());
        m.monitor(SameOrder::new(config.replicas, config.clients * config.commands));
        set_up(m, config);
    })
}

/// As actors, until nothing is left to happen.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::Unordered).fail_on_unhandled(true).monitor(OneLog::default());
    let mut system = system.monitor(SameOrder::new(config.replicas, config.clients * config.commands));
    set_up(&mut system, config);
    system.run_until_quiet();
}
