//! The work of the next iteration: the branches that were walked, with the preemptions that they skipped.
//!
//! A branch is stored as bytes: how many levels it shares with the previous branch, then the new ones. Numbers take seven bits per
//! byte, so most levels take one or two bytes, and four at a skipped preemption. Branches are read once, in the order in which they
//! were written.

use std::mem;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::varint;

/// The decision at a point of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreemptionLevel {
    /// The alternative that was taken.
    pub choice: u32,
    /// The number of alternatives.
    pub alternatives: u32,
    /// The alternatives that are no preemption; they are adjacent.
    pub free: Range<u32>,
    /// Here, or above, a wait could end by a timeout or a spurious wakeup.
    pub has_timeout_or_spurious: bool,
}

impl PreemptionLevel {
    /// True if no alternative is a preemption here.
    pub fn is_free(&self) -> bool {
        self.free.len() == self.alternatives as usize
    }

    /// True if the parts fit together. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        self.choice < self.alternatives && self.free.start <= self.free.end && self.free.end <= self.alternatives
    }
}

/// Branches, and how far they were read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PreemptionFrontier {
    bytes: Vec<u8>,
    /// The branch that was written last.
    #[serde(skip)]
    written: Vec<(u32, bool)>,
    read: usize,
    /// The branch that was read last.
    branch: Vec<PreemptionLevel>,
    /// The position in that branch from which the next preemption is searched.
    depth: usize,
    choice: u32,
}

impl PreemptionFrontier {
    /// Adds a branch. The preemptions skipped in its first `known` levels were added before.
    pub fn add(&mut self, branch: &[PreemptionLevel], known: usize) {
        let same = |(level, written): &(&PreemptionLevel, &(u32, bool))| {
            (level.choice, level.has_timeout_or_spurious) == **written
        };
        // A skipped preemption belongs to one branch only, so nothing is shared from the first new level on.
        let shared = branch[..known].iter().zip(&self.written).take_while(same).count();
        self.put(shared);
        self.put(branch.len() - shared);
        self.written.truncate(shared);
        for (depth, level) in branch.iter().enumerate().skip(shared) {
            let skipped = depth >= known && !level.is_free();
            self.put(
                (level.choice as usize) << 2 | usize::from(level.has_timeout_or_spurious) << 1 | usize::from(skipped),
            );
            if skipped {
                self.put(level.alternatives as usize);
                self.put(level.free.start as usize);
                self.put(level.free.len());
            }
            self.written.push((level.choice, level.has_timeout_or_spurious));
        }
    }

    /// The memory of the branches, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Frees what is needed only for adding.
    pub fn close(&mut self) {
        self.written = Vec::new();
        self.bytes.shrink_to_fit();
    }

    /// Splits off the second half of the unread branches or, if there is none, the rest of the branch that was read last.
    pub fn split(&mut self) -> Option<Self> {
        let half = self.read + (self.bytes.len() - self.read) / 2;
        let mut ahead = self.clone();
        while ahead.read < half {
            ahead.read_branch();
        }
        if ahead.read == self.bytes.len() {
            // Only one branch is left: give it away.
            ahead = self.clone();
        }
        let mut given = Self { bytes: self.bytes.split_off(ahead.read), branch: ahead.branch, ..Self::default() };
        if given.bytes.is_empty() {
            (given.depth, given.choice) = (self.depth, self.choice);
            self.depth = self.branch.len();
            self.choice = 0;
        } else {
            given.depth = given.branch.len();
        }
        given.clone().take(&mut Vec::new()).then_some(given)
    }

