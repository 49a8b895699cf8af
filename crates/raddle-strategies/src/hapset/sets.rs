//! The sets themselves: for each statement, those that some good execution had just before it, in another task, on the same
//! object.

use super::statement::StatementId;

/// Which statement was seen to come right after which.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// By statement: `hapset[st]`, with a place for every statement that may be in it.
    rows: Vec<Vec<Entry>>,
    /// The execution that is being learnt from.
    run: u32,
    len: u64,
    /// Learnt in this search.
    learnt: u64,
    /// How many of those nobody else has been told of.
    news: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// How often it was seen; 0 if it is not in the set.
    times: u32,
    /// How much of that others know.
    told: u32,
    /// In which execution it was seen first, and where in that; 0 and 0 if in an earlier search.
    run: u32,
    at: u32,
}

impl Sets {
    /// What is learnt from here on comes from the next execution.
    pub(super) fn begin(&mut self) {
        self.run += 1;
    }

    fn entry(&mut self, of: StatementId, before: StatementId) -> &mut Entry {
        if self.rows.len() <= of.index() {
            self.rows.resize_with(of.index() + 1, Vec::new);
        }
        let row = &mut self.rows[of.index()];
        if row.len() <= before.index() {
            row.resize(before.index() + 1, Entry::default());
        }
        &mut row[before.index()]
    }

    /// Event `at` of this execution, by the statement `of`, came right after one by `before`.
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
        self.learnt += 1;
        self.news += 1;
    }

    /// Takes up what somebody else has seen so often.
    pub(super) fn recall(&mut self, of: StatementId, before: StatementId, times: u32) {
        let entry = self.entry(of, before);
        let unknown = entry.times == 0;
        entry.told += times.saturating_sub(entry.times);
        entry.times = entry.times.max(times);
        self.len += u64::from(unknown && times > 0);
    }

    /// Takes in what a worker has seen so often; whether nobody had.
    pub(super) fn add(&mut self, of: StatementId, before: StatementId, times: u32) -> bool {
        let entry = self.entry(of, before);
        let new = entry.times == 0;
        entry.times = entry.times.saturating_add(times);
        self.len += u64::from(new);
        self.learnt += u64::from(new);
        new
    }

    /// Calls `tell` with all that others have not been told, and how often it was seen since.
    pub(super) fn tell(&mut self, mut tell: impl FnMut(StatementId, StatementId, u32)) {
        self.news = 0;
        for (of, row) in self.rows.iter_mut().enumerate() {
            for (before, entry) in row.iter_mut().enumerate().filter(|(_, entry)| entry.told < entry.times) {
                tell(StatementId::next_of(of), StatementId::next_of(before), entry.times - entry.told);
                entry.told = entry.times;
            }
        }
    }

    /// Forgets all that others have not been told.
    pub(super) fn forget_untold(&mut self) {
        for entry in self.rows.iter_mut().flatten().filter(|entry| entry.told < entry.times) {
            entry.times = entry.told;
            self.len -= u64::from(entry.told == 0);
        }
        self.learnt -= std::mem::take(&mut self.news);
    }

    /// How often `of` was seen to come right after `before`.
    pub(super) fn times(&self, of: StatementId, before: StatementId) -> u32 {
        self.find(of, before).map_or(0, |entry| entry.times)
    }

    fn find(&self, of: StatementId, before: StatementId) -> Option<&Entry> {
        self.rows.get(of.index())?.get(before.index()).filter(|entry| entry.times > 0)
    }

    /// Whether `before ∈ hapset[of]`, as it was after event `at` of the execution that was learnt from last.
    pub(super) fn has(&self, of: StatementId, before: StatementId, at: usize) -> bool {
        self.find(of, before).is_some_and(|entry| entry.run != self.run || entry.at as usize <= at)
    }

    /// How many orderings are known.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// How many of them were learnt in this search.
    pub(super) fn learnt(&self) -> u64 {
        self.learnt
    }

    /// All of them: the statement, one that came right before it, and how often.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StatementId, StatementId, u32)> + '_ {
        self.rows.iter().enumerate().flat_map(|(of, row)| {
            let pair = move |(before, entry): (usize, &Entry)| {
                (StatementId::next_of(of), StatementId::next_of(before), entry.times)
            };
            row.iter().enumerate().filter(|(_, entry)| entry.times > 0).map(pair)
        })
    }
}
