//! Stratified exhaustive search with a delaying explorer (Desai, Qadeer and Seshia, 2015): first all executions without a deviation
//! from the explorer's order, then all with one deviation, then with two, and so on. Each state is visited once.
//!
//! **Costs.** At a point, the explorer names the task to run; a delay makes it name another one. The alternative that it names after
//! n delays costs n. If a task has several alternatives (messages, a timeout), each further one is reached after one more round
//! over the tasks. A data choice of value v costs v.
//!
//! **Strata.** In stratum `b`, the search runs what has more than `(b - 1)·Δ` and at most `b·Δ` delays, depth-first. It stores the
//! alternatives that cost more as paths for the next stratum. A stratum is a [stage](raddle_engine::piece::Piece::stage) of the search. A
//! plain search of all states is [`States`](super::States).
//!
//! **States** are visited once; `visited.rs` says how a state is identified. The explorer's own state is no part of it. Strata come in
//! order, so a state is first visited in the lowest stratum that it belongs to. Nothing beyond it is lost: all its alternatives are
//! run or stored when the state is first visited.
//!
//! **Memory**: a state takes 9.1 to 11.4 bytes, and up to 18.3 while there are fewer than a quarter of a million. At the limit, later
//! states are either not stored (and visited again whenever they are reached), or replace earlier ones. Both only cost time. A
//! stored path takes one or two bytes for each new point.
//!
//! The paper's names: `DelayingExplorer::next`, `step` and `delay` are those of its explorer; `Delay::bound` is `db`; `Delay::deferred`
//! is its frontier. It stores states in the frontier, we store the choices that rebuild them.

mod draw;
mod explorer;
mod explorers;
mod frontier;
mod hybrid;
mod level;
mod navigate;
mod sample;
mod share;
mod strata;
mod width;

use raddle_engine::facts::Fact;
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, Start, StateSearch,
    Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

pub use self::explorer::{DelayingExplorer, Event};
pub use self::explorers::{ProbabilisticRoundRobin, RoundRobin, RunToCompletion};
use self::frontier::{DelayFrontier, FrontierEntry};
pub use self::hybrid::DelayHybrid;
use self::level::DelayLevel;
pub use self::sample::DelaySample;
use self::width::Width;
use super::depth_first::MAX_STATES;
use super::visited::Visited;

/// The memory that the paths of the next stratum may take, in bytes.
const MAX_DEFERRED_BYTES: usize = 1 << 30;