    /// True if the bytes can come from a search. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        let mut read = Self { read: self.read, branch: self.branch.clone(), ..Self::default() };
        let fits = self.read <= self.bytes.len() && self.depth <= self.branch.len();
        let mut sound = fits && self.branch.iter().all(PreemptionLevel::is_sound);
        while sound && read.read < self.bytes.len() {
            sound = read.try_branch(&self.bytes).is_some();
        }
        sound
    }

    /// Writes the path to the next preemption into `levels`; the preemption is the last level. Returns false if none is left.
    pub fn take(&mut self, levels: &mut Vec<PreemptionLevel>) -> bool {
        loop {
            while let Some(level) = self.branch.get(self.depth) {
                if level.free.contains(&self.choice) {
                    self.choice = level.free.end;
                }
                if self.choice < level.alternatives {
                    levels.clear();
                    levels.extend_from_slice(&self.branch[..self.depth]);
                    levels.push(PreemptionLevel { choice: self.choice, ..level.clone() });
                    self.choice += 1;
                    return true;
                }
                (self.depth, self.choice) = (self.depth + 1, 0);
            }
            if self.read == self.bytes.len() {
                return false;
            }
            self.read_branch();
        }
    }

    fn read_branch(&mut self) {
        let bytes = mem::take(&mut self.bytes);
        self.try_branch(&bytes).expect("raddle bug: a branch was not read as it was written");
        self.bytes = bytes;
    }

    /// Reads a branch from these bytes; `None` if they are malformed.
    fn try_branch(&mut self, bytes: &[u8]) -> Option<()> {
        let shared = self.get(bytes)?;
        let new = self.get(bytes)?;
        if shared > self.branch.len() {
            return None;
        }
        self.branch.truncate(shared);
        // The preemptions of the shared levels were taken with an earlier branch.
        self.depth = shared;
        for _ in 0..new {
            let word = self.get(bytes)?;
            let choice = number(word >> 2)?;
            let (alternatives, free) = if word & 1 == 1 {
                let mut next = || number(self.get(bytes)?);
                let (alternatives, start, len) = (next()?, next()?, next()?);
                (alternatives, start..start.checked_add(len)?)
            } else {
                (choice.checked_add(1)?, 0..choice + 1)
            };
            let level = PreemptionLevel { choice, alternatives, free, has_timeout_or_spurious: word & 2 != 0 };
            self.branch.push(Some(level).filter(PreemptionLevel::is_sound)?);
        }
        Some(())
    }

    fn put(&mut self, number: usize) {
        varint::put(&mut self.bytes, number);
    }

    fn get(&mut self, bytes: &[u8]) -> Option<usize> {
        varint::get(bytes, &mut self.read)
    }
}

fn number(word: usize) -> Option<u32> {
    u32::try_from(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(choice: u32, alternatives: u32, free: Range<u32>) -> PreemptionLevel {
        PreemptionLevel { choice, alternatives, free, has_timeout_or_spurious: alternatives == 300 }
    }

    fn paths(frontier: &mut PreemptionFrontier) -> Vec<Vec<u32>> {
        let mut levels = Vec::new();
        let mut paths = Vec::new();
        while frontier.take(&mut levels) {
            paths.push(levels.iter().map(|level| level.choice).collect());
        }
        paths
    }

    #[test]
    fn each_skipped_preemption_is_taken_once() {
        let mut frontier = PreemptionFrontier::default();
        let mut branch = vec![level(0, 2, 0..2), level(1, 3, 1..2), level(4, 5, 3..5)];
        frontier.add(&branch, 0);
        // The same branch with another last choice, and a new level after it.
        branch[2].choice = 3;
        branch.push(level(200, 300, 200..298));
        frontier.add(&branch, 3);
        let expected: [&[u32]; 7] =
            [&[0, 0], &[0, 2], &[0, 1, 0], &[0, 1, 1], &[0, 1, 2], &[0, 1, 3, 0], &[0, 1, 3, 1]];
        let all = paths(&mut frontier);
        assert_eq!(all[..7], expected);
        assert_eq!(all.len(), 5 + 202);
        assert_eq!(all.last().unwrap(), &[0, 1, 3, 299]);
        assert!(paths(&mut frontier).is_empty());
    }

    #[test]
    fn a_branch_all_bytes_shares_nothing() {
        let mut frontier = PreemptionFrontier::default();
        frontier.add(&[level(0, 2, 0..1), level(0, 2, 0..1)], 0);
        frontier.add(&[level(1, 2, 0..1), level(0, 2, 0..1)], 1);
        frontier.add(&[level(1, 2, 0..1), level(1, 2, 0..1), level(0, 300, 0..299)], 2);
        assert_eq!(paths(&mut frontier), [vec![1], vec![0, 1], vec![1, 1], vec![1, 1, 299]]);
    }
}
