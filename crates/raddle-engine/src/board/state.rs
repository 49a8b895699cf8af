//! What the board of one process knows: what waits, what is out, what was done.

use std::collections::{BTreeMap, VecDeque};

use super::remains::{Remains, Waiting};
use super::{Place, Tally};
use crate::piece::Piece;
use crate::replay::Script;
use crate::search::Limits;
use crate::strategy::Claim;
use crate::strategy::dpor::Trunk;

/// Everything behind the board's lock.
pub(super) struct State {
    /// What can be taken now.
    pub queue: VecDeque<Waiting>,
    /// What is in the queue and what is out belongs to this stage.
    pub stage: u32,
    /// What comes after it, by stage.
    pub later: BTreeMap<u32, VecDeque<Waiting>>,
    pub trunk: Trunk,
    /// By ticket: what it was at the latest commit.
    pub out: Vec<Option<Waiting>>,
    pub total: Tally,
    /// The worst that was said of any piece.
    pub claim: Claim,
    /// Executions that may still be run and that nobody has reserved.
    pub left: Option<u64>,
    /// Where executions go by number, the budget is for those before this one, by whatever worker each of them is run.
    pub last: u64,
    /// The executions before this number are run by one worker; nothing else is handed out before they are.
    pub warm_up: u64,
    pub warming: bool,
}

/// Where workers take turns, one execution of so many is the deepest.
const TURNS: u64 = 8;

/// So many steps wait at most, in all pieces together, before what is nearest to the root loses its turn: each piece has a path of its own
/// in memory.
const MOST_WAITING: u64 = 1 << 18;

fn first_stage(pieces: &[Waiting]) -> u32 {
    pieces.iter().map(|waiting| waiting.piece.stage()).min().unwrap_or(0)
}

