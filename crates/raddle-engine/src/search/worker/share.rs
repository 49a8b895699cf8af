//! How a worker uses the board: it takes pieces and gives them back, shares work, and commits results.

use std::mem;
use std::time::Duration;

use super::Worker;
use crate::board::{Beat, Board, Commit, ExecutionPosition, Job, Tally, Then};
use crate::outcome::Failure;
use crate::piece::Piece;
use crate::search::Spare;
use crate::strategy::{Claim, Sharing, Strategy};

/// A worker commits after so many executions, even if nobody asks. At most so many are lost with it.
const COMMIT_EVERY: u64 = 4_096;

/// If executions take longer than this, the worker asks the board after each of them.
const SLOW_MICROS: u128 = 100;

/// If executions take this long, further workers join before there were many of them.
const ALONE_AT_MOST: Duration = Duration::from_millis(20);

impl<'s> Worker<'s> {
    pub(super) fn take_up(&mut self, mut job: Job<'s>) {
        let piece = mem::replace(&mut job.piece, Piece::Whole);
        self.numbers = None;
        self.stage = piece.stage();
        match (piece, self.strategy.get().sharing()) {
            (Piece::Numbers { from, to }, Sharing::ByNumber(by_number)) => {
                by_number.jump(from);
                self.numbers = Some((from, to));
            }
            (piece, Sharing::ByPiece(by_piece)) => by_piece.place(piece),
            _ => {}
        }
        self.job = Some(job);
    }

    /// Whether the budget allows one more execution.
    pub(super) fn may_run(&mut self) -> bool {
        if self.allowed == 0 {
            self.allowed = self.search.board.allow();
        }
        if self.allowed == 0 {
            return false;
        }
        let steps = self.tally.steps;
        if self.search.limits.total_steps.is_some_and(|most| steps + self.search.board.total().steps >= most) {
            self.search.board.stop();
            return false;
        }
        let limit = self.search.limits.time;
        let timeless = limit.is_none() && self.pace.is_none() && self.saving.is_none();
        if timeless || (self.done < self.next_look.0 && steps < self.next_look.1) {
            return true;
        }
        let elapsed = self.search.started.elapsed();
        let slow = elapsed.as_micros() > u128::from(self.done) * SLOW_MICROS;
        self.next_look = (self.done + if slow { 1 } else { 64 }, steps + 4_096);
        self.saving.iter_mut().for_each(|saving| saving.look(elapsed));
        if self.pace.as_mut().is_some_and(|pace| pace.is_due(elapsed)) {
            let summary = self.strategy.get().summary();
            let (own, learning) = summary.map_or((None, None), |summary| (summary.estimate(), summary.learning()));
            self.search.tell(&self.tally, own, learning);
        }
        // However little time there is, one execution is run.
        let spent = self.done > 0 && limit.is_some_and(|limit| elapsed >= limit);
        if spent {
            self.search.board.stop();
        }
        !spent
    }

    /// Whether the execution failed only because it met that of another worker at something that outlives both. Then the results since the
    /// latest commit are discarded, and the piece goes back.
    pub(super) fn meets_another(&mut self, failure: &Failure) -> bool {
        self.met = matches!(failure, Failure::HeldElsewhere { .. }) && self.search.workers > 1 && self.meetings > 0;
        if self.met {
            self.meetings -= 1;
            self.tally = Tally::default();
            self.give_up();
        }
        self.met
    }

    /// Stops because the time is over in the middle of an execution. The execution is not counted, but its steps are, in the report.
    ///
    /// If the strategy has pieces of the tree, its state includes that execution. So its piece goes back as it was at the latest commit. A
    /// resumed search runs the executions since then again, so they are not added to the committed results.
    pub(super) fn give_up_for_time(&mut self) {
        let steps = self.trace.len() as u64;
        let states = if self.states { self.strategy.get().states().map_or(0, |states| states.new_states()) } else { 0 };
        let unfinished = Tally { steps, longest: steps, states, ..Tally::default() };
        self.search.board.add_cut_off(unfinished);
        self.give_up_as_committed();
    }

    /// Stops the search. What was found and counted since the latest commit is reported, and done again by a search that is taken up.
    pub(super) fn give_up_as_committed(&mut self) {
        self.search.board.stop();
        if matches!(self.strategy.get().sharing(), Sharing::ByPiece(_)) {
            self.search.board.add_cut_off(mem::take(&mut self.tally));
            self.give_up();
        } else {
            self.leave();
        }
    }

