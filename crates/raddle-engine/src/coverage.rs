//! Coverage by the orders in which messages are received (Tasharofi, Pradel, Lin, Johnson: "Bita", ICSE 2013).
//!
//! [`Recorded`] has the receives of one execution. [`Must`] says which of them could not have happened in another order. [`Coverage`] adds
//! up the [goals](Criterion) that the executions of a search have achieved. It only reads traces, so it works with every strategy.

pub mod bits;
mod criterion;
mod forecast;
mod goal_counts;
mod must;
pub mod receive_index;
mod recorded;
mod scheduled;
mod seen;
mod uncovered;

pub use self::criterion::Criterion;
pub use self::forecast::{Growth, forecast};
pub use self::must::{Must, Why};
pub use self::recorded::{Draw, Name, ReceiveEvent, Recorded};
pub use self::scheduled::{Generated, Scheduled};

pub use self::seen::{Achieved, Coverage, short};
pub use self::uncovered::{Example, Uncovered};
