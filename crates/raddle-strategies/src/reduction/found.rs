//! The races of the current path's events, kept for as long as the path is.
//!
//! Two executions that begin with the same events have the same races among these. What is planned for a race may differ, but not
//! always: what sleeps at a node stays there while anything below it is run, so if the reversing sequence begins with something
//! asleep because of events that both executions have, nothing is to be planned in either.

use raddle_engine::order::before::Race;

/// Nothing is known of what comes of a race in other executions.
pub(super) const NEVER: usize = usize::MAX;

/// Nothing comes of a race wherever it is seen.
pub(super) const ALWAYS: usize = 0;

/// A race, by its second event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub race: Race,
    /// Nothing is to be planned for it in an execution that begins with so many of the same events.
    pub settled: usize,
}

/// What was seen, by event.
#[derive(Debug, Default)]
pub(super) struct Found {
    races: Vec<Seen>,
    /// Where those of each event end.
    ends: Vec<usize>,
}

impl Found {
    /// Of how many events the races are known.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets those of all but the first `len` events.
    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.races.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Adds one of the next event.
    pub fn push(&mut self, race: Race, settled: usize) {
        self.races.push(Seen { race, settled });
    }

    /// Those of the next event are all there.
    pub fn close(&mut self) {
        self.ends.push(self.races.len());
    }

    /// Where those of an event are.
    pub fn of(&self, event: usize) -> std::ops::Range<usize> {
        let begin = event.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[event]
    }

    pub fn get(&self, at: usize) -> Seen {
        self.races[at]
    }

    pub fn settle(&mut self, at: usize, settled: usize) {
        self.races[at].settled = settled;
    }
}
