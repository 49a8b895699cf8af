//! All states, each entered once: a plain depth-first search.
//!
//! As [`Exhaustive`](crate::tree::exhaustive::Exhaustive), but what leads to a state that was entered before is pruned there, since all that lies
//! beyond it was walked from where it was first entered, or will be. What makes a state is told in `visited.rs`. The order of the
//! alternatives is that of the program; a search that comes to likely bugs first is [`Delay`](super::delay::Delay).
//!
//! **Memory**: a state takes 9.1 to 11.4 bytes, and up to 18.3 as long as there are fewer than a quarter of a million. When
//! there are as many as are allowed, later ones are entered as often as they turn up, or take the place of earlier ones;
//! nothing is lost by either.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{
    After, ByPiece, Capabilities, Claim, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, Start, StateSearch,
    Strategy,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::visited::Visited;
use crate::tree::exhaustive::{DfsPiece, Path};

/// States that are kept if nobody says otherwise: up to a gigabyte.
pub(super) const MOST_STATES: usize = 1 << 26;

/// All states, in the order of the tree's branches.
#[derive(Debug)]
pub struct States {
    path: Path,
    visited: Visited,
    /// The state of the program can be seen.
    seen: bool,
}

impl Default for States {
    fn default() -> Self {
        Self::with(Visited::new(MOST_STATES))
    }
}

impl States {
    /// Keeps at most so many states; what comes later is entered as often as it turns up.
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        Self::with(Visited::new(most))
    }

    /// When as many states are kept as may be, a new one takes the place of an old one. That is better where states turn up again
    /// soon after they were entered, if at all.
    #[must_use]
    pub fn replacing(self) -> Self {
        Self::with(self.visited.replacing())
    }

    fn with(visited: Visited) -> Self {
        Self { path: Path::default(), visited, seen: false }
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
        if !self.seen && !self.visited.enter_after(so_far, 0) {
            return Decision::Prune;
        }
        Decision::Take(self.path.choose(at.alternatives()))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.path.end(run.choices);
        // The last state is one too.
        if run.outcome.is_some() && !self.seen {
            self.visited.enter_after(run.trace, 0);
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
        self.seen = state.is_some();
        state.is_none_or(|state| self.visited.enter_state(state))
    }

    fn next_sibling(&mut self) -> Sibling {
        self.path.next_here().map_or(Sibling::None, |choice| Sibling::Instead { choice, returns: None })
    }

    fn new_states(&mut self) -> u64 {
        self.visited.new_states()
    }
}

/// With several workers, who enters a state first is up to them, and so is what is found first.
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
        self.visited.lose();
    }

    fn claim(&self) -> Claim {
        Claim::Exhausted
    }
}
