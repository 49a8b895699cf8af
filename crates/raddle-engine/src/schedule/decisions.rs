//! The decisions of a schedule, with equal neighbours stored once.
//!
//! A schedule of a few bytes may stand for very many decisions (`v1:1x99999999`), so the memory that it takes must depend on the
//! length of its text and not on how many decisions there are.

use std::fmt;
use std::iter;

use super::Decided;

/// A list of decisions. Runs of equal ones take the memory of one.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Decisions {
    /// No two neighbours have equal decisions, so that equal lists have equal runs.
    runs: Vec<RunLength>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct RunLength {
    decided: Decided,
    /// The index after the last decision of this run.
    end: usize,
}

impl Decisions {
    /// An empty list with room for this many runs.
    pub(super) fn with_capacity(runs: usize) -> Self {
        Self { runs: Vec::with_capacity(runs) }
    }

    /// How many decisions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The decision with this index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Decided> {
        let run = self.runs.partition_point(|run| run.end <= index);
        self.runs.get(run).map(|run| &run.decided)
    }

    /// Adds a decision at the end.
    pub fn push(&mut self, decided: Decided) {
        self.push_times(decided, 1);
    }

    /// Adds the same decision several times.
    pub(super) fn push_times(&mut self, decided: Decided, times: usize) {
        let end = self.len() + times;
        match self.runs.last_mut() {
            _ if times == 0 => {}
            Some(last) if last.decided == decided => last.end = end,
            _ => self.runs.push(RunLength { decided, end }),
        }
    }

    /// Keeps only this many from the start.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        let last = self.runs.partition_point(|run| run.end < len);
        self.runs.truncate(if len == 0 { 0 } else { last + 1 });
        if let Some(last) = self.runs.last_mut() {
            last.end = len;
        }
    }

    /// The same list without the decisions from index `from` to before index `to`.
    #[must_use]
    pub fn without(&self, from: usize, to: usize) -> Self {
        let mut rest = self.clone();
        rest.truncate(from);
        for (start, run) in self.with_starts() {
            rest.push_times(run.decided.clone(), run.end.saturating_sub(start.max(to)));
        }
        rest
    }

    /// All decisions, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Decided> {
        self.runs().flat_map(|(decided, times)| iter::repeat_n(decided, times))
    }

    /// Each run of equal decisions, with its length.
    pub fn runs(&self) -> impl Iterator<Item = (&Decided, usize)> {
        self.with_starts().map(|(start, run)| (&run.decided, run.end - start))
    }

    fn with_starts(&self) -> impl Iterator<Item = (usize, &RunLength)> {
        let starts = iter::once(0).chain(self.runs.iter().map(|run| run.end));
        starts.zip(&self.runs)
    }
}

impl FromIterator<Decided> for Decisions {
    fn from_iter<I: IntoIterator<Item = Decided>>(decided: I) -> Self {
        let mut decisions = Self::default();
        decided.into_iter().for_each(|one| decisions.push(one));
        decisions
    }
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.runs()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn plain(values: &[u32]) -> Decisions {
        values.iter().map(|&value| Decided::Value(value)).collect()
    }

    fn values(decisions: &Decisions) -> Vec<u32> {
        let value = |decided: &Decided| match decided {
            Decided::Value(value) => *value,
            Decided::Task(..) | Decided::Place(_) => unreachable!("only values were pushed"),
        };
        decisions.iter().map(value).collect()
    }

    #[test]
    fn a_list_of_runs_does_what_a_plain_list_does() {
        let mut rng = Rng::new(7);
        for _ in 0..200 {
            let len = rng.below(12) as usize;
            let list: Vec<u32> = (0..len).map(|_| rng.below(2)).collect();
            let runs = plain(&list);
            assert_eq!((values(&runs), runs.len(), runs.is_empty()), (list.clone(), len, len == 0));
            assert!((0..len + 2).all(|i| runs.get(i) == list.get(i).map(|&value| Decided::Value(value)).as_ref()));
            for from in 0..=len {
                let mut shorter = runs.clone();
                shorter.truncate(from);
                assert_eq!(shorter, plain(&list[..from]));
                for to in from..=len {
                    assert_eq!(runs.without(from, to), plain(&[&list[..from], &list[to..]].concat()));
                }
            }
        }
    }
}
