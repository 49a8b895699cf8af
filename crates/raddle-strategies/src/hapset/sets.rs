//! The predecessor sets: for each statement, the statements that some good execution had immediately before it, in another task, on the
//! same object.

use super::statement::StatementId;

/// The predecessor sets of all statements.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// By statement `st`: `hapset[st]`, with one entry for every statement that may be in it.
    rows: Vec<Vec<SetEntry>>,
    /// The number of the execution that is being learned from.
    run: u32,
    len: u64,
    /// Learned in this search.
    learned: u64,
    /// How many of those are not published yet.
    unpublished: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct SetEntry {
    /// How often the ordering was seen; 0 if it is not in the set.
    times: u32,
    /// How many of these observations are published.
    published: u32,
    /// The execution that showed the ordering first, and the event there. Both are 0 if an earlier search has learned it.
    run: u32,
    at: u32,
}

impl Sets {
    /// Begins the next execution to learn from.
    pub(super) fn begin(&mut self) {
        self.run += 1;
    }

    fn entry(&mut self, of: StatementId, before: StatementId) -> &mut SetEntry {
        if self.rows.len() <= of.index() {
            self.rows.resize_with(of.index() + 1, Vec::new);
        }
        let row = &mut self.rows[of.index()];
        if row.len() <= before.index() {
            row.resize(before.index() + 1, SetEntry::default());
        }
        &mut row[before.index()]
    }

    /// Learns that event `at` of this execution, by statement `of`, came immediately after an event by `before`.
    pub(super) fn learn(&mut self, of: StatementId, before: StatementId, at: usize) {
        let known = self.rows.get_mut(of.index()).and_then(|row| row.get_mut(before.index()));
        match known.filter(|entry| entry.times > 0) {
            Some(entry) => entry.times = entry.times.saturating_add(1),
            None => self.learn_first(of, before, at),
        }
    }

    #[cold]
    fn learn_first(&mut self, of: StatementId, before: StatementId, at: usize) {
        let at = u32::try_from(at).expect("raddle bug: more than 2^32 events in one execution");
        let run = self.run;
        let entry = self.entry(of, before);
        (entry.times, entry.run, entry.at) = (1, run, at);
        self.len += 1;
        self.learned += 1;
        self.unpublished += 1;
    }

    /// Imports an ordering that another worker or search has seen `times` times.
    pub(super) fn import(&mut self, of: StatementId, before: StatementId, times: u32) {
        let entry = self.entry(of, before);
        let unknown = entry.times == 0;
        entry.published += times.saturating_sub(entry.times);
        entry.times = entry.times.max(times);
        self.len += u64::from(unknown && times > 0);
    }

    /// Adds `times` observations by a worker. Returns true if the ordering is new.
    pub(super) fn add(&mut self, of: StatementId, before: StatementId, times: u32) -> bool {
        let entry = self.entry(of, before);
        let new = entry.times == 0;
        entry.times = entry.times.saturating_add(times);
        self.len += u64::from(new);
        self.learned += u64::from(new);
        new
    }

    /// Calls `publish` with each ordering that has unpublished observations, and with their number.
    pub(super) fn publish(&mut self, mut publish: impl FnMut(StatementId, StatementId, u32)) {
        self.unpublished = 0;
        for (of, row) in self.rows.iter_mut().enumerate() {
            for (before, entry) in row.iter_mut().enumerate().filter(|(_, entry)| entry.published < entry.times) {
                publish(StatementId::next_of(of), StatementId::next_of(before), entry.times - entry.published);
                entry.published = entry.times;
            }
        }
    }

    /// Discards all unpublished observations.
    pub(super) fn discard_unpublished(&mut self) {
        for entry in self.rows.iter_mut().flatten().filter(|entry| entry.published < entry.times) {
            entry.times = entry.published;
            self.len -= u64::from(entry.published == 0);
        }
        self.learned -= std::mem::take(&mut self.unpublished);
    }

    /// How often `of` was seen immediately after `before`.
    pub(super) fn times(&self, of: StatementId, before: StatementId) -> u32 {
        self.find(of, before).map_or(0, |entry| entry.times)
    }

    fn find(&self, of: StatementId, before: StatementId) -> Option<&SetEntry> {
        self.rows.get(of.index())?.get(before.index()).filter(|entry| entry.times > 0)
    }

    /// True if `before ∈ hapset[of]`, as the set was at event `at` of the latest execution.
    pub(super) fn has(&self, of: StatementId, before: StatementId, at: usize) -> bool {
        self.find(of, before).is_some_and(|entry| entry.run != self.run || entry.at as usize <= at)
    }

    /// How many orderings are known.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// How many of them were learned in this search.
    pub(super) fn learned(&self) -> u64 {
        self.learned
    }

    /// All orderings: the statement, its predecessor, and how often.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StatementId, StatementId, u32)> + '_ {
        self.rows.iter().enumerate().flat_map(|(of, row)| {
            let pair = move |(before, entry): (usize, &SetEntry)| {
                (StatementId::next_of(of), StatementId::next_of(before), entry.times)
            };
            row.iter().enumerate().filter(|(_, entry)| entry.times > 0).map(pair)
        })
    }
}
