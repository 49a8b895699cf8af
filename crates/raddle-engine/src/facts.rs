//! What a strategy has to say of a search, as data. Whoever reports finds the words.

use serde::{Deserialize, Serialize};

use crate::strategy::Unit;

/// Something that is known of a search, or of the execution that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Fact {
    /// A bug that takes so many ordering constraints, in executions of so many steps, was missed with at most this probability.
    MissedAtMost {
        /// Ordering constraints.
        orderings: u32,
        /// Steps of the longest execution.
        steps: u32,
        /// From 0 to 1.
        probability: f64,
    },
    /// In each execution, all orders of what was done to one of so many shared objects were about equally likely.
    EvenOrders {
        /// Shared objects.
        objects: usize,
    },
    /// How likely executions were to be drawn, by how many delays they take.
    Drawn {
        /// Delays, and the probability that an execution with so many was drawn, at least.
        chances: Vec<(u32, f64)>,
        /// The delays are counted from where a search has left off.
        beyond_search: bool,
        /// This holds for executions with at most so many points to choose at.
        points: u32,
    },
    /// So many alternatives were skipped because their ordering had been seen.
    Skipped(u64),
    /// Orderings of statements that are known.
    Orderings {
        /// All.
        known: u64,
        /// Those that were learned in this search.
        new: u64,
        /// How many were new in the first hundred executions and in the latest hundred, if there were enough.
        pace: Option<(u64, u64)>,
    },
    /// No calls were found that statements could be told apart by.
    NoCalls,
    /// Schedules of receives that were generated and followed.
    Followed {
        /// How many were generated.
        generated: u64,
        /// How many of them could be followed to their end.
        followed: u64,
        /// What was not received in the first that could not.
        missed: Option<String>,
    },
    /// The failing execution takes so many of these.
    FoundWith(u32, Unit),
    /// The failing execution was generated so that one message is received before another.
    ReceivedBefore {
        /// The one that comes first.
        first: String,
        /// The one that comes later.
        second: String,
        /// With nothing received between them.
        directly: bool,
    },
    /// The failure came after the execution had been pruned, when it was run on to its end.
    InRestOfPruned,
    /// Something else, in words.
    Other(String),
}
