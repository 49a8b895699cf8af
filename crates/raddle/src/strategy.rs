//! Who decides what happens next: the strategies, and the trait to write one's own.
//!
//! Where a name will do, [`Explorer::strategy`](crate::Explorer::strategy) takes that too: `"pct"`, `"dpor"`.

/// Few deviations from what an explorer does first, and the trait to write one's own explorer.
pub mod delay {
    pub use raddle_engine::ids::TaskId;
    pub use raddle_engine::strategy::delay::{
        Delay, DelayHybrid, DelaySample, DelayingExplorer, Event, ProbabilisticRoundRobin, RoundRobin, RunToCompletion,
    };
}

pub use raddle_engine::strategy::dpor::Dpor;
pub use raddle_engine::strategy::exhaustive::Exhaustive;
pub use raddle_engine::strategy::hapset::{Backtrack, Hapset};
pub use raddle_engine::strategy::iterative_random::IterativeRandom;
pub use raddle_engine::strategy::pct::Pct;
pub use raddle_engine::strategy::portfolio::Portfolio;
pub use raddle_engine::strategy::pos::Pos;
pub use raddle_engine::strategy::preemption::Preemption;
pub use raddle_engine::strategy::probe::Probe;
pub use raddle_engine::strategy::probed::Probed;
pub use raddle_engine::strategy::random::Random;
pub use raddle_engine::strategy::receive_order::ReceiveOrder;
pub use raddle_engine::strategy::round_robin::RoundRobin;
pub use raddle_engine::strategy::states::States;
pub use raddle_engine::strategy::surw::Surw;
pub use raddle_engine::strategy::{Bound, Claim, Counting, Decision, Next, Run, Strategy, Unit, least_switching};
pub use raddle_engine::system::{Action, Choice, Point, Variant};
pub use raddle_engine::trace::Trace;
