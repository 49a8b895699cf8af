//! The programs of the paper on delaying explorers (Desai, Qadeer, Seshia 2015): protocols of distributed systems and a driver, each correct, and each
//! with the bugs of the paper's table as variants.
//!
//! All of them are set up on a [`Stage`](raddle::actor::Stage), so they run as models and as actors alike. Messages are delivered in the
//! order of their arrival, as in P, the language the paper's programs are written in: which actor goes on is the only choice
//! of the scheduler. In chain replication and Paxos, which are about messages that arrive late, they overtake those of other
//! senders, and in Multi-Paxos any others.
//!
//! Failures of nodes are drawn by an actor of its own, where no failure is the first choice, and time passes by messages of a timer to
//! itself: what can go wrong is a message or a draw like any other, so every explorer can hold it back, and reduction needs no rules
//! for it.

pub mod chain;
pub mod failures;
pub mod multi_paxos;
pub mod osr;
pub mod paxos;
pub mod timer;
pub mod tms;
pub mod two_phase;

use raddle::model::Model;

/// A program of the paper, correct or with one bug.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What the paper's table calls it: `2PC 1`, or `2PC` if nothing is wrong with it.
    pub label: &'static str,
    /// How its bug shows, in the words of [`Failure::kind`](raddle::Failure::kind); `None` if nothing is wrong with it.
    pub failure: Option<&'static str>,
    /// As a model, whose states can be copied and told apart.
    pub model: fn() -> Model,
    /// As actors: the body of an execution.
    pub run: fn(),
}

/// All programs, each first as it should be and then with its bugs.
pub static ALL: [&[Program]; 6] =
    [&two_phase::PROGRAMS, &chain::PROGRAMS, &multi_paxos::PROGRAMS, &paxos::PROGRAMS, &tms::PROGRAMS, &osr::PROGRAMS];

/// The programs with nothing wrong.
pub fn correct() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_none())
}

/// The bugs of the paper's table.
pub fn bugs() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_some())
}
