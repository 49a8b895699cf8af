//! Notices that a program makes hash maps or sets of `std`, which are iterated in another order each time.
//!
//! A program that iterates such a map does not do the same twice. The search repeats executions to find that out, but it compares steps: if two
//! threads take identical locks in hash order, the steps are the same. So the verdict says what it takes for granted about a program that
//! makes such maps.
//!
//! Each OS thread counts one of its hash keys up with every map it makes. The count is not public, but a hasher prints its keys. That costs
//! as much as several steps, so only a few executions are watched.

use std::fmt::{self, Write};
use std::hash::{BuildHasher, RandomState};

use raddle_engine::ids::TaskId;

use super::Running;

impl Running {
    /// Resumes the task and notices whether it makes maps.
    #[cold]
    pub(super) fn resume_and_notice_maps(&mut self, task: TaskId) {
        let before = MapsMade::now();
        self.resume_fiber(task);
        self.made_maps |= before.more_since();
    }
}

/// Whether the execution with this number, counted by its worker from one, is watched: the first, and then fewer and fewer.
pub(super) fn is_watched(number: u64) -> bool {
    number.is_power_of_two() && number.ilog2().is_multiple_of(2)
}

/// How many hash maps of `std` this OS thread had made at some moment, counted from an unknown number.
#[derive(Clone, Copy, Debug)]
struct MapsMade(Option<u64>);

impl MapsMade {
    /// The count of now. Looking adds one to it.
    fn now() -> Self {
        let mut printed = FirstKey::default();
        // It stops with an error once it has the key.
        let _ = write!(printed, "{:?}", RandomState::new().build_hasher());
        Self(printed.key.filter(|_| printed.complete))
    }

    /// Whether maps were made since then. `false` if this version of `std` does not print keys in a known way.
    fn more_since(self) -> bool {
        let before = self.0;
        before.zip(Self::now().0).is_some_and(|(before, now)| now != before.wrapping_add(1))
    }
}

/// The first key in what a hasher prints: the number after the name `k0`.
#[derive(Debug, Default)]
struct FirstKey {
    /// Its name was printed.
    named: bool,
    key: Option<u64>,
    /// Something else was printed after it.
    complete: bool,
}

impl Write for FirstKey {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !self.named {
            self.named = text == "k0";
            return Ok(());
        }
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    let key = self.key.unwrap_or(0);
                    self.key = key.checked_mul(10).and_then(|key| key.checked_add(u64::from(byte - b'0')));
                    if self.key.is_none() {
                        return Err(fmt::Error);
                    }
                }
                _ if self.key.is_some() => {
                    self.complete = true;
                    return Err(fmt::Error);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};

    use super::{MapsMade, is_watched};

    #[test]
    fn the_first_execution_is_watched_and_few_others() {
        assert_eq!((0..1_000).filter(|&number| is_watched(number)).collect::<Vec<_>>(), [1, 4, 16, 64, 256]);
    }

    #[test]
    fn maps_and_sets_are_noticed() {
        let before = MapsMade::now();
        assert!(before.0.is_some(), "this version of std prints something else");
        assert!(!before.more_since());
        let before = MapsMade::now();
        drop(BTreeMap::<u32, u32>::new());
        assert!(!before.more_since());
        let before = MapsMade::now();
        drop(HashMap::<u32, u32>::new());
        assert!(before.more_since());
        let before = MapsMade::now();
        drop((0..3).collect::<HashSet<_>>());
        assert!(before.more_since());
    }
}
