//! A compact set of keys: a hash table without pointers. Once it is no longer small, it grows by a quarter at a time.
//!
//! Keys are hashes with all bits as good as random, so the high bits of a key select its row. A row has eight slots, which is one cache line.
//! A key whose row is full goes to the next row that is not. At most seven of eight slots are used, so a key takes 9.1 to 11.4
//! bytes; up to 18.3 in a small table, which doubles.

/// A set of keys.
#[derive(Debug, Default)]
pub(super) struct KeySet {
    /// The rows, after `offset` unused words that align the first row to a cache line. A `Vec` with aligned elements would use another
    /// allocation function, which leaves gaps when the table grows.
    words: Vec<u64>,
    offset: usize,
    rows: usize,
    taken: usize,
}

/// Keys from the left; 0 in unused slots.
#[derive(Debug)]
struct Row<'a>(&'a [u64; WIDTH]);

const WIDTH: usize = 8;

/// The initial number of rows.
const INITIAL_ROWS: usize = 2;

/// A table with fewer rows doubles when it grows. Growing moves all keys.
const SMALL_TABLE: usize = 512;

impl Row<'_> {
    #[inline]
    fn has(&self, key: u64) -> bool {
        // Without an early return, the compiler compares all slots at once.
        self.0.iter().fold(false, |has, taken| has | (*taken == key))
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0[WIDTH - 1] != 0
    }

    /// The number of used slots, if the row is not full.
    #[inline]
    fn len(&self) -> usize {
        let half = if self.0[3] == 0 { 0 } else { 4 };
        let quarter = if self.0[half + 1] == 0 { half } else { half + 2 };
        quarter + usize::from(self.0[quarter] != 0)
    }
}

/// The row that has a key, or would have it.
enum Lookup {
    Present(usize),
    Absent(usize),
}

impl KeySet {
    pub fn len(&self) -> usize {
        self.taken
    }

    /// Adds a key. Returns false if it is already there.
    pub fn insert(&mut self, key: u64) -> bool {
        if 8 * (self.taken + 1) > 7 * WIDTH * self.rows {
            self.grow();
        }
        match self.find(stored(key)) {
            Lookup::Present(_) => false,
            Lookup::Absent(at) => {
                self.put(at, stored(key));
                self.taken += 1;
                true
            }
        }
    }

    /// Replaces some key by this one. Returns false if this one is already there. The set must not be empty.
    pub fn replace(&mut self, key: u64) -> bool {
        if self.contains(key) {
            return false;
        }
        let home = self.home(stored(key));
        if self.row(home).is_full() {
            // Selects the slot by bits that neither the row nor the shard uses. The row stays full, so keys in later rows are still found.
            self.row_mut(home)[(key >> 8) as usize % WIDTH] = stored(key);
            return true;
        }
        let mut at = home;
        while self.row(at).0[0] == 0 {
            at = self.after(at);
        }
        self.remove(self.row(at).0[0]);
        self.insert(key)
    }

    pub fn contains(&self, key: u64) -> bool {
        self.rows > 0 && matches!(self.find(stored(key)), Lookup::Present(_))
    }

    pub fn remove(&mut self, key: u64) {
        let key = stored(key);
        if self.rows == 0 {
            return;
        }
        let Lookup::Present(at) = self.find(key) else { return };
        self.taken -= 1;
        let row = self.row(at);
        let mut overflowed = row.is_full();
        let last = if overflowed { WIDTH - 1 } else { row.len() - 1 };
        let place = row.0.iter().position(|taken| *taken == key).expect("it was found there");
        let row = self.row_mut(at);
        row.swap(place, last);
        row[last] = 0;
        // Keys in the rows after a full row may be there only because it was full. Insert them again.
        let mut at = at;
        while overflowed {
            at = self.after(at);
            let row = std::mem::take(self.row_mut(at));
            overflowed = Row(&row).is_full();
            for key in row.into_iter().filter(|key| *key != 0) {
                self.put_new(key);
            }
        }
    }