/// Visits all states, those with few deviations from an explorer's order first.
#[derive(Debug)]
pub struct Delay<E> {
    /// The explorer before the first step.
    initial: E,
    /// The most delays that an execution may have.
    most: u32,
    /// Δ: how many delays a stratum adds.
    width: Width,
    stratum: u32,
    /// True if `levels` and `replaying` already describe the next execution.
    path_ready: bool,
    levels: Vec<DelayLevel<E>>,
    /// So many levels are above this worker's part of the tree.
    fixed: usize,
    /// What is left of this piece.
    remaining: DelayFrontier,
    /// The entry that the next execution replays, until its last level is reached.
    replaying: Option<FrontierEntry>,
    /// Paths for the next stratum.
    deferred: Vec<DelayFrontier>,
    deferred_bytes: usize,
    max_deferred_bytes: usize,
    dropped_some: bool,
    visited: Visited,
    /// The program has a state fingerprint.
    has_fingerprint: bool,
    /// The number of choices of the latest execution.
    latest_len: usize,
}

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    /// With one more delay in each stratum, until no state is left.
    #[must_use]
    pub fn new(explorer: E) -> Self {
        Self {
            initial: explorer,
            most: u32::MAX,
            width: Width::By(1),
            stratum: 0,
            path_ready: true,
            levels: Vec::new(),
            fixed: 0,
            remaining: DelayFrontier::default(),
            replaying: None,
            deferred: Vec::new(),
            deferred_bytes: 0,
            max_deferred_bytes: MAX_DEFERRED_BYTES,
            dropped_some: false,
            visited: Visited::new(MAX_STATES),
            has_fingerprint: false,
            latest_len: 0,
        }
    }

    /// Runs nothing with more delays than this.
    #[must_use]
    pub fn up_to(self, delays: u32) -> Self {
        Self { most: delays, ..self }
    }

    /// Adds so many delays in each stratum.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[must_use]
    pub fn by(self, delays: u32) -> Self {
        assert!(delays > 0, "raddle: a stratum must have at least one delay more than the one before");
        Self { width: Width::By(delays), ..self }
    }

    /// Strata that end at 0, 1, 2, 4, 8, … delays. A complete search has to resume the paths that each stratum has deferred. With few strata,
    /// it takes a quarter of the time or less.
    #[must_use]
    pub fn doubling(self) -> Self {
        Self { width: Width::Doubling, ..self }
    }

    /// Stores at most so many states. Later ones are visited whenever they are reached.
    #[must_use]
    pub fn with_states(self, most: usize) -> Self {
        Self { visited: Visited::new(most), ..self }
    }

    /// At the limit, a new state replaces an old one. That is better if states that are reached again are reached soon after their first
    /// visit.
    #[must_use]
    pub fn replacing_states(self) -> Self {
        Self { visited: self.visited.replacing(), ..self }
    }

    /// The largest number of delays in this stratum. It is 0 in the first one.
    fn bound(&self) -> u32 {
        self.width.bound(self.stratum).min(self.most)
    }

    fn last_stratum(&self) -> u32 {
        self.width.last(self.most)
    }

    /// Prepares the bookkeeping for a new execution.
    fn begin_execution(&mut self) {
        self.path_ready = false;
        self.visited.begin();
    }

    /// True if the latest point has another alternative within the bound.
    fn has_another(&self) -> bool {
        let bound = self.bound();
        self.levels.last().is_some_and(|level| level.own && level.has_more() && level.total < bound)
    }

    /// True if the execution has passed the entry that it replays.
    fn is_past_entry(&self) -> bool {
        self.replaying.as_ref().is_none_or(|entry| self.levels.len() > entry.path.len())
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for Delay<E> {
    fn needs(&self) -> Needs {
        Needs { equivalence: Equivalence::States, every_point: true, ..Needs::exhaustive("delay") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let backtrack = self.backtrack_to();
        if backtrack.is_none() {
            if !self.path_ready && !self.advance() {
                return Next::Done(self.claim());
            }
            prefix.extend(self.levels.iter().map(|level| Choice(level.choice())));
        }
        self.begin_execution();
        Next::Run(Start { backtrack, ..Start::with_seed(0) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let depth = self.levels.len();
        let followed = self.replaying.as_ref().filter(|entry| depth <= entry.path.len());
        let wanted = followed.map(|entry| (entry.path.get(depth).copied(), entry.rank));
        if wanted.is_none() && !self.has_fingerprint && !self.visited.visit_after(so_far, 0) {
            return Decision::Prune;
        }
        let latest = self.levels.last();
        let new = DelayLevel::new(at, Self::explorer_here(&self.initial, latest, at, so_far), so_far.len(), latest);
        self.levels.push(new);
        let level = self.levels.last_mut().expect("pushed just now");
        match wanted {
            Some((Some(choice), _)) => {
                while level.choice() != choice && level.has_more() {
                    level.delay();
                }
            }
            Some((None, rank)) => {
                while level.rank <= rank && level.has_more() {
                    level.delay();
                }
                self.replaying = None;
            }
            None => {}
        }
        let choice = Choice(level.choice());
        Decision::take(choice, self.returns_here())
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.latest_len = run.choices;
        self.replaying = None;
        // The final state counts, too.
        if run.outcome.is_some() && !self.has_fingerprint {
            self.visited.visit_after(run.trace, 0);
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Capabilities for Delay<E> {
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        Some(self)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> StateSearch for Delay<E> {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.has_fingerprint = state.is_some();
        match state {
            Some(state) if self.is_past_entry() => self.visited.visit(state),
            _ => true,
        }
    }

    fn next_sibling(&mut self) -> Sibling {
        let another = self.has_another();
        match self.levels.last_mut() {
            Some(level) if another => {
                level.delay();
                let choice = Choice(level.choice());
                Sibling::Instead { choice, returns: self.returns_here() }
            }
            _ => Sibling::None,
        }
    }

    fn new_states(&mut self) -> u64 {
        self.visited.new_states()
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Summarize for Delay<E> {
    fn covered(&self, stage: u32) -> Option<Bound> {
        let most = self.width.bound(stage.checked_sub(1)?);
        Some(Bound { most, unit: Unit::Delay })
    }

    fn about_failure(&self) -> Option<Fact> {
        Some(Fact::FoundWith(self.levels.last().map_or(0, |level| level.total), Unit::Delay))
    }
}
