//! How much of what can happen has been seen, by the orders in which messages are received (seed "Bita", ALGORITHMS.md §2).
//!
//! A [`Recorded`] is what one execution has received; [`Must`] which of that could not have come in another order. [`Coverage`] adds up
//! which [goals](Criterion) the executions of a search have achieved: it works with every strategy, since it looks at traces only.

pub(crate) mod bits;
mod criterion;
mod must;
mod recorded;
pub(crate) mod roll;

pub use self::criterion::Criterion;
pub use self::must::{Must, Why};
pub use self::recorded::{Draw, Event, Name, Recorded};
