//! A depth-first search that visits each state once.
//!
//! It works as [`Exhaustive`](crate::tree::exhaustive::Exhaustive), but prunes an execution when it reaches a known state: everything beyond
//! that state is explored from its first visit. `visited.rs` says how a state is identified. The alternatives are run in
//! the order of the program; [`Delay`](super::delay::Delay) reaches likely bugs earlier.
//!
//! **Memory**: a state takes 9.1 to 11.4 bytes, and up to 18.3 while there are fewer than a quarter of a million. At the limit, later
//! states are either not stored (and visited again whenever they are reached), or replace earlier ones. Both only cost time.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{
    After, ByPiece, Capabilities, Claim, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, Start, StateSearch,
    Strategy,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::visited::Visited;
use crate::tree::exhaustive::{DfsPiece, Path};

/// The default limit on stored states: up to a gigabyte.
pub(super) const MAX_STATES: usize = 1 << 26;

/// Visits all states, in depth-first order.
#[derive(Debug)]
pub struct States {
    path: Path,
    visited: Visited,
    /// The program has a state fingerprint.
    has_fingerprint: bool,
}

impl Default for States {
    fn default() -> Self {
        Self::with(Visited::new(MAX_STATES))
    }
}

impl States {
    /// Stores at most so many states. Later ones are visited whenever they are reached.
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        Self::with(Visited::new(most))
    }

    /// At the limit, a new state replaces an old one. That is better if states that are reached again are reached soon after their first
    /// visit.
    #[must_use]
    pub fn replacing(self) -> Self {
        Self::with(self.visited.replacing())
    }

    fn with(visited: Visited) -> Self {
        Self { path: Path::default(), visited, has_fingerprint: false }
    }
}

impl Strategy for States {
    fn needs(&self) -> Needs {
        Needs { equivalence: Equivalence::States, every_point: true, ..Needs::exhaustive("states") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let backtrack = self.path.backtrack_to();
        if backtrack.is_none() && !self.path.begin(prefix) {
            return Next::Done(Claim::Exhausted);
        }
        self.visited.begin();
        Next::Run(Start { backtrack, ..Start::with_seed(0) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        if !self.has_fingerprint && !self.visited.visit_after(so_far, 0) {
            return Decision::Prune;
        }
        Decision::Take(self.path.choose(at.alternatives()))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.path.end(run.choices);
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

impl Capabilities for States {
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        Some(self)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }
}

impl StateSearch for States {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.has_fingerprint = state.is_some();
        state.is_none_or(|state| self.visited.visit(state))
    }

    fn next_sibling(&mut self) -> Sibling {
        self.path.next_here().map_or(Sibling::None, |choice| Sibling::Instead { choice, returns: None })
    }

    fn new_states(&mut self) -> u64 {
        self.visited.new_states()
    }
}

/// With several workers, it depends on timing which worker visits a state first, and which failure is found first.
impl ByPiece for States {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(Self::with(self.visited.copy()))
    }

    fn understands(&self, piece: &Piece) -> bool {
        DfsPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        self.path.place(DfsPiece::read(&piece).expect("raddle bug: a piece of another strategy").subtrees);
    }

    fn give(&mut self) -> Option<Piece> {
        DfsPiece::write(self.path.give())
    }

    fn rest(&mut self) -> Option<Piece> {
        DfsPiece::write(self.path.rest())
    }

    fn take_later(&mut self) -> Vec<Piece> {
        self.visited.commit();
        Vec::new()
    }

    fn revert(&mut self) {
        self.visited.discard_uncommitted();
    }

    fn claim(&self) -> Claim {
        Claim::Exhausted
    }
}
