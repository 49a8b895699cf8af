//! The capabilities of a strategy: what it may be able to do in addition to choosing.

use super::{Bound, Sharing};
use crate::coverage::Generated;
use crate::estimate::{Branching, Estimate};
use crate::facts::Fact;
use crate::search::Learning;
use crate::system::Choice;

/// What a strategy can do in addition to choosing. Each capability is a trait of its own. A strategy without capabilities does not
/// implement this.
pub trait Capabilities {
    /// Searching by states. The search asks at its start whether the strategy does, and uses the answer at each point.
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        None
    }

    /// Sharing the search with other workers, or with a later search. The search asks at its start and whenever work is handed over.
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::Alone
    }

    /// Estimates, guarantees and other facts for the report.
    fn summary(&mut self) -> Option<&dyn Summarize> {
        None
    }

    /// Remembering what it learned about a program from one search to the next.
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        None
    }
}

/// Searches by states: a state that was entered before need not be entered again.
pub trait StateSearch {
    /// The program has reached a state with this [fingerprint](crate::system::Snapshots::fingerprint); `None` if the program has no
    /// fingerprints. The search calls this at each point just before [`choose`](super::Strategy::choose), and at the end. Return false if
    /// nothing new can follow: the search then prunes the execution, unless it has ended.
    fn visit_state(&mut self, state: Option<u64>) -> bool;

    /// Returns another choice in place of the latest one, for which [`visit_state`](Self::visit_state) has just returned false. The search
    /// calls this if the program can [peek](crate::system::Snapshots::peek) at the state that a choice leads to, maybe more than once at a
    /// point. So no execution has to be started only to be pruned there. One execution then counts for all that it makes unnecessary.
    fn next_sibling(&mut self) -> Sibling {
        Sibling::Unknown
    }

    /// How many states the execution that has just ended was the first to visit. The search calls this once after each execution.
    fn new_states(&mut self) -> u64;
}

/// What to do in place of a choice that leads to a state after which nothing new can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sibling {
    /// Take the choice all the same: the execution is pruned there, with all its steps in its trace.
    Unknown,
    /// Take this alternative of the same point, as if the next execution had come here; and whether a later one returns, if that is known.
    Instead {
        /// The alternative.
        choice: Choice,
        /// As in [`Decision::take`](super::Decision::take).
        returns: Option<bool>,
    },
    /// No alternative is left: the execution ends here. The strategy does not need the steps that were not taken.
    None,
}

/// Facts about the search so far, for the report. They are data; the reporter turns them into words.
pub trait Summarize {
    /// How many orders there are, as far as the strategy can tell. The search asks at its end and now and then while it runs.
    fn estimate(&self) -> Option<Estimate> {
        None
    }

    /// Writes to `branch`, which is empty, the points of the execution that has just ended, from the root of the tree that the strategy
    /// walks in depth-first order. Returns false if it walks in another order. An [estimator](crate::estimate::Estimator) calls this.
    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        let _ = branch;
        false
    }

    /// What a search has covered completely that is stopped before its end, when all [stages](crate::piece::Piece::stage) before this one are
    /// done. The search calls this once, when it is stopped.
    fn covered(&self, stage: u32) -> Option<Bound> {
        let _ = stage;
        None
    }

    /// A guarantee that the executions so far give, such as the probability that a bug was missed. If executions are shared by number, the
    /// first `drawn` have been run, by all workers together. If the search was stopped, workers may have run some later ones, too, and the
    /// verdict counts these. The search calls this once, at its end. The verdict line shows it, unless the program fails.
    fn guarantee(&self, drawn: u64) -> Option<Fact> {
        let _ = drawn;
        None
    }

    /// A fact about the execution that has just ended, such as its number of preemptions. The search calls this after
    /// [`end`](super::Strategy::end), for the first execution that fails.
    fn about_failure(&self) -> Option<Fact> {
        None
    }

    /// Further facts, which the report shows as notes below the verdict. The explorer calls this once, at the end.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Schedules that are worth running again after the program has changed. The explorer calls this once, at the end, and saves them.
    fn generated(&self) -> &[Generated] {
        &[]
    }

    /// How much was learned about the program so far; `None` for strategies that do not learn. The search asks now and then while it runs.
    fn learning(&self) -> Option<Learning> {
        None
    }
}

/// Remembers what was learned about a program, as text that only the strategy understands.
pub trait Memory {
    /// Returns what the next search of the same program should know: what this one has learned, joined with what is on disk by now. The
    /// explorer calls this once, after the search. `None` if there is nothing worth keeping.
    ///
    /// # Errors
    ///
    /// If `on_disk` cannot be read; the text says why.
    fn save(&self, on_disk: Option<&str>) -> Result<Option<String>, String>;

    /// Loads what an earlier search has saved. The explorer calls this before the first execution.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the text says why. Then nothing was loaded.
    fn load(&mut self, saved: &str) -> Result<(), String>;

    /// Whether the text can be loaded.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the text says why.
    fn check(&self, saved: &str) -> Result<(), String>;
}