    #[inline]
    fn row(&self, at: usize) -> Row<'_> {
        let row = self.words[self.offset + WIDTH * at..].first_chunk();
        Row(row.expect("raddle bug: a row beyond the last one"))
    }

    #[inline]
    fn row_mut(&mut self, at: usize) -> &mut [u64; WIDTH] {
        let row = self.words[self.offset + WIDTH * at..].first_chunk_mut();
        row.expect("raddle bug: a row beyond the last one")
    }

    #[inline]
    fn find(&self, key: u64) -> Lookup {
        let mut at = self.home(key);
        loop {
            let row = self.row(at);
            if row.has(key) {
                return Lookup::Present(at);
            }
            if !row.is_full() {
                return Lookup::Absent(at);
            }
            at = self.after(at);
        }
    }

    /// Writes a new key into a row that is not full.
    #[inline]
    fn put(&mut self, at: usize, key: u64) {
        let place = self.row(at).len();
        self.row_mut(at)[place] = key;
    }

    /// Writes a new key into its row, or into the next one that is not full.
    fn put_new(&mut self, key: u64) {
        let mut at = self.home(key);
        while self.row(at).is_full() {
            at = self.after(at);
        }
        self.put(at, key);
    }

    /// The row of a key, if that row is not full.
    #[inline]
    fn home(&self, key: u64) -> usize {
        ((u128::from(key) * self.rows as u128) >> 64) as usize
    }

    #[inline]
    fn after(&self, row: usize) -> usize {
        if row + 1 == self.rows { 0 } else { row + 1 }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let more = if self.rows < SMALL_TABLE { self.rows } else { self.rows.div_ceil(4) };
        let rows = (self.rows + more).max(INITIAL_ROWS);
        let words = vec![0; WIDTH * rows + WIDTH - 1];
        let offset = words.as_ptr().addr().wrapping_neg() / size_of::<u64>() % WIDTH;
        let before = std::mem::replace(self, Self { words, offset, rows, taken: self.taken });
        for key in before.words.into_iter().filter(|key| *key != 0) {
            self.put_new(key);
        }
    }
}

/// The stored form of a key, which is never 0. The keys 0 and 1 collide; that is as likely as any other collision.
fn stored(key: u64) -> u64 {
    key.max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn it_holds_what_a_set_holds() {
        let mut rng = Rng::new(1);
        let (mut keys, mut set) = (KeySet::default(), HashSet::new());
        for round in 0..20_000_u32 {
            // The keys are close together, so that they share rows and wrap around.
            let key = u64::MAX - u64::from(rng.below(600)) * (u64::MAX >> 13);
            if rng.below(3) == 0 {
                keys.remove(key);
                set.remove(&key);
            } else {
                assert_eq!(keys.insert(key), set.insert(key), "round {round}");
            }
            assert_eq!(keys.len(), set.len(), "round {round}");
            let other = u64::MAX - u64::from(rng.below(600)) * (u64::MAX >> 13);
            assert_eq!(keys.contains(other), set.contains(&other), "round {round}");
        }
    }

    #[test]
    fn a_key_that_replaces_another_leaves_all_others_in_place() {
        let mut rng = Rng::new(3);
        let (mut keys, mut set) = (KeySet::default(), HashSet::new());
        let mut draw = || u64::MAX - u64::from(rng.below(600)) * (u64::MAX >> 13);
        while set.len() < 100 {
            let key = draw();
            assert_eq!(keys.insert(key), set.insert(key));
        }
        for round in 0..2_000 {
            let key = draw();
            assert_eq!(keys.replace(key), set.insert(key), "round {round}");
            let gone: Vec<u64> = set.iter().copied().filter(|key| !keys.contains(*key)).collect();
            assert!(keys.contains(key) && gone.len() == set.len() - 100, "round {round}");
            gone.iter().for_each(|key| assert!(set.remove(key)));
            assert_eq!(keys.len(), 100, "round {round}");
        }
    }

    #[test]
    fn a_key_takes_no_more_than_it_says() {
        let mut rng = Rng::new(2);
        let mut keys = KeySet::default();
        while keys.len() < 10_000 {
            keys.insert(u64::from(rng.below(u32::MAX)) << 32 | u64::from(rng.below(u32::MAX)));
            let (bytes, keys) = (size_of_val(&*keys.words), keys.len());
            let most = if keys <= 7 * SMALL_TABLE { 183 } else { 115 };
            assert!(keys < 1_000 || 10 * bytes <= most * keys + 640, "{bytes} bytes for {keys} keys");
        }
    }
}
