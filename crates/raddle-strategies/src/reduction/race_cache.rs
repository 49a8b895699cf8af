//! The races of the current path's events. They are cached while the events stay on the path.
//!
//! Two executions that begin with the same events have the same races among these events. The plans for a race may differ. But items stay
//! in the sleep set of a node while its subtree is explored. So if the reversing sequence is covered by a sleeping item because of
//! events that both executions share, neither execution needs a plan for the race.

use raddle_engine::order::before::Race;

/// The race must be processed again in every execution.
pub(super) const NEVER_SETTLED: usize = usize::MAX;

/// The race needs no plan in any execution.
pub(super) const ALWAYS_SETTLED: usize = 0;

/// A race, stored by its second event.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedRace {
    pub race: Race,
    /// The race needs no plan in executions that share at least this many events with the one in which it was computed.
    pub settled: usize,
}

/// The races of the current path, by event.
#[derive(Debug, Default)]
pub(super) struct RaceCache {
    races: Vec<CachedRace>,
    /// By event: the end of its races in `races`.
    ends: Vec<usize>,
}

impl RaceCache {
    /// The number of events whose races are cached.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Removes the races of all but the first `len` events.
    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.races.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Adds a race of the next event.
    pub fn push(&mut self, race: Race, settled: usize) {
        self.races.push(CachedRace { race, settled });
    }

    /// Ends the list of races of the next event.
    pub fn close(&mut self) {
        self.ends.push(self.races.len());
    }

    /// The indices of the races of an event.
    pub fn of(&self, event: usize) -> std::ops::Range<usize> {
        let begin = event.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[event]
    }

    pub fn get(&self, at: usize) -> CachedRace {
        self.races[at]
    }

    pub fn settle(&mut self, at: usize, settled: usize) {
        self.races[at].settled = settled;
    }
}
