//! The programs of "Eta" (exploratory testing of actor programs): small systems of actors with one queue each, whose numbers of
//! executions are known exactly.
//!
//! Each is set up on a [`Stage`], so it runs as a model and as a system of actors alike. Messages are
//! delivered in the order of their arrival.

pub mod phils;
pub mod ping_pong;
pub mod scheduler;
pub mod store;

use raddle::actor::{Delivery, Stage};
use raddle::model::Model;

/// A program with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// Front-ends, back-ends, clients, requests in all.
    Store(u32, u32, u32, u32),
    /// Philosophers, and as many forks.
    Phils(u32),
    /// How often each ball is passed.
    PingPong(u32),
}

/// A program of Eta and how many executions it has.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Which.
    pub program: Eta,
    /// All maximal sequences of steps.
    pub executions: u64,
    /// Those that differ in more than the order of independent steps.
    pub traces: u64,
}

const fn counted(program: Eta, executions: u64, traces: u64) -> Counted {
    Counted { program, executions, traces }
}

/// The rows of the paper's table.
pub const TABLE: [Counted; 9] = [
    counted(Eta::Store(1, 1, 1, 3), 1_946, 5),
    counted(Eta::Store(1, 1, 2, 3), 10_933, 15),
    counted(Eta::Store(1, 2, 2, 3), 18_275, 29),
    counted(Eta::Store(2, 2, 2, 3), 82_719, 6),
    counted(Eta::Store(2, 2, 3, 3), 239_466, 12),
    counted(Eta::Phils(2), 150, 5),
    counted(Eta::Phils(3), 3_159_870, 37),
    counted(Eta::PingPong(10), 2_048, 1),
    counted(Eta::PingPong(15), 65_536, 1),
];

impl Eta {
    /// Creates the actors and sends the first messages.
    pub fn set_up(self, stage: &mut impl Stage) {
        match self {
            Eta::Store(front_ends, back_ends, clients, requests) => {
                store::set_up(stage, front_ends, back_ends, clients, requests);
            }
            Eta::Phils(n) => phils::set_up(stage, n),
            Eta::PingPong(n) => ping_pong::set_up(stage, n),
        }
    }

    /// As a model.
    #[must_use]
    pub fn model(self) -> Model {
        Model::new(|m| {
            m.delivery(Delivery::Arrival);
            self.set_up(m);
        })
    }
}
