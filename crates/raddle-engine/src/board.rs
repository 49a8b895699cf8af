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

    /// Adds what was done to the totals, and takes in what was given away and what is left.
    fn commit(&self, job: &mut Job<'_>, commit: Commit);

    /// The budget is spent: all workers are to stop and leave what is left.
    fn stop(&self);

    /// The failing execution that would be reported now.
    fn first_failing(&self) -> Option<ExecutionPosition>;

    /// Called when a worker is lost. Its results on this piece since its latest commit are lost too.
    fn lost(&self, ticket: usize);
}

/// Whether to wait for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until there is one, or never will be.
    UntilThereIsOne,
    /// Not at all.
    No {
        /// The worker was told before that there is none now, and has done nothing else since.
        still_waits: bool,
    },
}

/// What a board asks a worker to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Go on.
    GoOn,
    /// Give some of its work to others.
    Share,
    /// A failure was found: run only executions that come before it.
    Failing,
    /// Stop, and commit what is left.
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
    /// What is to be done.
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
    /// What was done since the commit before.
    pub tally: Tally,
    /// What others can have.
    pub given: Option<Piece>,
    /// What is to be done at a later stage.
    pub later: Vec<Piece>,
    /// The strongest claim that holds for what this worker has covered.
    pub claim: Claim,
    /// How it goes on.
    pub then: Then,
}

/// How it goes on with a piece.
pub enum Then {
    /// The worker goes on with what is left of it.
    GoesOn(Piece),
    /// The worker leaves it, and this is left of it.
    Leaves(Piece),
    /// It is done.
    Done(Claim),
    /// It is done, and with it the whole search.
    AllDone(Claim),
}
