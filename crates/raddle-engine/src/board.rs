//! Where workers meet: they take pieces of the search from a board and commit to it what they did and what they left.
//!
//! Workers know the board by this trait alone. [`Local`] is the board of one process: a queue, a table of what is out, and
//! totals, behind one lock that is taken once per piece and not per execution. What is looked at after every execution is a few
//! atomics.
//!
//! A piece counts once. What a worker has done is added to the totals when it commits, together with what is left of its piece,
//! in one go. If it is lost before that (its [`Job`] is dropped), the piece is handed out again as it was at the latest commit,
//! and what had been done since counts for nothing.
//!
//! What was left last is handed out first.
//!
//! Pieces may come in [stages](Piece::stage): those of a later one are not handed out before all of the earlier ones are done, and
//! not at all if of an earlier one something was left out.

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

/// Hands out pieces and takes in results. What several workers must agree on goes through this, and nothing else does.
pub trait Board: Sync {
    /// A piece, if there is one now or, with [`Wait::UntilThereIsOne`], as soon as there is.
    fn take(&self, wait: Wait) -> TakeResult<'_>;

    /// What the board would like. The worker asks after each execution, so this has to be cheap.
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

    /// A worker is lost, and with it what it has done on this piece since its latest commit.
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

/// What a board would like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// That the worker goes on.
    GoOn,
    /// That it gives some of its work to others.
    Share,
    /// A failure was found, and the search need not go on but for what comes before it.
    Failing,
    /// That it leaves what is left.
    Stop,
}

/// Where an execution has its place in the search.
#[derive(Clone, Debug)]
pub enum ExecutionPosition {
    /// By its number.
    Number(u64),
    /// By its choices.
    Choices(Vec<Choice>),
}

/// A piece in a worker's hands. Dropped without a last commit, it is lost and handed out again.
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

/// What a worker says.
pub struct Commit {
    /// What was done since the commit before.
    pub tally: Tally,
    /// What others can have.
    pub given: Option<Piece>,
    /// What is to be done at a later stage.
    pub later: Vec<Piece>,
    /// What can be said at most of what this worker has covered.
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
