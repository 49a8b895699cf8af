//! A set of keys that takes little room: a table without pointers that grows by a quarter at a time.
//!
//! Keys are hashes, with all bits as good as random, so a key's place follows from its high bits; what finds its place taken goes to the
//! next one that is free. At most four places in five are taken, so a key takes 10 to 12.5 bytes.

/// A set of keys.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// 0 where there is none.
    places: Vec<u64>,
    taken: usize,
}

/// The first size.
const FEW: usize = 16;

impl Keys {
    pub fn len(&self) -> usize {
        self.taken
    }

    /// Whether the key was not there before.
    pub fn insert(&mut self, key: u64) -> bool {
        if 5 * (self.taken + 1) > 4 * self.places.len() {
            self.grow();
        }
        let place = self.find(written(key));
        let new = self.places[place] == 0;
        self.places[place] = written(key);
        self.taken += usize::from(new);
        new
    }

    /// Puts the key in the place of another one, which is forgotten; whether it was not there before. Call if there are any.
    pub fn replace(&mut self, key: u64) -> bool {
        if self.contains(key) {
            return false;
        }
        let mut place = self.home(written(key));
        if self.places[place] == 0 {
            while self.places[place] == 0 {
                place = self.after(place);
            }
            self.remove(self.places[place]);
            return self.insert(key);
        }
        // A key at home is in nobody's way, and those behind it are found as before.
        self.places[place] = written(key);
        true
    }

    pub fn contains(&self, key: u64) -> bool {
        !self.places.is_empty() && self.places[self.find(written(key))] != 0
    }

    pub fn remove(&mut self, key: u64) {
        if !self.contains(key) {
            return;
        }
        let mut place = self.find(written(key));
        self.places[place] = 0;
        self.taken -= 1;
        // Those behind it may have been put there only because it was in their way.
        loop {
            place = self.after(place);
            let key = std::mem::take(&mut self.places[place]);
            if key == 0 {
                return;
            }
            let anew = self.find(key);
            self.places[anew] = key;
        }
    }

    /// Where a key is, or would be.
    fn find(&self, key: u64) -> usize {
        let mut place = self.home(key);
        while self.places[place] != 0 && self.places[place] != key {
            place = self.after(place);
        }
        place
    }

    /// Where a key is if nothing is in its way.
    fn home(&self, key: u64) -> usize {
        ((u128::from(key) * self.places.len() as u128) >> 64) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }

    fn grow(&mut self) {
        let size = (self.places.len() + self.places.len() / 4).max(FEW);
        let before = std::mem::replace(&mut self.places, vec![0; size]);
        for key in before.into_iter().filter(|key| *key != 0) {
            let place = self.find(key);
            self.places[place] = key;
        }
    }
}

/// No key is written as 0; that two are written alike is as likely as any two being equal.
fn written(key: u64) -> u64 {
    key.max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::rng::Rng;

    #[test]
    fn it_holds_what_a_set_holds() {
        let mut rng = Rng::new(1);
        let (mut keys, mut set) = (Keys::default(), HashSet::new());
        for round in 0..20_000_u32 {
            // Near one another, so that they are in each other's way and wrap around.
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
        let (mut keys, mut set) = (Keys::default(), HashSet::new());
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
        let mut keys = Keys::default();
        while keys.len() < 10_000 {
            keys.insert(u64::from(rng.below(u32::MAX)) << 32 | u64::from(rng.below(u32::MAX)));
            assert!(keys.len() < 100 || 2 * 8 * keys.places.len() <= 25 * keys.len() + 50, "{} keys", keys.len());
        }
    }
}
