//! The work of the next iteration: the branches that were walked, with the preemptions that they passed by.
//!
//! A branch is written down as bytes: how many levels it has in common with the branch before, then what is new. Numbers take
//! seven bits to a byte, so most levels take one or two bytes, and four where a preemption was passed by. Branches are read in the order
//! in which they were written, once.

use std::mem;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::varint;

/// What was decided at a point of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Level {
    /// This alternative.
    pub choice: u32,
    /// Of so many.
    pub alternatives: u32,
    /// Those that are no preemption; without a gap.
    pub free: Range<u32>,
    /// Here, or above, a wait could end by time or for no reason.
    pub odd: bool,
}

impl Level {
    /// Whether no choice is a preemption here.
    pub fn is_free(&self) -> bool {
        self.free.len() == self.alternatives as usize
    }

    /// Whether there can be such a level: a file may say anything.
    pub fn is_sound(&self) -> bool {
        self.choice < self.alternatives && self.free.start <= self.free.end && self.free.end <= self.alternatives
    }
}

/// Branches, and how far they have been read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Frontier {
    bytes: Vec<u8>,
    /// The branch written last.
    #[serde(skip)]
    written: Vec<(u32, bool)>,
    read: usize,
    /// The branch read last.
    branch: Vec<Level>,
    /// Where in that branch the next preemption is looked for.
    depth: usize,
    choice: u32,
}

impl Frontier {
    /// Adds a branch. What was passed by in its first `known` levels is there already.
    pub fn add(&mut self, branch: &[Level], known: usize) {
        let same = |(level, written): &(&Level, &(u32, bool))| (level.choice, level.odd) == **written;
        // What was passed by belongs to one branch only, so from there on nothing is shared.
        let shared = branch[..known].iter().zip(&self.written).take_while(same).count();
        self.put(shared);
        self.put(branch.len() - shared);
        self.written.truncate(shared);
        for (depth, level) in branch.iter().enumerate().skip(shared) {
            let passed_by = depth >= known && !level.is_free();
            self.put((level.choice as usize) << 2 | usize::from(level.odd) << 1 | usize::from(passed_by));
            if passed_by {
                self.put(level.alternatives as usize);
                self.put(level.free.start as usize);
                self.put(level.free.len());
            }
            self.written.push((level.choice, level.odd));
        }
    }

    /// How much memory the branches take.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing more will be added.
    pub fn close(&mut self) {
        self.written = Vec::new();
        self.bytes.shrink_to_fit();
    }

    /// Gives away the second half of the branches that have not been read, or else what is left of the one that has.
    pub fn split(&mut self) -> Option<Self> {
        let half = self.read + (self.bytes.len() - self.read) / 2;
        let mut ahead = self.clone();
        while ahead.read < half {
            ahead.read_branch();
        }
        if ahead.read == self.bytes.len() {
            // Only one is left: somebody else can have it.
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

    /// Whether it can have been written by a search: a file may say anything.
    pub fn is_sound(&self) -> bool {
        let mut read = Self { read: self.read, branch: self.branch.clone(), ..Self::default() };
        let fits = self.read <= self.bytes.len() && self.depth <= self.branch.len();
        let mut sound = fits && self.branch.iter().all(Level::is_sound);
        while sound && read.read < self.bytes.len() {
            sound = read.try_branch(&self.bytes).is_some();
        }
        sound
    }

    /// Leaves in `levels` the way to the next preemption, which is its last level; says no if there is none left.
    pub fn take(&mut self, levels: &mut Vec<Level>) -> bool {
        loop {
            while let Some(level) = self.branch.get(self.depth) {
                if level.free.contains(&self.choice) {
                    self.choice = level.free.end;
                }
                if self.choice < level.alternatives {
                    levels.clear();
                    levels.extend_from_slice(&self.branch[..self.depth]);
                    levels.push(Level { choice: self.choice, ..level.clone() });
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

    /// Reads a branch from these bytes; `None` if they are none.
    fn try_branch(&mut self, bytes: &[u8]) -> Option<()> {
        let shared = self.get(bytes)?;
        let new = self.get(bytes)?;
        if shared > self.branch.len() {
            return None;
        }
        self.branch.truncate(shared);
        // What was passed by up there was taken with the branch before.
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
            let level = Level { choice, alternatives, free, odd: word & 2 != 0 };
            self.branch.push(Some(level).filter(Level::is_sound)?);
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

    fn level(choice: u32, alternatives: u32, free: Range<u32>) -> Level {
        Level { choice, alternatives, free, odd: alternatives == 300 }
    }

    fn ways(frontier: &mut Frontier) -> Vec<Vec<u32>> {
        let mut levels = Vec::new();
        let mut ways = Vec::new();
        while frontier.take(&mut levels) {
            ways.push(levels.iter().map(|level| level.choice).collect());
        }
        ways
    }

    #[test]
    fn each_preemption_passed_by_is_given_back_once() {
        let mut frontier = Frontier::default();
        let mut branch = vec![level(0, 2, 0..2), level(1, 3, 1..2), level(4, 5, 3..5)];
        frontier.add(&branch, 0);
        // The same branch but for its last choice, and beyond it new.
        branch[2].choice = 3;
        branch.push(level(200, 300, 200..298));
        frontier.add(&branch, 3);
        let expected: [&[u32]; 7] =
            [&[0, 0], &[0, 2], &[0, 1, 0], &[0, 1, 1], &[0, 1, 2], &[0, 1, 3, 0], &[0, 1, 3, 1]];
        let all = ways(&mut frontier);
        assert_eq!(all[..7], expected);
        assert_eq!(all.len(), 5 + 202);
        assert_eq!(all.last().unwrap(), &[0, 1, 3, 299]);
        assert!(ways(&mut frontier).is_empty());
    }

    #[test]
    fn a_branch_elsewhere_shares_nothing() {
        let mut frontier = Frontier::default();
        frontier.add(&[level(0, 2, 0..1), level(0, 2, 0..1)], 0);
        frontier.add(&[level(1, 2, 0..1), level(0, 2, 0..1)], 1);
        frontier.add(&[level(1, 2, 0..1), level(1, 2, 0..1), level(0, 300, 0..299)], 2);
        assert_eq!(ways(&mut frontier), [vec![1], vec![0, 1], vec![1, 1], vec![1, 1, 299]]);
    }
}
