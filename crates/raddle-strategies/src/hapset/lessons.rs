//! What was learnt, in words: for the next search of the same program.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::statement::Statement;

/// Orderings that good executions had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lessons {
    /// The statements, each once.
    pub statements: Vec<Noted>,
    /// By their places among those: a statement, one that came right before it in another task, and how often.
    pub orderings: Vec<(u32, u32, u32)>,
}

/// A statement that something was learnt about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Which.
    pub statement: Statement,
    /// How many searches in a row did something in its file but not this.
    pub missed: u32,
}

/// Searches in a row after which a statement that did not show is taken to be gone.
const MOST_MISSED: u32 = 3;

impl Lessons {
    /// Reads what was written as JSON; the error says why it cannot be used.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let lessons: Self = serde_json::from_str(text).map_err(|error| format!("it is broken ({error})"))?;
        if lessons.is_sound() { Ok(lessons) } else { Err("its parts do not fit together".to_owned()) }
    }

    /// Whether no statement is told apart by the calls that led to it.
    #[must_use]
    pub fn has_no_calls(&self) -> bool {
        self.statements.iter().all(|noted| noted.statement.calls.is_empty())
    }

    /// Whether every ordering is one of statements that are listed: a file may say anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let known = |at: u32| (at as usize) < self.statements.len();
        self.orderings.iter().all(|&(of, before, _)| known(of) && known(before))
    }

    /// The orderings by their statements.
    pub fn pairs(&self) -> impl Iterator<Item = (&Statement, &Statement, u32)> {
        let words = |at: u32| &self.statements[at as usize].statement;
        self.orderings.iter().map(move |&(of, before, times)| (words(of), words(before), times))
    }

    /// What is known after a search that has learnt `latest`, and has met just the statements in it.
    ///
    /// A statement that it did not meet, though it met others of the same file, may have been moved or removed, or be one that
    /// is seldom come to: it is kept for some searches more. What is in a file that was not met at all stays: the search may
    /// have been one of other parts of the program.
    ///
    /// # Panics
    ///
    /// If one of them is not [sound](Self::is_sound).
    #[must_use]
    pub fn followed_by(&self, latest: &Self) -> Self {
        let met: BTreeSet<&Statement> = latest.statements.iter().map(|it| &it.statement).collect();
        let files: BTreeSet<&str> = met.iter().map(|statement| statement.file.as_str()).collect();
        let mut statements: BTreeMap<&Statement, u32> = met.iter().map(|&statement| (statement, 0)).collect();
        for Noted { statement, missed } in self.statements.iter().filter(|it| !met.contains(&it.statement)) {
            let missed = missed.saturating_add(u32::from(files.contains(statement.file.as_str())));
            if missed < MOST_MISSED {
                statements.insert(statement, missed);
            }
        }
        let mut orderings: BTreeMap<(&Statement, &Statement), u32> = BTreeMap::new();
        for (of, before, times) in self.pairs().chain(latest.pairs()) {
            if statements.contains_key(of) && statements.contains_key(before) {
                let known = orderings.entry((of, before)).or_default();
                *known = times.max(*known);
            }
        }
        Self::of(&statements, &orderings)
    }

    fn of(statements: &BTreeMap<&Statement, u32>, orderings: &BTreeMap<(&Statement, &Statement), u32>) -> Self {
        let place = |at: usize| u32::try_from(at).expect("raddle bug: more than 2^32 statements");
        let places: BTreeMap<&Statement, u32> =
            statements.keys().enumerate().map(|(at, statement)| (*statement, place(at))).collect();
        let noted = |(statement, &missed): (&&Statement, &u32)| Noted { statement: (*statement).clone(), missed };
        Self {
            orderings: orderings.iter().map(|((of, before), &times)| (places[of], places[before], times)).collect(),
            statements: statements.iter().map(noted).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(file: &str, line: u32) -> Noted {
        let statement =
            Statement { file: file.to_owned(), line, column: 1, verb: "lock".to_owned(), calls: Vec::new() };
        Noted { statement, missed: 0 }
    }

    fn lessons(statements: &[(&str, u32)], orderings: &[(u32, u32, u32)]) -> Lessons {
        let statements = statements.iter().map(|&(file, line)| statement(file, line)).collect();
        Lessons { statements, orderings: orderings.to_vec() }
    }

    #[test]
    fn what_was_known_and_what_is_learnt_come_together() {
        let earlier = lessons(&[("a", 1), ("a", 2)], &[(0, 1, 5), (1, 1, 1)]);
        let latest = lessons(&[("b", 9), ("a", 2), ("a", 1)], &[(2, 1, 3), (0, 0, 4)]);
        let both = lessons(&[("a", 1), ("a", 2), ("b", 9)], &[(0, 1, 5), (1, 1, 1), (2, 2, 4)]);
        assert_eq!(earlier.followed_by(&latest), both);
        assert_eq!(Lessons::default().followed_by(&both), both);
    }

    #[test]
    fn what_is_gone_is_dropped_after_some_searches() {
        let mut known = lessons(&[("a", 1), ("a", 2), ("b", 9)], &[(0, 0, 1), (0, 1, 1), (1, 0, 1), (2, 2, 1)]);
        let first = lessons(&[("a", 1)], &[]);
        for _ in 1..MOST_MISSED {
            known = known.followed_by(&first);
            assert_eq!((known.statements.len(), known.orderings.len()), (3, 4));
        }
        // One search that comes to it again makes up for all that did not.
        let again = known.followed_by(&lessons(&[("a", 2)], &[])).followed_by(&first);
        assert_eq!(again.orderings.len(), 4);
        known = known.followed_by(&first);
        let left: Vec<_> = known.statements.iter().map(|it| (it.statement.file.as_str(), it.statement.line)).collect();
        assert_eq!(left, [("a", 1), ("b", 9)], "nothing was done in b, so nothing is known of it");
        assert_eq!(known.orderings, [(0, 0, 1), (1, 1, 1)]);
    }

    #[test]
    fn places_that_are_not_there_are_noticed() {
        assert!(!lessons(&[("a", 1)], &[(0, 1, 1)]).is_sound());
        assert!(lessons(&[("a", 1)], &[(0, 0, 1)]).is_sound());
    }
}
