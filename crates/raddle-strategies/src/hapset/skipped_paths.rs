//! Paths to alternatives that were skipped and may be run later. Some were skipped because their ordering had been seen (rarest first),
//! others because they have too many preemptions (fewest first).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use raddle_engine::rng::mix;
use raddle_engine::system::Choice;
use serde::{Deserialize, Serialize};

/// The choices that lead to a skipped alternative.
type Path = Vec<Choice>;

/// Paths to skipped alternatives, up to a limit. Paths beyond the limit are dropped; the complete search runs them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "SavedPaths", into = "SavedPaths")]
pub(crate) struct SkippedPaths {
    paths: BinaryHeap<(Reverse<u32>, Reverse<Path>)>,
    /// Hashes of all paths that were ever added, so that none is run twice.
    added: HashSet<u64>,
    choices: usize,
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
struct SavedPaths {
    paths: Vec<(u32, Path)>,
    added: Vec<u64>,
}

impl From<SavedPaths> for SkippedPaths {
    fn from(SavedPaths { paths, added }: SavedPaths) -> Self {
        Self {
            choices: paths.iter().map(|(_, path)| path.len()).sum(),
            paths: paths.into_iter().map(|(rank, path)| (Reverse(rank), Reverse(path))).collect(),
            added: added.into_iter().collect(),
        }
    }
}

impl From<SkippedPaths> for SavedPaths {
    fn from(skipped: SkippedPaths) -> Self {
        let mut added: Vec<_> = skipped.added.into_iter().collect();
        added.sort_unstable();
        let paths = skipped.paths.into_sorted_vec();
        Self { paths: paths.into_iter().map(|(Reverse(rank), Reverse(path))| (rank, path)).collect(), added }
    }
}

/// The largest number of hashes in `added`.
const MAX_ADDED: usize = 1 << 18;

/// The largest number of choices in all paths together.
const MAX_CHOICES: usize = 1 << 24;

/// A hash of a path.
pub(super) fn hash(path: &[Choice]) -> u64 {
    path.iter().fold(path.len() as u64, |hash, choice| mix(hash, u64::from(choice.0)))
}

impl SkippedPaths {
    /// Adds a path. Paths with a smaller `rank` are taken first.
    pub(crate) fn add(&mut self, rank: u32, path: Path) {
        let room = self.added.len() < MAX_ADDED && self.choices + path.len() <= MAX_CHOICES;
        if room && self.added.insert(hash(&path)) {
            self.choices += path.len();
            self.paths.push((Reverse(rank), Reverse(path)));
        }
    }

    /// Removes the path with the smallest rank, and returns it with its rank.
    pub(super) fn take(&mut self) -> Option<(u32, Path)> {
        let (Reverse(rank), Reverse(path)) = self.paths.pop()?;
        self.choices -= path.len();
        Some((rank, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_paths_are_taken_in_the_same_order() {
        let mut skipped = SkippedPaths::default();
        for (rank, path) in [(3, [1, 2]), (1, [5, 5]), (1, [0, 7]), (2, [0, 0])] {
            skipped.add(rank, path.map(Choice).to_vec());
        }
        let mut read = SkippedPaths::from(SavedPaths::from(skipped.clone()));
        read.add(0, [Choice(5), Choice(5)].to_vec());
        let take = |from: &mut SkippedPaths| std::iter::from_fn(|| from.take()).collect::<Vec<_>>();
        let all = take(&mut skipped);
        assert_eq!(all.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1, 1, 2, 3]);
        assert_eq!(take(&mut read), all, "what was added before is not added again");
    }
}
