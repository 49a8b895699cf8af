//! What the workers of one search have in common: what they have learnt, what they passed by, and how far they are.
//!
//! Each worker goes by sets of its own. What it learns is told here when it commits, which it does as soon as an ordering is new, and
//! all others take that in before they judge the next execution. A worker that is lost has told nothing of what it did since its latest
//! commit, and what it did then is done again.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::course::{HapsetCheckpoint, Stretch};
use super::guide::Convergence;
use super::lessons::{Lessons, Noted};
use super::sets::Sets;
use super::skipped::Skipped;
use super::statement::{StatementId, Statements};
use super::turns::Turns;
use crate::reduction::Backtrack;
use crate::reduction::Subtree;
use raddle_engine::search::Learning;
use raddle_engine::system::Choice;

/// Shared by all workers of a search.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// How long the log is, to be looked at without the lock.
    told: AtomicUsize,
    state: Mutex<State>,
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub statements: Statements,
    pub sets: Sets,
    /// Orderings as they came to be known.
    log: Vec<(StatementId, StatementId)>,
    pub convergence: Convergence,
    /// Orderings that were learnt in earlier sittings.
    pub earlier: u64,
    /// Alternatives that were passed by.
    pub passed_by: u64,
    /// Hashes of the ways to those at nodes that several workers have to do with.
    pub passed_above: HashSet<u64>,
    /// The ways to what was passed by, if it is to be run later.
    pub rarest: Option<Skipped>,
    /// The ways to what was left out because of the bound on preemptions, if that is to be run later.
    pub later: Option<Skipped>,
    /// Searches by what was passed by that are half done, and nobody has.
    pub halfway: Vec<Subtree>,
    /// Random walks that are still to be learnt from.
    pub walks: u64,
    pub backtrack: Backtrack,
    /// Some execution has failed.
    pub failed: bool,
    /// After what was guided first comes what leaves nothing out.
    pub then_the_rest: bool,
    /// How often something was begun anew.
    pub stage: u32,
    /// What is done now.
    pub stretch: Stretch,
}

impl Pool {
    pub fn new(backtrack: Backtrack) -> Self {
        let state = State {
            statements: Statements::default(),
            sets: Sets::default(),
            log: Vec::new(),
            convergence: Convergence::default(),
            earlier: 0,
            passed_by: 0,
            passed_above: HashSet::new(),
            rarest: None,
            later: None,
            halfway: Vec::new(),
            walks: 0,
            backtrack,
            failed: false,
            then_the_rest: false,
            stage: 0,
            stretch: Stretch::Guided(Vec::new()),
        };
        Self { shared: Arc::new(Shared { told: AtomicUsize::new(0), state: Mutex::new(state) }) }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is more to know than the first `known` orderings of the log. Cheap.
    pub fn has_more_than(&self, known: usize) -> bool {
        self.shared.told.load(Relaxed) > known
    }

    /// A worker has told what it has learnt.
    pub fn publish(&self, state: &State) {
        self.shared.told.store(state.log.len(), Relaxed);
    }
}

impl State {
    /// How much is known, and how fast more is learnt.
    pub fn learning(&self) -> Learning {
        let (new, executions) = self.convergence.latest();
        Learning { known: self.sets.len(), new, executions }
    }

    /// Takes in that an ordering was seen so often more.
    pub fn learn(&mut self, of: StatementId, before: StatementId, times: u32) {
        if self.sets.add(of, before, times) {
            self.log.push((of, before));
        }
    }

    /// All orderings but the first `known` that workers have told.
    pub fn log(&self, known: usize) -> &[(StatementId, StatementId)] {
        &self.log[known..]
    }

    /// Takes up what earlier searches have learnt.
    pub fn study(&mut self, lessons: &Lessons) {
        for (of, before, times) in lessons.pairs() {
            let (of, before) = (self.statements.known(of.clone()), self.statements.known(before.clone()));
            self.sets.recall(of, before, times);
        }
    }

    /// What is known of the statements that were met.
    pub fn lessons(&self) -> Lessons {
        let met: Vec<bool> = self.statements.iter().map(|(_, met)| met).collect();
        let mut places = Vec::with_capacity(met.len());
        let mut statements = Vec::new();
        for (statement, met) in self.statements.iter() {
            places.push(u32::try_from(statements.len()).expect("raddle bug: more than 2^32 statements"));
            if met {
                statements.push(Noted { statement: statement.clone(), missed: 0 });
            }
        }
        let known = self.sets.iter().filter(|(of, before, _)| met[of.index()] && met[before.index()]);
        let orderings = known.map(|(of, before, times)| (places[of.index()], places[before.index()], times)).collect();
        Lessons { statements, orderings }
    }

    /// How many orderings were learnt in this search.
    pub fn learnt(&self) -> u64 {
        self.earlier + self.sets.learnt()
    }

    /// What comes after the guided search that has come to its end.
    pub fn begin_next_stretch(&mut self) -> Stretch {
        self.stage += 1;
        let way = self.later.as_mut().and_then(Skipped::take);
        self.stretch = match way {
            Some((bound, way)) => {
                self.backtrack = Backtrack::Preemption(bound.saturating_add(1));
                Stretch::Guided(way)
            }
            None if self.then_the_rest => Stretch::Rest,
            None => Stretch::Nothing,
        };
        self.stretch.clone()
    }

    /// What was passed by and is to be run next.
    pub fn take_rarest(&mut self) -> Option<Subtree> {
        let way = |(_, way): (u32, Vec<Choice>)| Subtree::along(way);
        self.halfway.pop().or_else(|| self.rarest.as_mut()?.take().map(way))
    }

    /// All that is to be written down of it.
    pub fn checkpoint(&self) -> HapsetCheckpoint {
        let mut passed_above: Vec<u64> = self.passed_above.iter().copied().collect();
        passed_above.sort_unstable();
        HapsetCheckpoint {
            lessons: self.lessons(),
            learnt: self.learnt(),
            convergence: self.convergence,
            passed_by: self.passed_by,
            passed_above,
            rarest: self.rarest.clone(),
            later: self.later.clone(),
            halfway: self.halfway.clone(),
            walks: self.walks,
            backtrack: self.backtrack,
            failed: self.failed,
            stage: self.stage,
            stretch: self.stretch.clone(),
            turns: Turns::default(),
            rest: None,
            learning: false,
        }
    }

    /// Takes up what was written down of a search that began like this one.
    pub fn restore(&mut self, from: &HapsetCheckpoint) {
        self.study(&from.lessons);
        for noted in &from.lessons.statements {
            let id = self.statements.known(noted.statement.clone());
            self.statements.meet(id);
        }
        self.earlier = from.learnt;
        self.convergence = from.convergence;
        self.passed_by = from.passed_by;
        self.passed_above = from.passed_above.iter().copied().collect();
        self.rarest = from.rarest.clone();
        self.later = from.later.clone();
        self.halfway = from.halfway.clone();
        self.walks = from.walks;
        self.backtrack = from.backtrack;
        self.failed = from.failed;
        self.stage = from.stage;
        self.stretch = from.stretch.clone();
    }
}
