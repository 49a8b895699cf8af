//! The board, from which workers take pieces of the search, and to which they commit results and what is left of their pieces.
//!
//! Workers use the board through this trait only. [`Local`] is the board of one process: a queue, a table of the pieces that workers have,
//! and totals, behind one lock. The lock is taken once per piece, not per execution. After every execution a worker reads a few atomics.
//!
//! Each piece counts once. A commit adds the results of a worker to the totals and stores what is left of its piece, at the same time. If
//! a worker is lost before it commits (its [`Job`] is dropped), the piece is handed out again as it was at the latest commit, and the
//! results since then are not counted.
//!
//! The piece that was added last is handed out first.
//!
//! Pieces may have [stages](Piece::stage). A piece of a later stage is handed out only when all pieces of earlier stages are done, and
//! never if a part of an earlier stage was skipped.

mod local;
mod remains;
mod state;
mod tally;

pub use self::local::Local;
pub use self::remains::Remains;
pub use self::tally::Tally;
use crate::piece::Piece;
use crate::strategy::Claim;
use crate::system::Choice;

/// Hands out pieces and takes in results. Workers communicate through this trait and in no other way.
pub trait Board: Sync {
    /// Takes a piece, if there is one. With [`Wait::UntilThereIsOne`], waits for one.
    fn take(&self, wait: Wait) -> TakeResult<'_>;

    /// What the worker should do next. The worker asks after each execution, so this has to be cheap.
    fn beat(&self) -> Beat;

    /// How many executions a worker may run before it asks again; 0 if none are left.
    fn allow(&self) -> u64;

    /// Gives back executions that were allowed and not used.
    fn give_back(&self, unused: u64);

    /// Adds the results of a worker to the totals, and stores the pieces that it gives away and the rest of its own piece.
    fn commit(&self, job: &mut Job<'_>, commit: Commit);

    /// Asks all workers to stop, because the budget is spent. Each commits the rest of its piece.
    fn stop(&self);

    /// The failing execution that would be reported now.
    fn first_failing(&self) -> Option<ExecutionPosition>;

    /// Called when a worker is lost. Its results on this piece since its latest commit are lost too.
    fn lost(&self, ticket: usize);
}

/// Whether to wait for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Waits until there is a piece, or until there will never be one again.
    UntilThereIsOne,
    /// Not at all.
    No {
        /// The last answer to this worker was [`TakeResult::NotNow`], and it has done nothing since.
        still_waits: bool,
    },
}

/// What a board asks a worker to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Continue.
    GoOn,
    /// Give some of its work to others.
    Share,
    /// A failure was found: run only executions that come before it.
    Failing,
    /// Stop, and commit the rest of its piece.
    Stop,
}

/// The position of an execution in the order of the search.
#[derive(Clone, Debug)]
pub enum ExecutionPosition {
    /// By its number.
    Number(u64),
    /// By its choices.
    Choices(Vec<Choice>),
}

/// A piece that a worker has taken. If it is dropped before the last commit, the piece is handed out again.
pub struct Job<'b> {
    board: &'b dyn Board,
    ticket: usize,
    closed: bool,
    /// The piece.
    pub piece: Piece,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.closed {
            self.board.lost(self.ticket);
        }
    }
}

/// Whether there is a piece to take.
pub enum TakeResult<'b> {
    /// This one.
    Piece(Job<'b>),
    /// Not now, but there may be.
    NotNow,
    /// There will be none.
    Never,
}

/// What a worker commits.
pub struct Commit {
    /// Results since the previous commit.
    pub tally: Tally,
    /// A piece for other workers.
    pub given: Option<Piece>,
    /// Pieces of later stages.
    pub later: Vec<Piece>,
    /// The strongest claim that holds for what this worker has covered.
    pub claim: Claim,
    /// What happens to the rest of the piece.
    pub then: Then,
}

/// What happens to the rest of a piece after a commit.
pub enum Then {
    /// The worker continues with this rest.
    GoesOn(Piece),
    /// The worker stops working on the piece; this rest goes back to the board.
    Leaves(Piece),
    /// Nothing is left of the piece.
    Done(Claim),
    /// Nothing is left of the piece, and the whole search is done.
    AllDone(Claim),
}
