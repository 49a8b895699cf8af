//! Results of a search, as numbers that can be added up.

use serde::{Deserialize, Serialize};

use crate::caveats::CaveatCounts;
use crate::estimate::Walks;
use crate::piece::Piece;
use crate::search::Found;

/// Counts of executions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Executions that ran to their end, failing ones included.
    pub executions: u64,
    /// Pruned executions: nothing new could follow.
    pub pruned: u64,
    /// Executions that failed.
    pub failing: u64,
    /// Executions that estimate the size of the search.
    pub probes: u64,
    /// Executions in which something limits what they prove, by kind.
    #[serde(default)]
    pub caveats: CaveatCounts,
    /// States that no execution had visited before, if the strategy searches by states.
    #[serde(default)]
    pub states: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Steps of the longest execution.
    pub longest: u64,
    /// The size of the tree according to uniform walks; only those since the search was resumed.
    #[serde(skip)]
    pub walks: Walks,
    /// The failure to report. [`Remains::failed`](super::Remains::failed) is the part of it that is saved.
    #[serde(skip)]
    pub found: Option<Found>,
}

impl Tally {
    /// Executions of any kind.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.executions + self.pruned + self.probes
    }

    /// Whether other numbers can be added to these without overflow.
    pub(super) fn is_sound(&self) -> bool {
        let Self { executions, pruned, failing, probes, caveats, states, steps, longest, .. } = self;
        let counts = [executions, pruned, failing, probes, &caveats.largest(), states, steps, longest];
        counts.into_iter().all(|&count| count <= Piece::MOST_RUN)
    }

    /// Adds later results.
    pub(super) fn add(&mut self, other: Self) {
        let before = self.run();
        self.executions += other.executions;
        self.pruned += other.pruned;
        self.failing += other.failing;
        self.probes += other.probes;
        self.caveats.add(&other.caveats);
        self.states += other.states;
        self.steps += other.steps;
        self.longest = self.longest.max(other.longest);
        self.walks.merge(&other.walks);
        if let Some(mut found) = other.found {
            if found.number.is_none() {
                found.after += before;
            }
            let sooner = |earlier: &Found| match (found.number, earlier.number) {
                (Some(new), Some(old)) => new < old,
                _ => (found.stage, found.choices()) < (earlier.stage, earlier.choices()),
            };
            if self.found.as_ref().is_none_or(sooner) {
                self.found = Some(found);
            }
        }
    }
}
