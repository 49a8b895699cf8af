//! All states, each entered once: a plain depth-first search.
//!
//! As [`Exhaustive`](super::exhaustive::Exhaustive), but what leads to a state that was entered before is given up there, since all that lies
//! beyond it was walked from where it was first entered, or will be. What makes a state is told in `visited.rs`. The order of the
//! alternatives is that of the program; a search that comes to likely bugs first is [`Delay`](super::delay::Delay).
//!
//! **Memory**: a state takes 9.1 to 11.4 bytes, and up to 18.3 as long as there are fewer than a quarter of a million. When
//! there are as many as are allowed, later ones are entered as often as they turn up, or take the place of earlier ones;
//! nothing is lost by either.

use super::exhaustive::{Bough, Boughs, Path};
use super::visited::Visited;
use super::{ByPiece, Claim, Decision, Given, Next, Passing, Run, Sharing, Strategy};
use crate::piece::Piece;
use crate::system::{Choice, Point};
use crate::trace::Trace;

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

    fn piece(boughs: Vec<Bough>) -> Option<Piece> {
        // With several workers, who enters a state first is up to them, and so is what is found first.
        (!boughs.is_empty()).then(|| Piece::Boughs(Boughs::in_any_order(boughs)))
    }
}

impl Strategy for States {
    fn name(&self) -> &'static str {
        "states"
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if !self.path.begin(prefix) {
            return Next::Done(Claim::Exhausted);
        }
        self.visited.begin();
        Next::Run { seed: 0 }
    }

    fn branch_off(&mut self, within: usize) -> Option<(usize, Choice)> {
        let (at, choice) = self.path.branch_off(within)?;
        self.visited.begin();
        Some((at, choice))
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        if !self.seen && !self.visited.enter_after(so_far, 0) {
            return Decision::Prune;
        }
        Decision::Take(self.path.choose(at.alternatives()))
    }

    fn arrive(&mut self, state: Option<u64>) -> bool {
        self.seen = state.is_some();
        state.is_none_or(|state| self.visited.enter_state(state))
    }

    fn pass_by(&mut self) -> Passing {
        self.path.next_here().map_or(Passing::Leave, Passing::Instead)
    }

    fn end(&mut self, run: &Run<'_>) {
        // The last state is one too.
        if run.outcome.is_some() && !self.seen {
            self.visited.enter_after(run.trace, 0);
        }
    }

    fn tells_states_apart(&self) -> bool {
        true
    }

    fn new_states(&self) -> u64 {
        self.visited.new_states()
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn revisits(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }
}

impl ByPiece for States {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(Self::with(self.visited.copy()))
    }

    fn takes(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Whole | Piece::Boughs(_))
    }

    fn place(&mut self, piece: Piece) {
        self.path.place(match piece {
            Piece::Boughs(boughs) => boughs.into_boughs(),
            _ => vec![Bough::default()],
        });
    }

    fn give(&mut self) -> Given {
        Self::piece(self.path.give()).map_or(Given::Nothing, |piece| Given::Pieces(vec![piece]))
    }

    fn rest(&mut self) -> Option<Piece> {
        Self::piece(self.path.rest())
    }

    fn put_off(&mut self) -> Vec<Piece> {
        self.visited.commit();
        Vec::new()
    }

    fn lost(&mut self) {
        self.visited.lose();
    }

    fn claim(&self) -> Claim {
        Claim::Exhausted
    }
}
