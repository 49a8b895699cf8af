//! Facts that a strategy reports about a search, as data. The crate `raddle` has the words for them.

use serde::{Deserialize, Serialize};

use crate::strategy::Unit;

/// A fact about a search, or about the failing execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Fact {
    /// An upper bound on the probability that the search missed a bug of so many ordering constraints, in executions of so many steps.
    MissedAtMost {
        /// Ordering constraints.
        orderings: u32,
        /// Steps of the longest execution.
        steps: u32,
        /// From 0 to 1.
        probability: f64,
    },
    /// In each execution, all orders of the accesses to one of so many shared objects were about equally likely.
    EvenOrders {
        /// Shared objects.
        objects: usize,
    },
    /// The probability that an execution is drawn, by its number of delays.
    Drawn {
        /// A number of delays, and a lower bound on the probability that an execution with so many was drawn.
        chances: Vec<(u32, f64)>,
        /// The delays are counted from the point where a systematic search ended.
        beyond_search: bool,
        /// This holds for executions with at most so many decision points.
        points: u32,
    },
    /// So many alternatives were skipped because their ordering had been seen.
    Skipped(u64),
    /// The number of known orderings of statements.
    Orderings {
        /// All.
        known: u64,
        /// Those that were learned in this search.
        new: u64,
        /// How many were new in the first hundred executions and in the latest hundred, if there were enough executions.
        pace: Option<(u64, u64)>,
    },
    /// The program has no debug information, so statements could not be distinguished by their calls.
    NoCalls,
    /// Schedules of receives that were generated and followed.
    Followed {
        /// How many were generated.
        generated: u64,
        /// How many of them could be followed to their end.
        followed: u64,
        /// The first receive that did not happen in the first schedule that could not be followed.
        missed: Option<String>,
    },
    /// The failing execution has so many of these (delays, preemptions).
    FoundWith(u32, Unit),
    /// The failing execution was generated so that one message is received before another.
    ReceivedBefore {
        /// The message that is received first.
        first: String,
        /// The message that is received later.
        second: String,
        /// No receive comes between them.
        directly: bool,
    },
    /// The failure happened after the execution had been pruned, in its rest.
    InRestOfPruned,
    /// Another fact, as text.
    Other(String),
}
