//! State that all workers of one search share: what they have learned, which alternatives they skipped, and the current round.
//!
//! Each worker decides by sets of its own. It publishes new orderings here when it commits. The other workers import them before they
//! process their next execution. If a worker is lost, its work since its latest commit is not here, and is done again.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_engine::search::Learning;
use raddle_engine::system::Choice;

use super::checkpoint::{HapsetCheckpoint, Round};
use super::guide::Convergence;
use super::knowledge::{Knowledge, KnownStatement};
use super::sets::Sets;
use super::skipped_paths::SkippedPaths;
use super::statement::{StatementId, Statements};
use super::turns::Turns;
use crate::reduction::Backtrack;
use crate::reduction::Subtree;

/// A handle to the shared state.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The length of the log, readable without the lock.
    log_len: AtomicUsize,
    state: Mutex<State>,
}

/// The state behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub statements: Statements,
    pub sets: Sets,
    /// Orderings, in the sequence in which workers published them.
    log: Vec<(StatementId, StatementId)>,
    pub convergence: Convergence,
    /// Orderings that were learned before the search was interrupted and resumed.
    pub earlier: u64,
    /// The number of alternatives that were skipped.
    pub skipped: u64,
    /// Hashes of the paths to skipped alternatives of nodes that several subtrees share.
    pub skipped_above: HashSet<u64>,
    /// Paths to skipped alternatives, if they are to be run later.
    pub rarest: Option<SkippedPaths>,
    /// Paths that exceed the bound on preemptions, if they are to be run later.
    pub over_bound: Option<SkippedPaths>,
    /// Unfinished searches below skipped alternatives that no worker runs now.
    pub unfinished: Vec<Subtree>,
    /// Random executions that are still to be learned from.
    pub walks: u64,
    pub backtrack: Backtrack,
    /// Some execution has failed.
    pub failed: bool,
    /// A complete search follows the guided one.
    pub then_the_rest: bool,
    /// How many rounds were begun after the first.
    pub rounds_begun: u32,
    /// The current round.
    pub round: Round,
}

impl Pool {
    pub fn new(backtrack: Backtrack) -> Self {
        let state = State {
            statements: Statements::default(),
            sets: Sets::default(),
            log: Vec::new(),
            convergence: Convergence::default(),
            earlier: 0,
            skipped: 0,
            skipped_above: HashSet::new(),
            rarest: None,
            over_bound: None,
            unfinished: Vec::new(),
            walks: 0,
            backtrack,
            failed: false,
            then_the_rest: false,
            rounds_begun: 0,
            round: Round::Guided(Vec::new()),
        };
        Self { shared: Arc::new(Shared { log_len: AtomicUsize::new(0), state: Mutex::new(state) }) }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the log has more than `known` entries. Takes no lock.
    pub fn has_more_than(&self, known: usize) -> bool {
        self.shared.log_len.load(Relaxed) > known
    }

    /// Makes the log's new length visible, after a worker has published orderings.
    pub fn publish(&self, state: &State) {
        self.shared.log_len.store(state.log.len(), Relaxed);
    }
}

impl State {
    /// The number of known orderings, and how fast new ones are learned.
    pub fn learning(&self) -> Learning {
        let (new, executions) = self.convergence.latest();
        Learning { known: self.sets.len(), new, executions }
    }

    /// Adds `times` observations of an ordering.
    pub fn learn(&mut self, of: StatementId, before: StatementId, times: u32) {
        if self.sets.add(of, before, times) {
            self.log.push((of, before));
        }
    }

    /// The entries of the log after the first `known`.
    pub fn log(&self, known: usize) -> &[(StatementId, StatementId)] {
        &self.log[known..]
    }

    /// Imports what earlier searches have learned.
    pub fn import(&mut self, knowledge: &Knowledge) {
        for (of, before, times) in knowledge.pairs() {
            let (of, before) = (self.statements.intern(of.clone()), self.statements.intern(before.clone()));
            self.sets.import(of, before, times);
        }
    }

    /// Returns the orderings of the statements that this search has seen.
    pub fn knowledge(&self) -> Knowledge {
        let seen: Vec<bool> = self.statements.iter().map(|(_, seen)| seen).collect();
        let mut places = Vec::with_capacity(seen.len());
        let mut statements = Vec::new();
        for (statement, seen) in self.statements.iter() {
            places.push(u32::try_from(statements.len()).expect("raddle bug: more than 2^32 statements"));
            if seen {
                statements.push(KnownStatement { statement: statement.clone(), missed: 0 });
            }
        }
        let known = self.sets.iter().filter(|(of, before, _)| seen[of.index()] && seen[before.index()]);
        let orderings = known.map(|(of, before, times)| (places[of.index()], places[before.index()], times)).collect();
        Knowledge { statements, orderings }
    }

    /// How many orderings were learned in this search.
    pub fn learned(&self) -> u64 {
        self.earlier + self.sets.learned()
    }

    /// Begins the next round, after a guided round has ended.
    pub fn begin_next_round(&mut self) -> Round {
        self.rounds_begun += 1;
        let path = self.over_bound.as_mut().and_then(SkippedPaths::take);
        self.round = match path {
            Some((bound, path)) => {
                self.backtrack = Backtrack::Preemption(bound.saturating_add(1));
                Round::Guided(path)
            }
            None if self.then_the_rest => Round::Rest,
            None => Round::Nothing,
        };
        self.round.clone()
    }

    /// Takes the skipped alternative that is to be run next.
    pub fn take_rarest(&mut self) -> Option<Subtree> {
        let path = |(_, path): (u32, Vec<Choice>)| Subtree::along(path);
        self.unfinished.pop().or_else(|| self.rarest.as_mut()?.take().map(path))
    }

    /// Returns the state as data.
    pub fn checkpoint(&self) -> HapsetCheckpoint {
        let mut skipped_above: Vec<u64> = self.skipped_above.iter().copied().collect();
        skipped_above.sort_unstable();
        HapsetCheckpoint {
            knowledge: self.knowledge(),
            learned: self.learned(),
            convergence: self.convergence,
            skipped: self.skipped,
            skipped_above,
            rarest: self.rarest.clone(),
            over_bound: self.over_bound.clone(),
            unfinished: self.unfinished.clone(),
            walks: self.walks,
            backtrack: self.backtrack,
            failed: self.failed,
            rounds_begun: self.rounds_begun,
            round: self.round.clone(),
            turns: Turns::default(),
            rest: None,
            learning: false,
        }
    }

    /// Restores the state of an interrupted search that had the same settings.
    pub fn restore(&mut self, from: &HapsetCheckpoint) {
        self.import(&from.knowledge);
        for known in &from.knowledge.statements {
            let id = self.statements.intern(known.statement.clone());
            self.statements.mark_seen(id);
        }
        self.earlier = from.learned;
        self.convergence = from.convergence;
        self.skipped = from.skipped;
        self.skipped_above = from.skipped_above.iter().copied().collect();
        self.rarest = from.rarest.clone();
        self.over_bound = from.over_bound.clone();
        self.unfinished = from.unfinished.clone();
        self.walks = from.walks;
        self.backtrack = from.backtrack;
        self.failed = from.failed;
        self.rounds_begun = from.rounds_begun;
        self.round = from.round.clone();
    }
}
