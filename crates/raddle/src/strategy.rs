//! The strategies, which decide what happens next, and the traits to write your own.
//!
//! [`Explorer::strategy`](crate::Explorer::strategy) takes the name of a strategy (`"pct"`, `"dpor"`) or a value. A strategy of your own implements
//! [`Strategy`]. To share its search among workers or to resume it, implement [`ByNumber`] (a sampler) or [`ByPiece`]; to report what it did,
//! [`Summarize`]. `programs/examples/own_strategy.rs` in the repository does all of this in under 80 lines of code.

/// Delaying explorers: few deviations from a deterministic scheduler. With the trait to write your own.
pub mod delay {
    pub use raddle_engine::ids::TaskId;
    pub use raddle_strategies::states::delay::{
        Delay, DelayHybrid, DelaySample, DelayingExplorer, Event, ProbabilisticRoundRobin, RoundRobin, RunToCompletion,
    };
}

pub use raddle_engine::facts::Fact;
pub use raddle_engine::ids::{ObjectId, StepIx, TaskId};
pub use raddle_engine::outcome::{Failure, Outcome};
pub use raddle_engine::piece::{Checkpoint, Piece};
pub use raddle_engine::rng::{Rng, mix};
pub use raddle_engine::strategy::{
    After, BacktrackTo, Bound, ByNumber, ByPiece, Capabilities, Claim, Counting, Decision, Equivalence, Goal, Memory,
    Needs, Next, Run, Sharing, Sibling, Start, StateSearch, Strategy, Summarize, Unit, least_switching,
};
pub use raddle_engine::system::{Action, Choice, Point, Variant};
pub use raddle_engine::trace::{Access, Class, Effect, Operation, Receipt, Role, Step, Trace};
pub use raddle_strategies::hapset::{Backtrack, Hapset};
pub use raddle_strategies::optimal::Optimal;
pub use raddle_strategies::portfolio::Portfolio;
pub use raddle_strategies::probing::{Probe, Probed};
pub use raddle_strategies::receives::ReceiveOrder;
pub use raddle_strategies::reduction::Dpor;
pub use raddle_strategies::samplers::iterative_random::IterativeRandom;
pub use raddle_strategies::samplers::pct::Pct;
pub use raddle_strategies::samplers::pos::Pos;
pub use raddle_strategies::samplers::random::Random;
pub use raddle_strategies::samplers::round_robin::RoundRobin;
pub use raddle_strategies::samplers::surw::Surw;
pub use raddle_strategies::states::States;
pub use raddle_strategies::tree::exhaustive::Exhaustive;
pub use raddle_strategies::tree::preemption::Preemption;