    /// Gives back the piece as it was at the latest commit.
    pub(in crate::search) fn give_up(&mut self) {
        if self.job.is_none() {
            return;
        }
        if let Sharing::ByPiece(by_piece) = self.strategy.get().sharing() {
            by_piece.revert();
        }
        self.job = None;
    }

    /// After an execution, does what the board asks for.
    pub(super) fn see_needs(&mut self) {
        let search = self.search;
        if self.tally.found.is_some() && !search.limits.keep_going {
            self.commit(None);
        }
        match search.board.beat() {
            Beat::GoOn if self.tally.run() >= COMMIT_EVERY => self.commit(None),
            Beat::GoOn => {}
            Beat::Share => self.share(),
            Beat::Failing if self.may_come_first() => {}
            Beat::Failing | Beat::Stop => return self.leave(),
        }
        self.save_if_due();
    }

    /// Whether the piece that was just taken still matters, if a failure was found.
    pub(super) fn is_worth_running(&mut self) -> bool {
        self.search.board.beat() != Beat::Failing || self.may_come_first()
    }

    pub(super) fn call_others_if_long(&mut self) {
        let search = self.search;
        if search.workers == 1 {
            return;
        }
        let slow = || self.done.is_power_of_two() && search.started.elapsed() > ALONE_AT_MOST;
        let warm = self.numbers.is_none() || self.done >= search.alone_for;
        if self.done == search.alone_for || (warm && slow()) {
            let copy = |strategy: &mut dyn Strategy| match strategy.sharing() {
                Sharing::Alone => None,
                Sharing::ByNumber(by_number) => Some(by_number.copy()),
                Sharing::ByPiece(by_piece) => Some(by_piece.copy()),
            };
            let copies = (1..search.workers).filter_map(|_| copy(self.strategy.get())).collect();
            search.call_others(Spare::Ready(copies));
        }
    }

    /// Whether the rest of this piece may contain a failure that should be reported instead of the one that was found.
    fn may_come_first(&mut self) -> bool {
        match self.search.board.first_failing() {
            Some(ExecutionPosition::Number(failing)) => self.numbers.is_some_and(|(next, _)| next < failing),
            Some(ExecutionPosition::Choices(choices)) => match self.strategy.get().sharing() {
                Sharing::ByPiece(by_piece) => by_piece.may_precede(&choices),
                _ => false,
            },
            None => true,
        }
    }

    /// Gives a part of the work to other workers.
    fn share(&mut self) {
        if let Sharing::ByPiece(by_piece) = self.strategy.get().sharing()
            && let Some(given) = by_piece.give()
        {
            self.commit(Some(given));
        }
    }

    /// Commits the results and continues.
    pub(super) fn commit(&mut self, given: Option<Piece>) {
        let then = match self.rest() {
            Some(piece) => Then::GoesOn(piece),
            None => Then::Done(self.claim()),
        };
        self.say(given, then);
    }

    /// Gives the rest of the piece back.
    pub(super) fn leave(&mut self) {
        let then = match self.rest() {
            Some(piece) => Then::Leaves(piece),
            None => Then::Done(self.claim()),
        };
        self.say(None, then);
    }

    pub(super) fn finish(&mut self, then: Then) {
        self.say(None, then);
    }

    fn say(&mut self, given: Option<Piece>, then: Then) {
        let Some(mut job) = self.job.take() else { return };
        let goes_on = matches!(then, Then::GoesOn(_));
        let (later, claim) = match self.strategy.get().sharing() {
            Sharing::ByPiece(by_piece) => (by_piece.take_later(), by_piece.claim()),
            _ => (Vec::new(), Claim::Exhausted),
        };
        let tally = mem::take(&mut self.tally);
        self.next_look.1 = 0;
        self.search.board.commit(&mut job, Commit { tally, given, later, claim, then });
        self.job = goes_on.then_some(job);
    }

    fn rest(&mut self) -> Option<Piece> {
        match (self.numbers, self.strategy.get().sharing()) {
            (Some((next, end)), _) => (next < end).then_some(Piece::Numbers { from: next, to: end }),
            (None, Sharing::ByPiece(by_piece)) => by_piece.rest(),
            (None, _) => Some(Piece::Whole),
        }
    }

    fn claim(&mut self) -> Claim {
        match self.strategy.get().sharing() {
            Sharing::ByPiece(by_piece) => by_piece.claim(),
            _ => Claim::Sampled,
        }
    }
}
