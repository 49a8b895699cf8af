//! Paxos for one decision: proposers that compete, acceptors that remember, learners that find out what was chosen.
//!
//! A value is chosen once a majority of the acceptors has accepted it in one ballot. A proposer asks a majority to promise that
//! they take no part in lower ballots; if one of them has accepted something, it proposes what was accepted in the highest
//! ballot, else its own value. Who is refused tries a higher ballot, for as long as it has attempts left.
//!
//! Paxos asks little of its network, so messages of different senders overtake each other ([`Delivery::PerSender`]). It does ask
//! that acceptors remember what they have promised when they come back after a power failure. These are drawn by
//! [`Failures`], nobody being the first choice: an acceptor that comes back has lost its memory and reads its disk.
//!
//! What must hold: one value is chosen and no other ([`OneDecision`]). Since nothing is lost for good, the proposer with the
//! highest ballot of all is refused by nobody, so at the end there is a decision.

mod acceptor;
mod learner;
mod proposer;

use raddle::actor::{Address, Delivery, Stage, System};
use raddle::model::Model;

pub use self::acceptor::{Acceptor, Disk, ToAcceptor};
pub use self::learner::{Chosen, Learner, OneDecision, Vote};
pub use self::proposer::{Proposer, ToProposer};
use crate::delay::Program;
use crate::delay::failures::{Draw, Failures};

/// What proposers want to be chosen.
pub type Value = u32;

/// Whose ballot it is does not matter as long as no two proposers have the same: rounds first, then proposers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// How often somebody has begun anew.
    pub round: u32,
    /// Whose it is.
    pub proposer: u32,
}

/// How many actors take part.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Those who want their own value to be chosen.
    pub proposers: u32,
    /// Those who choose.
    pub acceptors: u32,
    /// Those who want to know.
    pub learners: u32,
    /// How many ballots each proposer may begin.
    pub attempts: u32,
    /// Power failures of acceptors, at most.
    pub cuts: u32,
    /// The bug, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The smallest with a race between proposers.
    pub const SMALL: Self = Self { proposers: 2, acceptors: 2, learners: 1, attempts: 1, cuts: 0, bug: None };
    /// Three acceptors, one of which may lose its power.
    pub const USUAL: Self = Self { proposers: 2, acceptors: 3, learners: 1, attempts: 2, cuts: 1, bug: None };
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// A proposer takes every vote to be for the ballot it is at. One that was refused by an acceptor and has begun a higher ballot does
    /// not know what to do with the vote of another acceptor that had accepted before. It shows where the acceptors hear of
    /// a competing ballot at different times, some before and some after the proposal, and the refusal comes in first.
    LateVote,
    /// A proposer takes the value of the first acceptor that has accepted any, not that of the highest ballot. It takes three
    /// ballots to show: the first is accepted by one acceptor, the second by the others, so that its value is chosen, and the
    /// third one hears of the first one's value first.
    FirstValue,
    /// An acceptor does not write its promises to its disk, only what it accepts. It shows if the power fails between a promise and
    /// the proposal it was made for, and the proposal of a lower ballot comes in between.
    UnwrittenPromise,
}

/// The program as it should be, and with its bugs.
pub static PROGRAMS: [Program; 4] = [
    Program { label: "Paxos", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    Program {
        label: "Paxos 1",
        failure: Some("unhandled message"),
        model: || model(Bug::LateVote.config()),
        run: || run(Bug::LateVote.config()),
    },
    Program {
        label: "Paxos 2",
        failure: Some("violated monitor"),
        model: || model(Bug::FirstValue.config()),
        run: || run(Bug::FirstValue.config()),
    },
    Program {
        label: "Paxos 3",
        failure: Some("violated monitor"),
        model: || model(Bug::UnwrittenPromise.config()),
        run: || run(Bug::UnwrittenPromise.config()),
    },
];

impl Bug {
    /// A configuration in which it can show.
    #[must_use]
    pub const fn config(self) -> Config {
        let config = Config { bug: Some(self), ..Config::USUAL };
        match self {
            // With more acceptors there is less of a chance that the power fails for the one that matters.
            Self::UnwrittenPromise => Config { acceptors: 5, attempts: 1, ..config },
            Self::LateVote | Self::FirstValue => config,
        }
    }
}

/// Creates the actors and lets the proposers begin.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    let learners: Vec<_> = (0..config.learners).map(|_| stage.spawn(Learner::new(config.acceptors))).collect();
    let acceptors: Vec<Address<ToAcceptor>> =
        (0..config.acceptors).map(|number| stage.spawn(Acceptor::new(number, learners.clone(), config.bug))).collect();
    for number in 0..config.proposers {
        let proposer = stage.spawn(Proposer::new(number, acceptors.clone(), config));
        stage.send(&proposer, ToProposer::Begin);
    }
    if config.cuts > 0 {
        let power = stage.spawn(Failures::new(acceptors, ToAcceptor::Restart, config.cuts));
        stage.send(&power, Draw);
    }
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::PerSender);
        m.fail_on_unhandled(true);
        m.monitor(OneDecision::new(config.proposers));
        set_up(m, config);
    })
}

/// As actors, until nothing is left to happen.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::PerSender).fail_on_unhandled(true);
    let mut system = system.monitor(OneDecision::new(config.proposers));
    set_up(&mut system, config);
    system.run_until_quiet();
}
