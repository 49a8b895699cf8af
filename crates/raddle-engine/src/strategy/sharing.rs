//! How several workers, or several searches one after the other, share the work of a strategy.

use super::{Claim, Strategy};
use crate::piece::{Checkpoint, Piece};
use crate::system::Choice;

/// How workers share a search.
pub enum Sharing<'a> {
    /// They cannot: one does all of it, in one go.
    Alone,
    /// Each runs the executions with certain numbers.
    ByNumber(&'a mut dyn ByNumber),
    /// Each runs certain parts of what is to be searched.
    ByPiece(&'a mut dyn ByPiece),
}

/// A strategy whose executions depend on their number and on the first few, but not on one another: a sampler.
pub trait ByNumber {
    /// How many executions are run first, in order and by one worker: from these the strategy may learn, from the others it
    /// must not.
    fn warm_up(&self) -> u64 {
        0
    }

    /// The next execution is the one with this number. The search calls this at the start of each range of numbers. Within a range the
    /// strategy counts: every [`begin`](Strategy::begin) is for the next number, except after [`After::SameNumber`](super::After).
    fn jump(&mut self, number: u64);

    /// The numbers that do not count as executions, such as probes, in order; `None` if a number may stand for several.
    fn uncounted(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    /// How many executions have been run by the time that the latest one has [ended](Strategy::end), which has this number, if one
    /// worker runs them in order. The search asks for one that fails.
    fn executions(&self, number: u64) -> u64 {
        number + 1
    }

    /// The same strategy for another worker, with what was learned. The search calls this after the [warm-up](Self::warm_up), and then
    /// tells the copy where to [`jump`](Self::jump).
    fn copy(&mut self) -> Box<dyn Strategy>;

    /// What was learned so far, to be written down with what is left of the search. The search calls this at its end, and now and then
    /// while it runs, also in the middle of the warm-up. Which numbers are left is not part of it: the search knows.
    fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint::default()
    }

    /// Takes up what was learned by a search that left off before the execution with number `next`. False if the checkpoint does not
    /// fit: a file may say anything. The search calls this on a new strategy before the first execution, maybe more than once, and
    /// then [`jump`](Self::jump). Without a checkpoint to restore it is not called.
    fn restore(&mut self, checkpoint: &Checkpoint, next: u64) -> bool {
        let _ = next;
        checkpoint.is_empty()
    }
}

/// A strategy that covers what is to be searched part by part.
pub trait ByPiece {
    /// The same strategy for another worker, which has nothing to do yet.
    fn copy(&self) -> Box<dyn Strategy>;

    /// Whether the strategy can take up this piece: it made it itself and understands it, or it is the whole. The search asks before
    /// it uses what was written down, as a file may say anything.
    fn understands(&self, piece: &Piece) -> bool;

    /// Takes up a piece that it [understands](Self::understands).
    fn place(&mut self, piece: Piece);

    /// Gives away some of what is left, as near to the root as possible; `None` if there is not enough for two. The search calls this
    /// after an execution, when other workers have nothing to do.
    fn give(&mut self) -> Option<Piece>;

    /// All that is left, as data; `None` if nothing is. The strategy goes on as if it had not been asked.
    fn rest(&mut self) -> Option<Piece>;

    /// Whether parts can be given away at all. If not, one worker does all of it.
    fn splits(&self) -> bool {
        true
    }

    /// What belongs to a later [stage](Piece::stage) than the piece, as far as it was not asked for before. The search calls this with
    /// every commit: from then on, what was done counts.
    fn take_later(&mut self) -> Vec<Piece> {
        Vec::new()
    }

    /// What was done since the latest commit does not count. The search calls this just before the piece is handed out again as it was
    /// then.
    fn revert(&mut self) {}

    /// What can be said of what was covered, once nothing is left.
    fn claim(&self) -> Claim;

    /// Whether something may be left that one worker alone would have run before the execution with these choices. Once a failure is
    /// found, only that is still run.
    fn may_precede(&self, choices: &[Choice]) -> bool {
        let _ = choices;
        false
    }
}
