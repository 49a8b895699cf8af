//! The state of the board of one process: waiting pieces, pieces that workers have, and totals.

use std::collections::{BTreeMap, VecDeque};

use super::remains::Remains;
use super::{ExecutionPosition, Tally};
use crate::piece::Piece;
use crate::replay::Script;
use crate::search::Limits;
use crate::strategy::Claim;

/// Everything that the board's lock protects.
pub(super) struct State {
    /// The pieces that can be taken now.
    pub queue: VecDeque<Piece>,
    /// The stage of the pieces in the queue and of those that workers have.
    pub stage: u32,
    /// The pieces of later stages, by stage.
    pub later: BTreeMap<u32, VecDeque<Piece>>,
    /// By ticket: the piece as it was at the latest commit.
    pub out: Vec<Option<Piece>>,
    pub total: Tally,
    /// Uncommitted results of workers that were interrupted by time.
    pub cut_off: Tally,
    /// The weakest claim for any piece.
    pub claim: Claim,
    /// Executions that may still be run and that no worker has reserved.
    pub left: Option<u64>,
    /// If executions are numbered, the budget is for those before this one, whichever worker runs them.
    pub last: u64,
    /// One worker runs the executions before this number. Nothing else is handed out before they are done.
    pub warm_up: u64,
    pub warming: bool,
}

fn first_stage(pieces: &[Piece]) -> u32 {
    pieces.iter().map(Piece::stage).min().unwrap_or(0)
}

/// The number after the first `count` numbers, in pieces, that count as executions.
fn end_of_first(pieces: &[Piece], mut most: u64, uncounted: &[u64]) -> u64 {
    let numbers = |piece: &Piece| match piece {
        Piece::Numbers { from, to } => Some((*from, *to)),
        _ => None,
    };
    let mut ranges: Vec<_> = pieces.iter().filter_map(numbers).collect();
    ranges.sort_unstable();
    for (first, to) in ranges {
        let mut from = first;
        for &free in uncounted.iter().filter(|free| (first..to).contains(free)) {
            if free - from >= most {
                return from + most;
            }
            most -= free - from;
            from = free + 1;
        }
        if to - from >= most {
            return from + most;
        }
        most -= to - from;
    }
    u64::MAX
}

impl State {
    /// Sets how many numbers one worker runs first, and which of them do not count as executions, if that is known.
    pub fn new(remains: Remains, limits: &Limits, (warm_up, uncounted): (u64, Option<Vec<u64>>)) -> Self {
        let Remains { pieces, total, claim, .. } = remains;
        let last = match (limits.executions, uncounted) {
            (Some(most), Some(uncounted)) => end_of_first(&pieces, most, &uncounted),
            _ => u64::MAX,
        };
        let mut state = Self {
            queue: VecDeque::new(),
            stage: first_stage(&pieces),
            later: BTreeMap::new(),
            out: Vec::new(),
            total,
            cut_off: Tally::default(),
            claim,
            left: limits.executions,
            last,
            warm_up,
            warming: false,
        };
        pieces.into_iter().for_each(|piece| state.put(piece));
        state
    }

    /// The piece that is handed out next.
    pub fn next(&mut self, workers: usize, failing: bool) -> Option<Piece> {
        if self.left == Some(0) || self.warming {
            return None;
        }
        if failing {
            self.drop_what_comes_later();
        }
        if self.queue.is_empty()
            && !self.is_out()
            && let Some((stage, pieces)) = self.later.pop_first()
        {
            (self.stage, self.queue) = (stage, pieces);
        }
        let next = self.queue.pop_front()?;
        let next = self.within_budget(next)?;
        let Piece::Numbers { from, to } = next else { return Some(next) };
        let end = if from < self.warm_up { self.warm_up } else { from + self.block(workers) }.min(to);
        self.warming = from < self.warm_up;
        if end < to {
            self.queue.push_front(Piece::Numbers { from: end, to });
        }
        Some(Piece::Numbers { from, to: end })
    }

    /// Returns the piece, or another one if the budget does not include its executions; then the piece goes back.
    fn within_budget(&mut self, next: Piece) -> Option<Piece> {
        let last = self.last;
        let beyond = |piece: &Piece| matches!(piece, Piece::Numbers { from, .. } if *from >= last);
        if !beyond(&next) {
            return Some(next);
        }
        let other = self.queue.iter().position(|piece| !beyond(piece)).and_then(|at| self.queue.remove(at));
        self.queue.push_front(next);
        other
    }

