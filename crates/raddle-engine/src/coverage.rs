//! How much of what can happen has been seen, by the orders in which messages are received (Tasharofi, Pradel, Lin, Johnson: "Bita", ICSE 2013).
//!
//! A [`Recorded`] is what one execution has received; [`Must`] which of that could not have come in another order. [`Coverage`] adds up
//! which [goals](Criterion) the executions of a search have achieved: it works with every strategy, since it looks at traces only.

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
