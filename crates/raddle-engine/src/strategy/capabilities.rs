//! What a strategy may be able to do beside deciding.

use super::{Bound, Sharing};
use crate::coverage::Generated;
use crate::estimate::{Branching, Estimate};
use crate::facts::Fact;
use crate::search::Learning;
use crate::system::Choice;

/// What a strategy can do beside deciding. Each capability is a trait of its own; a strategy that has none of them need not implement
/// this.
pub trait Capabilities {
    /// Searching by states. The search asks at its start whether the strategy does, and uses the answer at each point.
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        None
    }

    /// Sharing the search with other workers, or with a later search. The search asks at its start and whenever work is handed over.
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::Alone
    }

    /// Telling about itself.
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
    /// The program has come to a state with this [fingerprint](crate::system::Snapshots::fingerprint); `None` if its state cannot be seen.
    /// The search calls this at each point just before [`choose`](super::Strategy::choose) and at the end. False if nothing new lies
    /// beyond: the execution is then pruned without asking what could happen next, unless it is known to have ended.
    fn visit_state(&mut self, state: Option<u64>) -> bool;

    /// What to do instead of the latest choice, which leads to a state that [`visit_state`](Self::visit_state) has just said no to. The
    /// search calls this where the program can [tell beforehand](crate::system::Snapshots::peek) what a choice leads to, maybe more than
    /// once at a point: the next executions need not begin anew only to end there as well. One execution then counts for all that it
    /// makes unnecessary.
    fn next_sibling(&mut self) -> Sibling {
        Sibling::Unknown
    }

    /// States that nobody had been in before, of the execution that has just ended. The search calls this once for each.
    fn new_states(&mut self) -> u64;
}

/// How to go on before a state with nothing new beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sibling {
    /// By going there: the execution is pruned there, with all its steps in its trace.
    Unknown,
    /// With this alternative of the same point, as if the next execution had come here; and whether a later one returns, if that is known.
    Instead {
        /// The alternative.
        choice: Choice,
        /// As in [`Decision::take`](super::Decision::take).
        returns: Option<bool>,
    },
    /// No alternative is left: the execution ends here, and the strategy does not miss the steps that it did not take.
    None,
}

/// Tells about the search so far. What it tells is data; the words are the reporter's.
pub trait Summarize {
    /// How many orders there are, as far as the strategy can tell. The search asks at its end and now and then while it runs.
    fn estimate(&self) -> Option<Estimate> {
        None
    }

    /// Leaves in `branch`, which is given empty, the points along the execution that has just ended, from the root of the tree that the
    /// strategy walks in depth-first order; false if it walks otherwise. Who [estimates](crate::estimate::Estimator) from that calls this.
    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        let _ = branch;
        false
    }

    /// What has been covered whole, of a search that is stopped before its end when all [stages](crate::piece::Piece::stage) before
    /// this one are done. The search asks once, then.
    fn covered(&self, stage: u32) -> Option<Bound> {
        let _ = stage;
        None
    }

    /// What is certain about what was run, beyond how much it was. Where executions go by number, the first `drawn` have been run, by
    /// whatever worker. The search asks once, at its end. It becomes part of the verdict line, unless the program fails.
    fn guarantee(&self, drawn: u64) -> Option<Fact> {
        let _ = drawn;
        None
    }

    /// What is to be said of the execution that has just ended, such as how many preemptions it took. The search asks after
    /// [`end`](super::Strategy::end), for the first execution that fails.
    fn about_failure(&self) -> Option<Fact> {
        None
    }

    /// What else is to be said of the search, as notes below the verdict. Who reports asks once, at the end.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Schedules that are worth being run again after changes to the program. Who keeps them asks once, at the end.
    fn generated(&self) -> &[Generated] {
        &[]
    }

    /// How much was learned about the program so far; `None` for strategies that do not learn. The search asks now and then while it runs.
    fn learning(&self) -> Option<Learning> {
        None
    }
}

/// Remembers what was learned about a program. What is remembered is text that only the strategy understands.
pub trait Memory {
    /// Returns what the next search of the same program should know: what this one has learned, joined with what is on disk by now. The
    /// explorer calls this once, after the search. `None` if there is nothing worth keeping.
    ///
    /// # Errors
    ///
    /// If `on_disk` cannot be understood; it says why.
    fn save(&self, on_disk: Option<&str>) -> Result<Option<String>, String>;

    /// Takes up what an earlier search has saved. The explorer calls this before the first execution.
    ///
    /// # Errors
    ///
    /// If it cannot be understood; it says why, and nothing was taken up.
    fn load(&mut self, saved: &str) -> Result<(), String>;

    /// Whether the text can be loaded.
    ///
    /// # Errors
    ///
    /// If it cannot be understood; it says why.
    fn check(&self, saved: &str) -> Result<(), String>;
}