    /// Adds a new piece.
    pub fn put(&mut self, piece: Piece) {
        let stage = piece.stage();
        if stage == self.stage {
            self.queue.push_back(piece);
        } else if self.claim == Claim::Exhausted {
            self.later.entry(stage).or_default().push_back(piece);
        }
    }

    /// A piece is done. If a part of it was skipped, no later stage begins.
    pub fn note(&mut self, claim: Claim) {
        self.claim = self.claim.max(claim);
        if self.claim != Claim::Exhausted {
            self.later.clear();
        }
    }

    /// How many numbered executions are handed out at a time: so few that all workers end at about the same time.
    pub fn block(&self, workers: usize) -> u64 {
        self.left.map_or(64, |left| (left / (8 * workers as u64)).clamp(1, 256))
    }

    /// Removes the pieces that come after a failure that was found. For numbered executions the board knows which these are; for other
    /// pieces, the worker that takes one asks its strategy.
    pub fn drop_what_comes_later(&mut self) {
        let Some(place) = self.first_failing() else { return };
        self.later.clear();
        self.queue.retain(|piece| match (piece, &place) {
            (Piece::Numbers { from, .. }, ExecutionPosition::Number(failing)) => from < failing,
            (Piece::Part { .. }, ExecutionPosition::Choices(_)) => true,
            _ => false,
        });
    }

    /// Whether a piece that a worker gives back does not matter any more, because a failure was found.
    pub fn is_done_by_failure(&self, piece: &Piece) -> bool {
        !matches!(piece, Piece::Numbers { .. }) && self.first_failing().is_some()
    }

    pub fn first_failing(&self) -> Option<ExecutionPosition> {
        let found = self.total.found.as_ref()?;
        Some(match (&found.number, &found.script) {
            (Some(number), _) => ExecutionPosition::Number(*number),
            // Nothing comes before it.
            (None, _) if found.probe => ExecutionPosition::Choices(Vec::new()),
            (None, Script::Choices { choices, .. }) => ExecutionPosition::Choices(choices.clone()),
            (None, _) => ExecutionPosition::Choices(Vec::new()),
        })
    }

    /// Pieces that wait for a worker.
    pub fn supply(&self) -> isize {
        isize::try_from(self.queue.len()).unwrap_or(isize::MAX)
    }

    pub fn hand_out(&mut self, piece: Piece) -> usize {
        match self.out.iter().position(Option::is_none) {
            Some(ticket) => {
                self.out[ticket] = Some(piece);
                ticket
            }
            None => {
                self.out.push(Some(piece));
                self.out.len() - 1
            }
        }
    }

    pub fn is_out(&self) -> bool {
        self.out.iter().any(Option::is_some)
    }

    pub fn close(&mut self, ticket: usize) -> Piece {
        let piece = self.out[ticket].take().expect("raddle bug: a piece was closed twice");
        if matches!(piece, Piece::Numbers { from, .. } if from < self.warm_up) {
            self.warming = false;
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: u64, to: u64) -> Piece {
        Piece::Numbers { from, to }
    }

    /// All numbers that are handed out from now on and that the budget includes.
    fn handed_out(state: &mut State) -> Vec<u64> {
        let mut all = Vec::new();
        while let Some(piece) = state.next(2, false) {
            let Piece::Numbers { from, to } = piece else { panic!("{piece:?}") };
            all.extend(from..to.min(state.last));
        }
        all.sort_unstable();
        all
    }

    /// The budget of a slow worker must not be spent on numbers after its own.
    #[test]
    fn the_budget_is_for_the_first_numbers() {
        let limits = Limits { executions: Some(10), ..Limits::default() };
        let of = |pieces| Remains { pieces, ..Remains::of_all(Piece::Whole) };
        let mut state = State::new(of(vec![numbers(0, u64::MAX)]), &limits, (0, Some(Vec::new())));
        assert_eq!(handed_out(&mut state), Vec::from_iter(0..10));
        // The rest of a worker's piece is handed out again before other pieces.
        state.queue.push_back(numbers(3, 5));
        assert_eq!(handed_out(&mut state), [3, 4]);
        let left = vec![numbers(20, u64::MAX), numbers(7, 9), numbers(12, 14)];
        let mut state = State::new(of(left), &limits, (0, Some(Vec::new())));
        assert_eq!(handed_out(&mut state), [7, 8, 12, 13, 20, 21, 22, 23, 24, 25]);
        // Probes do not count.
        let mut state = State::new(of(vec![numbers(2, u64::MAX)]), &limits, (0, Some(vec![1, 4, 5, 14, 20])));
        assert_eq!(handed_out(&mut state), Vec::from_iter(2..14));
    }
}