/// The number after the first so many in pieces that count as executions.
fn end_of_first(pieces: &[Waiting], mut most: u64, uncounted: &[u64]) -> u64 {
    let numbers = |waiting: &Waiting| match waiting.piece {
        Piece::Numbers { from, to } => Some((from, to)),
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
    /// How many numbers are run first by one worker, and which do not count as executions, if that is known.
    pub fn new(remains: Remains, limits: &Limits, (warm_up, uncounted): (u64, Option<Vec<u64>>)) -> Self {
        let Remains { pieces, trunk, total, claim, .. } = remains;
        let last = match (limits.executions, uncounted) {
            (Some(most), Some(uncounted)) => end_of_first(&pieces, most, &uncounted),
            _ => u64::MAX,
        };
        let mut state = Self {
            queue: VecDeque::new(),
            // What is in the trunk comes before all that waits for a later stage.
            stage: if trunk.is_empty() { first_stage(&pieces) } else { 0 },
            later: BTreeMap::new(),
            trunk,
            out: Vec::new(),
            total,
            claim,
            left: limits.executions,
            last,
            warm_up,
            warming: false,
        };
        pieces.into_iter().for_each(|waiting| state.put(waiting));
        state
    }

    pub fn next(&mut self, workers: usize, failing: bool) -> Option<Waiting> {
        if self.left == Some(0) || self.warming {
            return None;
        }
        if failing {
            self.drop_what_comes_later();
        }
        let all_done = self.queue.is_empty() && self.trunk.is_empty() && !self.is_out();
        if all_done && let Some((stage, pieces)) = self.later.pop_first() {
            (self.stage, self.queue) = (stage, pieces);
        }
        let room = self.total.longest.saturating_mul(self.queue.len() as u64) < MOST_WAITING;
        let nearest_first = !failing && room && self.is_turn_of_nearest(self.total.run());
        let near = if nearest_first { self.take_nearest() } else { None };
        let next = match near.or_else(|| self.queue.pop_front()) {
            Some(waiting) => waiting,
            None if failing => return None,
            None => self.take_nearest()?,
        };
        let next = self.within_budget(next)?;
        let Piece::Numbers { from, to } = next.piece else { return Some(next) };
        let end = if from < self.warm_up { self.warm_up } else { from + self.block(workers) }.min(to);
        self.warming = from < self.warm_up;
        if end < to {
            self.queue.push_front(Waiting { piece: Piece::Numbers { from: end, to }, under: None });
        }
        Some(Waiting { piece: Piece::Numbers { from, to: end }, under: None })
    }

    /// The piece, or another instead of one whose executions the budget is not for; that goes back.
    fn within_budget(&mut self, next: Waiting) -> Option<Waiting> {
        let last = self.last;
        let beyond = |waiting: &Waiting| matches!(waiting.piece, Piece::Numbers { from, .. } if from >= last);
        if !beyond(&next) {
            return Some(next);
        }
        let other = self.queue.iter().position(|waiting| !beyond(waiting)).and_then(|at| self.queue.remove(at));
        self.queue.push_front(next);
        other
    }

    fn take_nearest(&mut self) -> Option<Waiting> {
        let (place, subtree) = self.trunk.take()?;
        Some(Waiting { piece: Piece::Reduced(subtree), under: Some(place) })
    }

    /// Whether what is nearest to the root has its turn after so many executions. The second of all is the deepest: much is found by
    /// changing little of the first.
    fn is_turn_of_nearest(&self, executions: u64) -> bool {
        self.trunk.is_in_turn() && executions > 0 && executions % TURNS != 1
    }

    /// Takes back a piece whose turn is over. What was nearest to the root waits until all that were begun before it are done.
    pub fn put_back(&mut self, waiting: Waiting) {
        if self.is_turn_of_nearest(self.total.run().saturating_sub(1)) {
            self.queue.push_back(waiting);
        } else {
            self.queue.push_front(waiting);
        }
    }

    /// Adds a piece that nobody has had.
    pub fn put(&mut self, waiting: Waiting) {
        let stage = waiting.piece.stage();
        if stage == self.stage {
            self.queue.push_back(waiting);
        } else if self.claim == Claim::Exhausted {
            self.later.entry(stage).or_default().push_back(waiting);
        }
    }

    /// A piece is done. Where something of it was left out, nothing is begun that would build on it.
    pub fn note(&mut self, claim: Claim) {
        self.claim = self.claim.max(claim);
        if self.claim != Claim::Exhausted {
            self.later.clear();
        }
    }

    /// How many numbered executions are handed out at a time: few enough for all to end together.
    pub fn block(&self, workers: usize) -> u64 {
        self.left.map_or(64, |left| (left / (8 * workers as u64)).clamp(1, 256))
    }

    /// A failure was found: only what comes before it is still of interest.
    pub fn drop_what_comes_later(&mut self) {
        let Some(place) = self.first_failing() else { return };
        self.later.clear();
        self.queue.retain(|waiting| match (&waiting.piece, &place) {
            (Piece::Numbers { from, .. }, Place::Number(failing)) => from < failing,
            (piece, Place::Choices(choices)) => piece.may_precede(choices),
            _ => false,
        });
    }

    pub fn first_failing(&self) -> Option<Place> {
        let found = self.total.found.as_ref()?;
        Some(match (&found.number, &found.script) {
            (Some(number), _) => Place::Number(*number),
            // Nothing comes before it.
            (None, _) if found.probe => Place::Choices(Vec::new()),
            (None, Script::Choices { choices, .. }) => Place::Choices(choices.clone()),
            (None, _) => Place::Choices(Vec::new()),
        })
    }

    /// Pieces that wait for a worker.
    pub fn supply(&self) -> isize {
        isize::try_from(self.queue.len() + self.trunk.open()).unwrap_or(isize::MAX)
    }

    pub fn hand_out(&mut self, waiting: Waiting) -> usize {
        match self.out.iter().position(Option::is_none) {
            Some(ticket) => {
                self.out[ticket] = Some(waiting);
                ticket
            }
            None => {
                self.out.push(Some(waiting));
                self.out.len() - 1
            }
        }
    }

    pub fn is_out(&self) -> bool {
        self.out.iter().any(Option::is_some)
    }

    pub fn close(&mut self, ticket: usize) -> Waiting {
        let waiting = self.out[ticket].take().expect("raddle bug: a piece was closed twice");
        if matches!(waiting.piece, Piece::Numbers { from, .. } if from < self.warm_up) {
            self.warming = false;
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: u64, to: u64) -> Waiting {
        Waiting { piece: Piece::Numbers { from, to }, under: None }
    }

    /// All numbers that are handed out from here on and that the budget is for.
    fn handed_out(state: &mut State) -> Vec<u64> {
        let mut all = Vec::new();
        while let Some(waiting) = state.next(2, false) {
            let Piece::Numbers { from, to } = waiting.piece else { panic!("{:?}", waiting.piece) };
            all.extend(from..to.min(state.last));
        }
        all.sort_unstable();
        all
    }

    /// A worker that is late must not find the budget spent on numbers that come after its own.
    #[test]
    fn the_budget_is_for_the_first_numbers() {
        let limits = Limits { executions: Some(10), ..Limits::default() };
        let of = |pieces| Remains { pieces, ..Remains::of_all(Piece::Whole, Trunk::default()) };
        let mut state = State::new(of(vec![numbers(0, u64::MAX)]), &limits, (0, Some(Vec::new())));
        assert_eq!(handed_out(&mut state), Vec::from_iter(0..10));
        // What a worker has left is handed out again, whatever waits before it.
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
