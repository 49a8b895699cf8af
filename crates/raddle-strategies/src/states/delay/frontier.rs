//! Where deviations are put off: ways through the tree, each with the points along it at which something is left.
//!
//! A way is written down as bytes: how many choices it has in common with the way before, then what is new. Numbers take seven bits to
//! a byte. Ways are read in the order in which they were written, once; of each way, the deepest entry is taken first. A search that
//! walks them so writes the ways of the next stratum in the same order: whoever comes back to a point does so before he leaves
//! what leads there, as in a depth-first search, and no step on the way is taken more often than once in a stratum.

use serde::{Deserialize, Serialize};

use crate::varint;

/// A point at which something is left to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The choices that lead there.
    pub path: Vec<u32>,
    /// What has been done there: so many delays and those before. What comes next costs one more.
    pub rank: u32,
    /// How many delays the way has with that one more.
    pub total: u32,
}

/// Entries, and how far they have been read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Frontier {
    bytes: Vec<u8>,
    /// The way written last.
    #[serde(skip)]
    written: Vec<u32>,
    read: usize,
    /// The way read last.
    way: Vec<Mark>,
    /// Entries are left at its first so many points only.
    untaken: usize,
}

/// A point of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    choice: u32,
    /// Rank and total of what is left there, if anything is.
    left: Option<(u32, u32)>,
}

/// A point of a way that is to be written: its choice, and rank and total if something is left there.
pub(super) type Point = (u32, Option<(u32, u32)>);

impl Frontier {
    /// Adds a way; its first `known` points are not new, and nothing is left there that is not written already.
    pub fn add(&mut self, way: &[Point], known: usize) {
        let common = way[..known].iter().zip(&self.written).take_while(|(new, old)| new.0 == **old).count();
        let end = way.iter().rposition(|point| point.1.is_some()).map_or(0, |last| last + 1);
        if end <= known {
            return;
        }
        self.put(common);
        self.put(end - common);
        self.written.truncate(common);
        for (depth, (choice, left)) in way[..end].iter().enumerate().skip(common) {
            let left = left.filter(|_| depth >= known);
            self.put((*choice as usize) << 1 | usize::from(left.is_some()));
            if let Some((rank, total)) = left {
                self.put(rank as usize);
                self.put(total as usize);
            }
            self.written.push(*choice);
        }
    }

    /// Adds one entry.
    pub fn add_entry(&mut self, entry: &Entry) {
        let mut way: Vec<Point> = entry.path.iter().map(|choice| (*choice, None)).collect();
        way.push((0, Some((entry.rank, entry.total))));
        self.add(&way, entry.path.len());
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that are still to be read.
    pub fn unread(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// All that is left, in order.
    pub fn entries(&self) -> Vec<Entry> {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.take()).collect()
    }

    /// Nothing more will be added.
    pub fn close(&mut self) {
        self.written = Vec::new();
        self.bytes.shrink_to_fit();
    }

    /// The next entry, deep ones of a way first.
    pub fn take(&mut self) -> Option<Entry> {
        loop {
            while let Some(depth) = self.untaken.checked_sub(1) {
                self.untaken = depth;
                if let Some((rank, total)) = self.way[depth].left.take() {
                    let path = self.way[..depth].iter().map(|mark| mark.choice).collect();
                    return Some(Entry { path, rank, total });
                }
            }
            if self.read == self.bytes.len() {
                return None;
            }
            let bytes = std::mem::take(&mut self.bytes);
            self.read_way(&bytes).expect("raddle bug: a way was not read as it was written");
            self.bytes = bytes;
        }
    }

    /// Gives away the second half of what has not been read; nothing if there is too little.
    pub fn split(&mut self) -> Option<Self> {
        let half = self.read + (self.bytes.len() - self.read) / 2;
        let mut ahead = self.clone();
        while ahead.read < half {
            ahead.read_way(&self.bytes)?;
        }
        if ahead.read == self.bytes.len() || ahead.read == self.read {
            return None;
        }
        let bytes = self.bytes.split_off(ahead.read);
        self.written.clear();
        // What is left along the way that was read last stays here.
        let way: Vec<Mark> = ahead.way.iter().map(|mark| Mark { left: None, ..*mark }).collect();
        Some(Self { bytes, way, ..Self::default() })
    }

    /// Whether it can have been written by a search: a file may say anything.
    pub fn is_sound(&self) -> bool {
        let mut read = Self { read: self.read, way: self.way.clone(), ..Self::default() };
        let mut sound = self.read <= self.bytes.len() && self.untaken <= self.way.len();
        while sound && read.read < self.bytes.len() {
            sound = read.read_way(&self.bytes).is_some();
        }
        sound
    }

    fn read_way(&mut self, bytes: &[u8]) -> Option<()> {
        let common = self.get(bytes)?;
        let new = self.get(bytes)?;
        if common > self.way.len() {
            return None;
        }
        self.way.truncate(common);
        for _ in 0..new {
            let word = self.get(bytes)?;
            let left = if word & 1 == 1 { Some((self.number(bytes)?, self.number(bytes)?)) } else { None };
            self.way.push(Mark { choice: u32::try_from(word >> 1).ok()?, left });
        }
        self.untaken = self.way.len();
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

    fn all(frontier: &mut Frontier) -> Vec<(Vec<u32>, u32, u32)> {
        std::iter::from_fn(|| frontier.take()).map(|entry| (entry.path, entry.rank, entry.total)).collect()
    }

    #[test]
    fn what_is_written_is_read_once() {
        let mut frontier = Frontier::default();
        frontier.add(&[(3, Some((0, 1))), (200, None), (0, Some((2, 700))), (1, None)], 0);
        frontier.add(&[(3, None), (200, None), (5, Some((0, 4))), (1, Some((1, 5)))], 3);
        frontier.add_entry(&Entry { path: vec![9], rank: 0, total: 2 });
        let expected = [(vec![3, 200], 2, 700), (vec![], 0, 1), (vec![3, 200, 5], 1, 5), (vec![9], 0, 2)].to_vec();
        assert!(frontier.is_sound());
        assert_eq!(all(&mut frontier.clone()), expected);
        let mut given = frontier.split().expect("three ways are enough for two");
        let mut both = all(&mut frontier);
        both.extend(all(&mut given));
        assert_eq!(both, expected);
    }
}
