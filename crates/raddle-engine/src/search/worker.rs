//! One worker: takes pieces of the search and runs them, execution by execution.

mod ahead;
mod execute;
mod forward;
mod repeat;
mod run_on;
mod save;
mod share;
mod snapshots;
mod walk;

use std::mem;
use std::sync::atomic::Ordering::Relaxed;

use self::repeat::Repeats;
use self::save::Saving;
pub use self::snapshots::SnapshotStack;
use self::walk::Chosen;
use super::{Deadline, Found, Pace, Search, Spare};
use crate::board::{Board, Job, TakeResult, Tally, Then, Wait};
use crate::estimate::Estimate;
use crate::facts::Fact;
use crate::forward::ForwardChoices;
use crate::piece::Checkpoint;
use crate::rng::Rng;
use crate::strategy::{Bound, Claim, Next, Sharing, Strategy};
use crate::system::{Choice, Program};
use crate::trace::Trace;

/// One worker of a search: its strategy, its piece, and its results since its latest commit.
pub struct Worker<'s> {
    search: &'s Search,
    strategy: Held<'s>,
    job: Option<Job<'s>>,
    /// It counts as idle.
    waits: bool,
    /// The next execution and the end of the piece, if executions are numbered.
    numbers: Option<(u64, u64)>,
    /// The stage that the piece belongs to.
    stage: u32,
    /// Executions that it may run before it has to ask the board again.
    allowed: u64,
    /// Executions that it has run or skipped.
    done: u64,
    /// Executions that it has run, and the number after which the next one runs from its start.
    walked: u64,
    next_watch: u64,
    /// The latest execution met one of another worker.
    met: bool,
    /// How often that may happen before the search assumes another cause.
    meetings: u32,
    tally: Tally,
    /// The program needs recorded steps, for race detection, so they are recorded.
    keeps_steps: bool,
    /// One failure whose steps were not recorded was run again with recording. Later ones are only counted; if one of them is reported, it
    /// is replayed.
    has_shown: bool,
    choices: ForwardChoices,
    /// The number of orders, as estimated by the latest walk, if it was a uniform one.
    product: Option<f64>,
    /// Prefixes are run again, and compared with the earlier run.
    watch: bool,
    every_point: bool,
    /// The strategy searches by states.
    states: bool,
    /// The random choices of the current execution, if it is a uniform random walk.
    uniform: Option<Rng>,
    /// The strategy needs the steps of the current execution.
    wants_steps: bool,
    /// Whether the strategy will return to the point of its latest decision, if it has said so.
    returns: Option<bool>,
    /// The next execution has the same number.
    same_number: bool,
    prefix: Vec<Choice>,
    /// The prefix that the strategy asks for, until it becomes the prefix of the execution.
    next_prefix: Vec<Choice>,
    /// The length of the part that it has in common with the latest execution, if that is known.
    common: Option<usize>,
    /// The choices of the latest execution, at the points where the strategy was or could have been asked.
    path: Vec<Chosen>,
    /// Choices and steps of the latest execution outside the search, such as a probe. They are separate because executions of the search
    /// continue from the latest one of the search.
    beside: (Vec<Chosen>, Trace),
    trace: Trace,
    /// The steps of the execution before, and how many of them the current one has to take again.
    earlier: Trace,
    shared: usize,
    /// The numbers of executions and steps at which the clock is read again. Reading it costs as much as a short execution.
    next_look: (u64, u64),
    /// The time at which the search has to end, even in the middle of an execution.
    deadline: Deadline,
    /// What is still to be done after the latest execution.
    due: Due,
    /// Which executions are run again and compared.
    repeats: Repeats,
    /// When to report progress; `None` if this worker does not.
    pub(super) pace: Option<Pace>,
    /// When to commit and to save the rest; `None` if nobody wants that.
    saving: Option<Saving>,
}

/// A strategy that the caller lends, or one that this worker owns.
pub(super) enum Held<'s> {
    Lent(&'s mut dyn Strategy),
    Owned(Box<dyn Strategy>),
}

impl Held<'_> {
    fn get(&mut self) -> &mut dyn Strategy {
        match self {
            Held::Lent(strategy) => *strategy,
            Held::Owned(strategy) => &mut **strategy,
        }
    }
}

/// What is still to be done after an execution. It is all done at once, except in tests that simulate several workers on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    All,
    Little,
    Others,
    Needs,
}

/// Whether a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is over for this worker.
    Over,
    /// This worker's program [can no longer be executed](Program::sound); continue with a new one.
    NeedsFreshWorker,
}

