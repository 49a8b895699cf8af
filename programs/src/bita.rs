//! The programs of the paper on schedules guided by coverage ("Bita"; Tasharofi, Pradel, Lin, Johnson 2013), each correct and with the twelve bugs of its table.
//!
//! The paper's programs are written for Akka: messages of one sender to one receiver arrive in order, and nothing else is promised.
//! So [`Delivery::PerSender`](raddle::actor::Delivery::PerSender) is the delivery of all of them. They are small versions of what the
//! paper took from real projects: the same actors and the same kinds of mistakes, without sockets and disks. What is outside (a server
//! that is loaded, a connection) is an actor like the others, as in the paper. Nothing but the order of receives differs between
//! executions.
//!
//! Every bug is an order of two or three receives of one actor. None shows if each actor takes its turn and receives what came
//! first.

pub mod barber;
pub mod fyrie;
pub mod gatling;
pub mod geotrellis;
pub mod messenger;
pub mod registry;
pub mod signal_collect;

use raddle::coverage::Criterion;

/// A program of the paper, correct or with one bug.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// `Gatling 1`, or `Gatling` if nothing is wrong with it.
    pub label: &'static str,
    /// How its bug shows, in the words of [`Failure::kind`](raddle::Failure::kind); `None` if nothing is wrong with it.
    pub failure: Option<&'static str>,
    /// By what the paper finds the bug; `None` if nothing is wrong.
    pub needs: Option<Criterion>,
    /// The body of an execution.
    pub run: fn(),
    /// The same without the bug.
    pub fixed: fn(),
}

impl Program {
    /// A program without a bug.
    const fn correct(label: &'static str, run: fn()) -> Self {
        Self { label, failure: None, needs: None, run, fixed: run }
    }

    /// This program with a bug.
    const fn with(self, label: &'static str, failure: &'static str, needs: Criterion, run: fn()) -> Self {
        Self { label, failure: Some(failure), needs: Some(needs), run, fixed: self.run }
    }
}

/// All programs, each first as it should be and then with its bugs.
pub static ALL: [&[Program]; 7] = [
    &gatling::PROGRAMS,
    &geotrellis::PROGRAMS,
    &fyrie::PROGRAMS,
    &signal_collect::PROGRAMS,
    &barber::PROGRAMS,
    &messenger::PROGRAMS,
    &registry::PROGRAMS,
];

/// The programs with nothing wrong.
pub fn correct() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_none())
}

/// The bugs of the paper's table.
pub fn bugs() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_some())
}
