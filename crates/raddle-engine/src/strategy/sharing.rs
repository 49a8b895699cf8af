//! How several workers, or several searches one after the other, share the work of a strategy.

use super::{Claim, Strategy};
use crate::piece::{Checkpoint, Piece};
use crate::system::Choice;

/// How workers share a search.
pub enum Sharing<'a> {
    /// They cannot: one worker does the whole search, which cannot be resumed.
    Alone,
    /// Each runs the executions with certain numbers.
    ByNumber(&'a mut dyn ByNumber),
    /// Each runs certain parts of the search, such as subtrees.
    ByPiece(&'a mut dyn ByPiece),
}

/// A strategy whose executions depend on their number and on the first few, but not on one another: a sampler.
pub trait ByNumber {
    /// How many executions one worker runs first, in order. The strategy may learn from these, and must not learn from any other: the
    /// others run in any order, on any worker.
    fn warm_up(&self) -> u64 {
        0
    }

    /// Makes the execution with this number the next one. The search calls this at the start of each range of numbers. Within a range the
    /// strategy counts: every [`begin`](Strategy::begin) is for the next number, except after [`After::SameNumber`](super::After).
    fn jump(&mut self, number: u64);

    /// The numbers that do not count as executions, such as probes, in order; `None` if a number may stand for several.
    fn uncounted(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    /// How many executions one worker, who runs all numbers in order, has run when the latest execution has [ended](Strategy::end); `number`
    /// is the number of that execution. The search calls this for an execution that fails.
    fn executions(&self, number: u64) -> u64 {
        number + 1
    }

    /// Returns the same strategy for another worker, with everything it has learned. The search calls this after the
    /// [warm-up](Self::warm_up), and then [`jump`](Self::jump) of the copy.
    fn copy(&mut self) -> Box<dyn Strategy>;

    /// Returns what the strategy has learned so far, as bytes that are saved with the rest of the search. The search calls this at its
    /// end, and every few seconds while it runs, also in the middle of the warm-up. It saves by itself which numbers are left, but not the
    /// strategy's seed and other parameters: if these can change without a rebuild, write them here.
    fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint::default()
    }

    /// Restores what a search had learned that stopped before the execution with number `next`. Returns false if the bytes are not a
    /// checkpoint of this strategy with these parameters: they come from a file, which may contain anything. The user then gets an error
    /// that names the file. The search calls this on a new strategy before the
    /// first execution, maybe more than once, and then [`jump`](Self::jump). It does not call this if nothing was saved.
    fn restore(&mut self, checkpoint: &Checkpoint, next: u64) -> bool {
        let _ = next;
        checkpoint.is_empty()
    }
}

/// A strategy that covers the search piece by piece.
pub trait ByPiece {
    /// The same strategy for another worker, which has nothing to do yet.
    fn copy(&self) -> Box<dyn Strategy>;

    /// Whether the strategy can continue with this piece: it can read the bytes, or the piece is the whole search. The search calls this
    /// before it uses a piece from a file, which may contain anything.
    fn understands(&self, piece: &Piece) -> bool;

    /// Makes the strategy continue with a piece that it [understands](Self::understands).
    fn place(&mut self, piece: Piece);

    /// Splits off a part of the rest for another worker, as near to the root as possible; `None` if the rest is too small. The search calls
    /// this after an execution, when other workers have nothing to do.
    fn give(&mut self) -> Option<Piece>;

    /// Returns the whole rest as a piece; `None` if nothing is left. This does not change the strategy.
    fn rest(&mut self) -> Option<Piece>;

    /// Whether [`give`](Self::give) can ever return a piece. If not, the search uses one worker.
    fn splits(&self) -> bool {
        true
    }

    /// Returns the pieces of later [stages](Piece::stage) that the strategy has made since the previous call. The search calls this with
    /// every commit.
    fn take_later(&mut self) -> Vec<Piece> {
        Vec::new()
    }

    /// Undoes everything since the latest commit. The search calls this just before it hands out the piece again as it was then.
    fn revert(&mut self) {}

    /// What the strategy claims to have covered once nothing is left.
    fn claim(&self) -> Claim;

    /// Whether the rest may contain executions that one worker alone would have run before the one with these choices. After a failure,
    /// the search runs only such executions.
    fn may_precede(&self, choices: &[Choice]) -> bool {
        let _ = choices;
        false
    }
}
