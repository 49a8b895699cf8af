//! Deferred alternatives: paths through the tree, each with the points along it that have alternatives left.
//!
//! A path is stored as bytes: how many choices it shares with the previous path, then the new ones. Numbers take seven bits per
//! byte. Paths are read once, in the order in which they were written; of each path, the deepest entry is taken first. A search that
//! follows this order writes the paths of the next stratum in the same order. As in a depth-first search, it returns to a point before
//! it leaves the prefix that leads there. So no step is repeated more than once in a stratum.

use serde::{Deserialize, Serialize};

use crate::varint;

/// A point with alternatives left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FrontierEntry {
    /// The choices that lead there.
    pub path: Vec<u32>,
    /// The alternatives that were run there: that with so many delays, and those with fewer. The next one costs one more.
    pub rank: u32,
    /// How many delays the path has with this next alternative.
    pub total: u32,
}

/// Entries, and how far they were read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DelayFrontier {
    bytes: Vec<u8>,
    /// The path that was written last.
    #[serde(skip)]
    written: Vec<u32>,
    read: usize,
    /// The path that was read last.
    path: Vec<PathPoint>,
    /// Only the first so many points of that path still have entries.
    unread_points: usize,
}

/// A point of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PathPoint {
    choice: u32,
    /// Rank and total of the entry at this point, if there is one.
    open: Option<(u32, u32)>,
}

/// A point of a path to be written: its choice, and rank and total of its entry, if there is one.
pub(super) type Point = (u32, Option<(u32, u32)>);

impl DelayFrontier {
    /// Adds a path. Its first `known` points were written before, with their entries.
    pub fn add(&mut self, path: &[Point], known: usize) {
        let common = path[..known].iter().zip(&self.written).take_while(|(new, old)| new.0 == **old).count();
        let end = path.iter().rposition(|point| point.1.is_some()).map_or(0, |last| last + 1);
        if end <= known {
            return;
        }
        self.put(common);
        self.put(end - common);
        self.written.truncate(common);
        for (depth, (choice, open)) in path[..end].iter().enumerate().skip(common) {
            let open = open.filter(|_| depth >= known);
            self.put((*choice as usize) << 1 | usize::from(open.is_some()));
            if let Some((rank, total)) = open {
                self.put(rank as usize);
                self.put(total as usize);
            }
            self.written.push(*choice);
        }
    }

    /// Adds one entry.
    pub fn add_entry(&mut self, entry: &FrontierEntry) {
        let mut path: Vec<Point> = entry.path.iter().map(|choice| (*choice, None)).collect();
        path.push((0, Some((entry.rank, entry.total))));
        self.add(&path, entry.path.len());
    }

    /// The memory of the entries, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// How many bytes are still to be read.
    pub fn unread(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// All entries that are left, in order.
    pub fn entries(&self) -> Vec<FrontierEntry> {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.take()).collect()
    }

    /// Frees what is needed only for adding.
    pub fn close(&mut self) {
        self.written = Vec::new();
        self.bytes.shrink_to_fit();
    }

    /// Takes the next entry: the deepest of a path first.
    pub fn take(&mut self) -> Option<FrontierEntry> {
        loop {
            while let Some(depth) = self.unread_points.checked_sub(1) {
                self.unread_points = depth;
                if let Some((rank, total)) = self.path[depth].open.take() {
                    let path = self.path[..depth].iter().map(|mark| mark.choice).collect();
                    return Some(FrontierEntry { path, rank, total });
                }
            }
            if self.read == self.bytes.len() {
                return None;
            }
            let bytes = std::mem::take(&mut self.bytes);
            self.read_path(&bytes).expect("raddle bug: a path was not read as it was written");
            self.bytes = bytes;
        }
    }

    /// Splits off the second half of the unread paths. `None` if there are too few.
    pub fn split(&mut self) -> Option<Self> {
        let half = self.read + (self.bytes.len() - self.read) / 2;
        let mut ahead = self.clone();
        while ahead.read < half {
            ahead.read_path(&self.bytes)?;
        }
        if ahead.read == self.bytes.len() || ahead.read == self.read {
            return None;
        }
        let bytes = self.bytes.split_off(ahead.read);
        self.written.clear();
        // The entries along the path that was read last stay here.
        let path: Vec<PathPoint> = ahead.path.iter().map(|mark| PathPoint { open: None, ..*mark }).collect();
        Some(Self { bytes, path, ..Self::default() })
    }

    /// True if the bytes can come from a search. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        let mut read = Self { read: self.read, path: self.path.clone(), ..Self::default() };
        let mut sound = self.read <= self.bytes.len() && self.unread_points <= self.path.len();
        while sound && read.read < self.bytes.len() {
            sound = read.read_path(&self.bytes).is_some();
        }
        sound
    }

    fn read_path(&mut self, bytes: &[u8]) -> Option<()> {
        let common = self.get(bytes)?;
        let new = self.get(bytes)?;
        if common > self.path.len() {
            return None;
        }
        self.path.truncate(common);
        for _ in 0..new {
            let word = self.get(bytes)?;
            let open = if word & 1 == 1 { Some((self.number(bytes)?, self.number(bytes)?)) } else { None };
            self.path.push(PathPoint { choice: u32::try_from(word >> 1).ok()?, open });
        }
        self.unread_points = self.path.len();
        Some(())
    }

    fn number(&mut self, bytes: &[u8]) -> Option<u32> {
        u32::try_from(self.get(bytes)?).ok()
    }

    fn put(&mut self, number: usize) {
        varint::put(&mut self.bytes, number);
    }

    fn get(&mut self, bytes: &[u8]) -> Option<usize> {
        varint::get(bytes, &mut self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(frontier: &mut DelayFrontier) -> Vec<(Vec<u32>, u32, u32)> {
        std::iter::from_fn(|| frontier.take()).map(|entry| (entry.path, entry.rank, entry.total)).collect()
    }

    #[test]
    fn what_is_written_is_read_once() {
        let mut frontier = DelayFrontier::default();
        frontier.add(&[(3, Some((0, 1))), (200, None), (0, Some((2, 700))), (1, None)], 0);
        frontier.add(&[(3, None), (200, None), (5, Some((0, 4))), (1, Some((1, 5)))], 3);
        frontier.add_entry(&FrontierEntry { path: vec![9], rank: 0, total: 2 });
        let expected = [(vec![3, 200], 2, 700), (vec![], 0, 1), (vec![3, 200, 5], 1, 5), (vec![9], 0, 2)].to_vec();
        assert!(frontier.is_sound());
        assert_eq!(all(&mut frontier.clone()), expected);
        let mut given = frontier.split().expect("three paths are enough for two");
        let mut both = all(&mut frontier);
        both.extend(all(&mut given));
        assert_eq!(both, expected);
    }
}
