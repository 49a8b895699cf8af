//! Chain replication (van Renesse and Schneider, OSDI 2004): nodes in a row that have the same history of updates, a master that takes
//! those who fail out of the row, and clients.
//!
//! An update enters at the head and goes down the chain; once the tail has it, every node has, the client is told, and an
//! acknowledgement goes up. Queries are answered by the tail. If the head fails, the next node is the head; if the tail fails, the
//! one before is the tail, and all it has is stable; if one in the middle fails, its neighbours are put together, and the one
//! before sends again what the one after has missed. As long as one node is left, nothing that was stable is lost.
//!
//! Messages between two actors arrive in the order of sending, as over one connection; others overtake each other
//! ([`Delivery::PerSender`]). So what a failed node has sent may arrive after everybody knows that it has failed.
//!
//! Nodes fail by stopping, when [`Saboteur`] draws them, no failure being the first choice; with faults of Raddle's own, the master
//! could not find out. It pings the nodes when it is told to, some time after each failure: this stands for the period of its timer,
//! without rounds that find nothing.
//!
//! What must hold: clients see one history ([`OneHistory`]), and all of them are served in the end ([`EverybodyServed`]).

mod client;
mod master;
mod message;
mod monitor;
mod node;
mod saboteur;

use raddle::actor::{Delivery, Stage, System};
use raddle::model::Model;

pub use self::client::Client;
pub use self::master::Master;
pub use self::message::{Place, ToClient, ToMaster, ToNode, ToSaboteur, Update};
pub use self::monitor::{EverybodyServed, OneHistory, Served, Tail};
pub use self::node::Node;
pub use self::saboteur::Saboteur;
use crate::delay::Program;

/// How many actors take part.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The length of the chain.
    pub nodes: u32,
    /// Those who use it.
    pub clients: u32,
    /// How much each of them does: an update, a query, an update, and so on.
    pub operations: u32,
    /// Nodes that may fail: all but one, at most.
    pub failures: u32,
    /// How many moments pass without a failure, at most.
    pub patience: u32,
    /// How often the master looks after the nodes for no reason.
    pub rounds: u32,
    /// The bug, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The smallest in which the chain is mended.
    pub const SMALL: Self =
        Self { nodes: 2, clients: 1, operations: 1, failures: 1, patience: 1, rounds: 0, bug: None };
    /// Four nodes, as in the paper, of which three may fail.
    pub const USUAL: Self =
        Self { nodes: 4, clients: 2, operations: 4, failures: 3, patience: 8, rounds: 1, bug: None };
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// The master tells the clients of the chain before all nodes know their places. It shows if a client's first update, or what
    /// becomes of it, reaches a node before the master's word does. No failure is needed.
    OpensEarly,
    /// A node takes acknowledgements to come one after another. If its successor has failed and it is told so, or is told how far its
    /// new successor is, before the last acknowledgement of the failed one arrives, that is one it knows of.
    FormerSuccessor,
    /// A node takes updates from anybody, so also from a former predecessor. It shows if one that has failed has sent an update
    /// that arrives after others took over, who send or have sent it too.
    FormerPredecessor,
    /// A node that gets a new successor does not send again what that one has missed. It shows if a node in the middle of the
    /// chain fails while an update is on its way to it.
    NothingResent,
    /// A new head does not know updates again that a client sends it for the second time. It shows if the head fails after it has
    /// sent an update on, and before the client is told that it is done.
    RepeatedUpdate,
    /// A new tail does not tell the clients of updates that it has and the failed tail had not told of. It shows if the tail
    /// fails while an update is on its way to it.
    SilentTail,
    /// A node does not handle queries as long as it has a successor. It shows if a client hears of a new tail, and asks it,
    /// before that one itself hears of it.
    UnpreparedTail,
    /// A node answers queries by what it knows to be stable, although it has a successor. It shows in the same order of messages, if
    /// the failed tail had more, and its acknowledgement is still on its way.
    HastyTail,
    /// The master mends the chain at one place at a time, and waits until that is done. It shows if two neighbours
    /// fail, the second after the first was found out and before it has answered the master.
    OneChangeAtATime,
    /// The master does not look after the nodes again if it is time to while it still waits for answers. It shows if a node fails after
    /// it has answered, and the word that it is time overtakes another node's answer.
    MissedTick,
}

impl Bug {
    /// A configuration in which it can show.
    #[must_use]
    pub const fn config(self) -> Config {
        let config = Config { bug: Some(self), ..Config::USUAL };
        match self {
            // With more updates on their way, the next one would show it too, in another way.
            Self::NothingResent => Config { clients: 1, ..config },
            Self::SilentTail => Config { clients: 1, failures: 1, ..config },
            // All 600,000 states can be visited, and hardly any walk at random gets to the bug.
            Self::FormerSuccessor | Self::FormerPredecessor | Self::UnpreparedTail => {
                Config { nodes: 3, clients: 1, failures: 1, ..config }
            }
            // Another failure would make up for it.
            Self::MissedTick => Config { failures: 1, ..config },
            _ => config,
        }
    }
}

const fn buggy(label: &'static str, failure: &'static str, model: fn() -> Model, run: fn()) -> Program {
    Program { label, failure: Some(failure), model, run }
}

/// A line of the table.
macro_rules! bug {
    ($label:literal, $failure:literal, $bug:ident) => {
        buggy($label, $failure, || model(Bug::$bug.config()), || run(Bug::$bug.config()))
    };
}

/// The program as it should be, and with its bugs.
pub static PROGRAMS: [Program; 11] = [
    Program { label: "ChainRep", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    bug!("ChainRep 1", "unhandled message", OpensEarly),
    bug!("ChainRep 2", "panic", FormerSuccessor),
    bug!("ChainRep 3", "panic", FormerPredecessor),
    bug!("ChainRep 4", "violated monitor", NothingResent),
    bug!("ChainRep 5", "violated monitor", RepeatedUpdate),
    bug!("ChainRep 6", "violated monitor", SilentTail),
    bug!("ChainRep 7", "unhandled message", UnpreparedTail),
    bug!("ChainRep 8", "violated monitor", HastyTail),
    bug!("ChainRep 9", "violated monitor", OneChangeAtATime),
    bug!("ChainRep 10", "violated monitor", MissedTick),
];

/// Creates the actors and lets the master begin.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    assert!(config.failures < config.nodes, "one node at least must not fail");
    let nodes: Vec<_> = (0..config.nodes).map(|_| stage.spawn(Node::new(config.bug))).collect();
    let clients: Vec<_> = (0..config.clients).map(|_| stage.spawn(Client::new(config.operations))).collect();
    let master = stage.spawn(Master::new(config.bug));
    stage.send(&master, ToMaster::Open(nodes.clone(), clients));
    for _ in 0..config.rounds {
        stage.send(&master, ToMaster::Tick);
    }
    if config.failures > 0 {
        let saboteur = stage.spawn(Saboteur::new(nodes, master, config.failures, config.patience));
        stage.send(&saboteur, ToSaboteur::Strike);
    }
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::PerSender);
        m.fail_on_unhandled(true);
        m.monitor(OneHistory::default());
        m.monitor(EverybodyServed::new(config.clients));
        set_up(m, config);
    })
}

/// As actors, until nothing is left to happen.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::PerSender).fail_on_unhandled(true);
    let mut system = system.monitor(OneHistory::default()).monitor(EverybodyServed::new(config.clients));
    set_up(&mut system, config);
    system.run_until_quiet();
}
