//! What a search has learned, in a form that the next search of the same program can read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::statement::Statement;

/// Orderings that good executions have shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The statements, each once.
    pub statements: Vec<KnownStatement>,
    /// Indices into the statements: a statement, one that came immediately before it in another task, and how often.
    pub orderings: Vec<(u32, u32, u32)>,
}

/// A statement that the search has learned about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownStatement {
    /// The statement.
    pub statement: Statement,
    /// How many searches in a row have executed statements of its file, but not this one.
    pub missed: u32,
}

/// A statement that was missed in so many searches in a row is dropped: it is probably gone from the source.
const MAX_MISSED: u32 = 3;

impl Knowledge {
    /// Reads JSON. The error says why the text cannot be used.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let knowledge: Self = serde_json::from_str(text).map_err(|error| format!("it is broken ({error})"))?;
        if knowledge.is_sound() { Ok(knowledge) } else { Err("its parts do not fit together".to_owned()) }
    }

    /// True if no statement carries the calls that led to it.
    #[must_use]
    pub fn has_no_calls(&self) -> bool {
        self.statements.iter().all(|known| known.statement.calls.is_empty())
    }

    /// True if every ordering refers to listed statements. The file may be damaged or edited.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let known = |at: u32| (at as usize) < self.statements.len();
        self.orderings.iter().all(|&(of, before, _)| known(of) && known(before))
    }

    /// The orderings, with their statements.
    pub fn pairs(&self) -> impl Iterator<Item = (&Statement, &Statement, u32)> {
        let words = |at: u32| &self.statements[at as usize].statement;
        self.orderings.iter().map(move |&(of, before, times)| (words(of), words(before), times))
    }

    /// Merges this older knowledge with that of the `latest` search. `latest` lists exactly the statements that the latest search has seen.
    ///
    /// A statement may be missing although the latest search has seen others of the same file. Then it was moved, or removed, or it is rarely
    /// executed: it is kept for a few more searches. If the search has seen no statement of a file, all statements of that file stay,
    /// because the search may have tested other parts of the program.
    ///
    /// # Panics
    ///
    /// If one of them is not [sound](Self::is_sound).
    #[must_use]
    pub fn merged_with(&self, latest: &Self) -> Self {
        let seen: BTreeSet<&Statement> = latest.statements.iter().map(|it| &it.statement).collect();
        let files: BTreeSet<&str> = seen.iter().map(|statement| statement.file.as_str()).collect();
        let mut statements: BTreeMap<&Statement, u32> = seen.iter().map(|&statement| (statement, 0)).collect();
        for KnownStatement { statement, missed } in self.statements.iter().filter(|it| !seen.contains(&it.statement)) {
            let missed = missed.saturating_add(u32::from(files.contains(statement.file.as_str())));
            if missed < MAX_MISSED {
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
        let known =
            |(statement, &missed): (&&Statement, &u32)| KnownStatement { statement: (*statement).clone(), missed };
        Self {
            orderings: orderings.iter().map(|((of, before), &times)| (places[of], places[before], times)).collect(),
            statements: statements.iter().map(known).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(file: &str, line: u32) -> KnownStatement {
        let statement =
            Statement { file: file.to_owned(), line, column: 1, verb: "lock".to_owned(), calls: Vec::new() };
        KnownStatement { statement, missed: 0 }
    }

    fn knowledge(statements: &[(&str, u32)], orderings: &[(u32, u32, u32)]) -> Knowledge {
        let statements = statements.iter().map(|&(file, line)| statement(file, line)).collect();
        Knowledge { statements, orderings: orderings.to_vec() }
    }

    #[test]
    fn old_and_new_knowledge_is_merged() {
        let earlier = knowledge(&[("a", 1), ("a", 2)], &[(0, 1, 5), (1, 1, 1)]);
        let latest = knowledge(&[("b", 9), ("a", 2), ("a", 1)], &[(2, 1, 3), (0, 0, 4)]);
        let both = knowledge(&[("a", 1), ("a", 2), ("b", 9)], &[(0, 1, 5), (1, 1, 1), (2, 2, 4)]);
        assert_eq!(earlier.merged_with(&latest), both);
        assert_eq!(Knowledge::default().merged_with(&both), both);
    }

    #[test]
    fn statements_that_are_gone_are_dropped_after_some_searches() {
        let mut known = knowledge(&[("a", 1), ("a", 2), ("b", 9)], &[(0, 0, 1), (0, 1, 1), (1, 0, 1), (2, 2, 1)]);
        let first = knowledge(&[("a", 1)], &[]);
        for _ in 1..MAX_MISSED {
            known = known.merged_with(&first);
            assert_eq!((known.statements.len(), known.orderings.len()), (3, 4));
        }
        // One search that sees the statement again resets the count.
        let again = known.merged_with(&knowledge(&[("a", 2)], &[])).merged_with(&first);
        assert_eq!(again.orderings.len(), 4);
        known = known.merged_with(&first);
        let left: Vec<_> = known.statements.iter().map(|it| (it.statement.file.as_str(), it.statement.line)).collect();
        assert_eq!(left, [("a", 1), ("b", 9)], "nothing was done in b, so nothing is known of it");
        assert_eq!(known.orderings, [(0, 0, 1), (1, 1, 1)]);
    }

    #[test]
    fn invalid_indices_are_rejected() {
        assert!(!knowledge(&[("a", 1)], &[(0, 1, 1)]).is_sound());
        assert!(knowledge(&[("a", 1)], &[(0, 0, 1)]).is_sound());
    }
}