impl<'s> Worker<'s> {
    pub(super) fn new(search: &'s Search, mut strategy: Held<'s>, is_first: bool) -> Self {
        let needs = search.needs;
        Self {
            watch: needs.revisits,
            repeats: Repeats::new(needs.revisits),
            every_point: needs.every_point,
            states: strategy.get().states().is_some(),
            uniform: None,
            wants_steps: true,
            returns: None,
            same_number: false,
            next_prefix: Vec::new(),
            search,
            strategy,
            job: None,
            waits: false,
            numbers: None,
            stage: 0,
            allowed: 0,
            done: 0,
            walked: 0,
            next_watch: 0,
            met: false,
            meetings: 1_000,
            tally: Tally::default(),
            keeps_steps: false,
            has_shown: false,
            choices: ForwardChoices::default(),
            product: None,
            prefix: Vec::new(),
            common: None,
            path: Vec::new(),
            beside: Default::default(),
            trace: Trace::default(),
            earlier: Trace::default(),
            shared: 0,
            next_look: (0, 0),
            deadline: search.deadline(),
            due: Due::All,
            pace: None,
            saving: search.saver.as_ref().map(|(first, _)| Saving::new(is_first, *first)),
        }
    }

    pub(super) fn estimate(&mut self) -> Option<Estimate> {
        self.strategy.get().summary()?.estimate()
    }

    pub(super) fn covered(&mut self, stage: u32) -> Option<Bound> {
        self.strategy.get().summary()?.covered(stage)
    }

    pub(super) fn guarantee(&mut self, drawn: u64) -> Option<Fact> {
        self.strategy.get().summary()?.guarantee(drawn)
    }

    /// What the strategy has learned, if the rest of the search depends on it.
    pub(super) fn checkpoint(&mut self) -> Option<Checkpoint> {
        match self.strategy.get().sharing() {
            Sharing::ByNumber(by_number) => Some(by_number.checkpoint()),
            Sharing::Alone | Sharing::ByPiece(_) => None,
        }
    }

    /// Works until the search is over or the program cannot be used any more.
    pub fn work<P: Program>(&mut self, program: &mut P) -> Status {
        let mut snapshots = SnapshotStack::default();
        loop {
            if self.job.is_none() {
                let board = &self.search.board;
                board.give_back(mem::take(&mut self.allowed));
                match board.take(Wait::UntilThereIsOne) {
                    TakeResult::Piece(job) => self.take_up(job),
                    TakeResult::Never | TakeResult::NotNow => {
                        self.search.call_others(Spare::Over);
                        return Status::Over;
                    }
                }
                if !self.is_worth_running() {
                    self.leave();
                    continue;
                }
            }
            self.run_one(program, &mut snapshots);
            if program.has_enough() {
                self.search.board.stop();
            }
            if program.is_outdated() {
                self.search.outdated.store(true, Relaxed);
                self.search.board.stop();
                self.search.call_others(Spare::Over);
                return Status::Over;
            }
            if self.met && !self.search.stays() {
                return Status::Over;
            }
            if !program.sound() {
                return Status::NeedsFreshWorker;
            }
        }
    }

    /// Does one small part of the work and does not wait for other workers. Tests simulate several workers on one thread with this, so that
    /// anything can happen between two such parts.
    #[doc(hidden)]
    pub fn work_a_little<P: Program>(
        &mut self,
        program: &mut P,
        snapshots: &mut SnapshotStack<P::System>,
    ) -> Option<Status> {
        match mem::replace(&mut self.due, Due::Little) {
            Due::Others => {
                self.call_others_if_long();
                self.due = Due::Needs;
                return None;
            }
            Due::Needs => {
                self.see_needs();
                return None;
            }
            Due::All | Due::Little => {}
        }
        let board = &self.search.board;
        while self.job.is_none() {
            board.give_back(mem::take(&mut self.allowed));
            match board.take(Wait::No { still_waits: self.waits }) {
                TakeResult::Piece(job) => {
                    self.waits = false;
                    self.take_up(job);
                    if self.is_worth_running() {
                        return None;
                    }
                    self.leave();
                }
                TakeResult::NotNow => {
                    self.waits = true;
                    return None;
                }
                TakeResult::Never => {
                    self.waits = false;
                    return Some(Status::Over);
                }
            }
        }
        self.run_one(program, snapshots);
        None
    }

    fn run_one<P: Program>(&mut self, program: &mut P, snapshots: &mut SnapshotStack<P::System>) {
        self.met = false;
        if !self.may_run() {
            return self.leave();
        }
        if self.numbers.is_some_and(|(next, end)| next >= end) {
            return self.finish(Then::Done(Claim::Sampled));
        }
        // The rest of the budget is for other workers, whose numbers are lower.
        if self.numbers.is_some_and(|(next, _)| next >= self.search.board.last_number()) {
            return self.leave();
        }
        self.next_prefix.clear();
        match self.strategy.get().begin(&mut self.next_prefix) {
            Next::Run(start) => self.execute(program, snapshots, start),
            Next::Done(claim) => {
                self.repeat_last(program);
                let by_number = self.numbers.is_some();
                self.finish(if by_number { Then::AllDone(claim) } else { Then::Done(claim) });
            }
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // No other worker may wait for a worker that panics.
        if std::thread::panicking() {
            self.search.board.stop();
            self.search.call_others(Spare::Over);
        }
        if self.waits {
            self.search.board.waits_no_more();
        }
        self.give_up();
    }
}
