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
//! What was left last is handed out first, and what is nearest to the root only if nothing else waits. Where workers take
//! [turns](Then::TakesTurns), most executions are the nearest to the root, and one of eight is the deepest.
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
use crate::strategy::dpor::News;
use crate::strategy::{Claim, Given};
use crate::system::Choice;

/// Hands out pieces and takes in results.
pub trait Board: Sync {
    /// Waits for a piece; `None` when the search is over.
    fn take(&self) -> Option<Job<'_>>;

    /// A piece, if there is one now.
    fn try_take(&self) -> Taken<'_>;

    /// So many more workers, or fewer, have nothing to do.
    fn hungry(&self, more: isize);

    /// What the board would like, after an execution. Cheap.
    fn beat(&self) -> Beat;

    /// How many executions a worker may run before it asks again; 0 if none are left.
    fn allow(&self) -> u64;

    /// Gives back executions that were allowed and not used.
    fn give_back(&self, unused: u64);

    /// Adds what was done to the totals, and takes in what was given away and what is left.
    fn commit(&self, job: &mut Job<'_>, commit: Commit);

    /// Takes in what those above a piece must hear of.
    fn offer(&self, job: &mut Job<'_>, news: News);

    /// The budget is spent: everybody is to stop and leave what is left.
    fn stop(&self);

    /// Whether everything is done.
    fn settled(&self) -> bool;

    /// How many pieces wait to be taken.
    fn depth(&self) -> usize;

    /// The failing execution that would be reported now.
    fn first_failing(&self) -> Option<Place>;

    /// A worker is lost, and with it what it has done on this piece since its latest commit.
    fn lost(&self, ticket: usize);
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
pub enum Place {
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
pub enum Taken<'b> {
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
    pub given: Given,
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
    /// The same, and something else has its turn.
    TakesTurns(Piece),
    /// It is done.
    Done(Claim),
    /// It is done, and with it the whole search.
    AllDone(Claim),
}
