//! Alternatives that were passed by and may be run later: because their ordering had been seen, the rarest orderings first, or
//! because they have too many preemptions, those with the fewest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use serde::{Deserialize, Serialize};

use raddle_engine::rng::mix;
use raddle_engine::system::Choice;

/// The way to an alternative that was passed by.
type Way = Vec<Choice>;

/// Some of what was passed by. Bounded: what does not fit is forgotten, and left to the search that leaves nothing out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Skipped {
    ways: BinaryHeap<(Reverse<u32>, Reverse<Way>)>,
    /// Hashes of all that were ever kept, so that none is tried twice.
    kept: HashSet<u64>,
    choices: usize,
}

/// The same, as it is written down.
#[derive(Serialize, Deserialize)]
struct Written {
    ways: Vec<(u32, Way)>,
    kept: Vec<u64>,
}

impl From<Written> for Skipped {
    fn from(Written { ways, kept }: Written) -> Self {
        Self {
            choices: ways.iter().map(|(_, way)| way.len()).sum(),
            ways: ways.into_iter().map(|(rank, way)| (Reverse(rank), Reverse(way))).collect(),
            kept: kept.into_iter().collect(),
        }
    }
}

impl From<Skipped> for Written {
    fn from(skipped: Skipped) -> Self {
        let mut kept: Vec<_> = skipped.kept.into_iter().collect();
        kept.sort_unstable();
        let ways = skipped.ways.into_sorted_vec();
        Self { ways: ways.into_iter().map(|(Reverse(rank), Reverse(way))| (rank, way)).collect(), kept }
    }
}

/// Ways that are remembered to have been kept.
const MOST_WAYS: usize = 1 << 18;

/// Choices of all ways together.
const MOST_CHOICES: usize = 1 << 24;

/// A number for a way.
pub(super) fn hash(way: &[Choice]) -> u64 {
    way.iter().fold(way.len() as u64, |hash, choice| mix(hash, u64::from(choice.0)))
}

impl Skipped {
    /// Keeps a way, to be taken before those with a larger `rank`.
    pub(crate) fn keep(&mut self, rank: u32, way: Way) {
        let room = self.kept.len() < MOST_WAYS && self.choices + way.len() <= MOST_CHOICES;
        if room && self.kept.insert(hash(&way)) {
            self.choices += way.len();
            self.ways.push((Reverse(rank), Reverse(way)));
        }
    }

    /// The way that comes first, and its rank.
    pub(super) fn take(&mut self) -> Option<(u32, Way)> {
        let (Reverse(rank), Reverse(way)) = self.ways.pop()?;
        self.choices -= way.len();
        Some((rank, way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_comes_in_the_same_order() {
        let mut skipped = Skipped::default();
        for (rank, way) in [(3, [1, 2]), (1, [5, 5]), (1, [0, 7]), (2, [0, 0])] {
            skipped.keep(rank, way.map(Choice).to_vec());
        }
        let mut read = Skipped::from(Written::from(skipped.clone()));
        read.keep(0, [Choice(5), Choice(5)].to_vec());
        let take = |from: &mut Skipped| std::iter::from_fn(|| from.take()).collect::<Vec<_>>();
        let all = take(&mut skipped);
        assert_eq!(all.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1, 1, 2, 3]);
        assert_eq!(take(&mut read), all, "what was kept before is not kept again");
    }
}
