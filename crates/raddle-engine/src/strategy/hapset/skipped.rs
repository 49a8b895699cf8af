//! Alternatives that were passed by and may be run later: because their ordering had been seen, the rarest orderings first, or
//! because they have too many preemptions, those with the fewest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::rng::mix;
use crate::system::Choice;

/// The way to an alternative that was passed by.
type Way = Vec<Choice>;

/// Some of what was passed by. Bounded: what does not fit is forgotten, and left to the search that leaves nothing out.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    ways: BinaryHeap<(Reverse<u32>, Reverse<Way>)>,
    /// Hashes of all that were ever kept, so that none is tried twice.
    kept: HashSet<u64>,
    choices: usize,
}

/// Ways that are remembered to have been kept.
const MOST_WAYS: usize = 1 << 18;

/// Choices of all ways together.
const MOST_CHOICES: usize = 1 << 24;

impl Skipped {
    /// Keeps a way, to be taken before those with a larger `rank`.
    pub(crate) fn keep(&mut self, rank: u32, way: Way) {
        let hash = way.iter().fold(way.len() as u64, |hash, choice| mix(hash, u64::from(choice.0)));
        let room = self.kept.len() < MOST_WAYS && self.choices + way.len() <= MOST_CHOICES;
        if room && self.kept.insert(hash) {
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
