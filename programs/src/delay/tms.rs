//! A transaction manager that outlives failures: transfers between accounts in several shards, by two-phase commit, where shards and
//! decisions are kept by groups of replicas.
//!
//! - A *group* is a chain of replicas of one [`Store`]. Commands enter at the head, each replica carries them out and passes
//!   them on, the tail answers. One of a group may fail; the *master* then tells everybody the new chain. Commands can be repeated, so
//!   what was not answered is asked again.
//! - A *manager* asks the shards to prepare a transfer, then has its decision recorded by the group that keeps the decisions, where the
//!   first one counts, and then tells the shards to finish.
//! - A client that is not answered in time asks another manager to resolve its transfer. That one tries to record an abort, and finishes
//!   whatever was recorded first. So a manager may fail at any time, and one that is only slow does no harm.

mod client;
mod manager;
mod master;
mod replica;
mod specification;
mod store;

use raddle::actor::{Delivery, Stage, System};
use raddle::model::Model;

pub use self::client::{Client, ToClient};
pub use self::manager::{Manager, ToManager};
pub use self::master::{Master, ToMaster};
pub use self::replica::{Replica, ToReplica};
pub use self::specification::{AllOrNothing, Event};
pub use self::store::{Answer, Command, Store};
pub use super::two_phase::{Decision, TxId};
use crate::delay::Program;
use crate::delay::failures::{Draw, Failures};
use crate::delay::timer::{Clock, Timer};

/// A group of replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// The group that keeps the decisions. The others are shards.
pub const DECISIONS: GroupId = GroupId(0);

/// An account in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(pub u32);

/// What one transfer does in one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Where.
    pub shard: GroupId,
    /// To which account.
    pub account: Account,
    /// What is added to it.
    pub change: i32,
}

/// A transaction: money goes from one shard to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Which.
    pub tx: TxId,
    /// What it takes, and what it gives.
    pub parts: [Part; 2],
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// A manager does not expect an answer on a transfer that it is done with. A group answers twice if one of its replicas fails
    /// while the first answer is on its way, and the transfer must be over before the second one arrives.
    AnswerUnhandled,
    /// A manager takes the answer of those who keep the decisions as a confirmation of its own. Another one must have resolved the
    /// transfer meanwhile, which takes a client that has lost its patience.
    OwnDecisionTaken,
    /// A shard does not remember that it was told to abort what it had not prepared. A manager must be so slow that its transfer
    /// is resolved by another before it begins, and fail just after it has begun: then nobody releases the lock.
    EarlyAbortForgotten,
    /// A manager counts votes instead of noting whose they are. One shard must lose its tail and vote yes twice, before the other
    /// one says no.
    VotesCounted,
}

/// How large the system is, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Replicas of each group.
    pub replicas: u32,
    /// Each makes one transfer after the other.
    pub clients: u32,
    /// Transfers of each client.
    pub transfers: u32,
    /// Groups of which one replica may fail.
    pub failing_groups: u32,
    /// Whether one of the managers may fail.
    pub failing_manager: bool,
    /// After how many ticks a client turns to another manager.
    pub patience: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

/// Money goes from the first to the second, or back.
const SHARDS: [GroupId; 2] = [GroupId(1), GroupId(2)];

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self {
        replicas: 2,
        clients: 2,
        transfers: 2,
        failing_groups: 3,
        failing_manager: true,
        patience: 24,
        bug: None,
    };

    /// All of its states can be visited.
    pub const SMALL: Self = Self {
        replicas: 1,
        clients: 1,
        transfers: 1,
        failing_groups: 0,
        failing_manager: true,
        patience: 0,
        bug: None,
    };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
}

/// The transfer that a client makes next. Clients send money in opposite directions, between accounts that they share every other time.
fn transfer(client: u32, number: u32, config: Config) -> Transfer {
    let tx = TxId(client * config.transfers + number);
    let account = Account((client + number) % config.clients);
    let [here, there] = if client.is_multiple_of(2) { SHARDS } else { [SHARDS[1], SHARDS[0]] };
    let part = |shard, change| Part { shard, account, change };
    Transfer { tx, parts: [part(here, -1), part(there, 1)] }
}

/// Creates the actors and sends the first messages.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    let clock = stage.spawn(Clock::default());
    let groups: Vec<Vec<_>> = [DECISIONS, SHARDS[0], SHARDS[1]]
        .map(|group| (0..config.replicas).map(|member| stage.spawn(Replica::new(group, member, config))).collect())
        .into();
    let managers: Vec<_> = (0..2).map(|_| stage.spawn(Manager::new(config))).collect();
    let master = stage.spawn(Master::new(groups.clone(), managers.clone()));
    let timer = stage.spawn(Timer::by(clock, config.patience));
    for client in 0..config.clients {
        let transfers = (0..config.transfers).map(|number| transfer(client, number, config)).collect();
        let first = client as usize % 2;
        let managers = [managers[first].clone(), managers[1 - first].clone()];
        let client = stage.spawn(Client::new(managers, timer.clone(), transfers));
        stage.send(&client, ToClient::Next);
    }
    if config.failing_manager {
        let failures = stage.spawn(Failures::new(managers, ToManager::Crash, 1));
        stage.send(&failures, Draw);
    }
    for group in groups.into_iter().rev().take(config.failing_groups as usize) {
        let failures = stage.spawn(Failures::new(group, ToReplica::Crash, 1));
        stage.send(&failures, Draw);
    }
    stage.send(&master, ToMaster::Start);
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Arrival);
        m.fail_on_unhandled(true);
        m.monitor(AllOrNothing::default());
        set_up(m, config);
    })
}

/// As actors, until nothing is left to do.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::Arrival).fail_on_unhandled(true);
    let mut system = system.monitor(AllOrNothing::default());
    set_up(&mut system, config);
    system.run_until_quiet();
}

/// The transaction manager and its bugs.
pub static PROGRAMS: [Program; 5] = [
    Program { label: "TMS", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    Program {
        label: "TMS 1",
        failure: Some("unhandled message"),
        model: || model(Config::USUAL.with(Bug::AnswerUnhandled)),
        run: || run(Config::USUAL.with(Bug::AnswerUnhandled)),
    },
    Program {
        label: "TMS 2",
        failure: Some("violated monitor"),
        model: || model(Config::USUAL.with(Bug::OwnDecisionTaken)),
        run: || run(Config::USUAL.with(Bug::OwnDecisionTaken)),
    },
    Program {
        label: "TMS 3",
        failure: Some("violated monitor"),
        model: || model(Config::USUAL.with(Bug::EarlyAbortForgotten)),
        run: || run(Config::USUAL.with(Bug::EarlyAbortForgotten)),
    },
    Program {
        label: "TMS 4",
        failure: Some("panic"),
        model: || model(Config::USUAL.with(Bug::VotesCounted)),
        run: || run(Config::USUAL.with(Bug::VotesCounted)),
    },
];
