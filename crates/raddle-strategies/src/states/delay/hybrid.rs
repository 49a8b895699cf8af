//! Stratified search first, for all that takes few delays; then stratified sampling from where the search has left off.
//!
//! **The search** is that of [`Delay`], stratum by stratum, until the workers together have run as many executions or seen as many states as
//! they may. If it comes to its end before, everything was covered.
//!
//! **The samples** begin at what the search has put off: a way through the tree and what comes next there. What is left is cut into
//! pieces of a few hundred ways at most, and sampled in rounds, each a [stage](raddle_engine::piece::Piece::stage) of its own. In round r, a piece of F ways has at least F·2ʳ/64
//! samples: one of its ways is drawn uniformly, and then r delays are added as in [`DelaySample`](super::DelaySample). So every execution
//! that the search has left out can be drawn, up to those that lead to states it has been in. If no execution has more than L points
//! with an alternative, one with n delays more than its way is drawn by one sample with probability at least 1/(F·Lⁿ): whatever
//! the piece, by none in round r with probability at most exp(-2ʳ/(64·Lⁿ)).
//!
//! A sample depends on the seed, the ways of its piece, the round and its place there, not on who draws it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::draw::Draw;
use super::frontier::{Entry, Frontier};
use super::share::DelayPiece;
use super::strata::guarantee_beyond;
use super::{Delay, DelayingExplorer};
use raddle_engine::facts::Fact;
use raddle_engine::piece::Piece;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Claim, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, StateSearch,
    Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// [`Delay`], then samples from what it has left.
#[derive(Debug)]
pub struct DelayHybrid<E> {
    delay: Delay<E>,
    seed: u64,
    common: Arc<Common>,
    /// What is being sampled; `None` while there is a search.
    round: Option<Round>,
    draw: Draw<E>,
    /// For the next round.
    later: Vec<Piece>,
}

/// What all workers know.
#[derive(Debug)]
struct Common {
    /// Executions and states of the search, at most.
    share: (u64, u64),
    executions: AtomicU64,
    states: AtomicU64,
    /// The first stratum of which something was left to be sampled.
    left_in: AtomicU32,
    /// Rounds that are complete.
    rounds: AtomicU32,
    /// The most points with an alternative in a sample.
    longest: AtomicU32,
}

/// Samples of one piece.
#[derive(Debug)]
struct Round {
    number: u32,
    left: Frontier,
    /// The same, one by one.
    ways: Vec<Entry>,
    /// Different for different ways.
    name: u64,
    drawn: u64,
    of: u64,
}

/// Executions and states of the search, if nobody says otherwise: half of the executions that a test has if nobody says otherwise.
const SHARE: (u64, u64) = (5_000, 1 << 20);

/// The first round of samples is this stage.
pub(super) const SAMPLES: u32 = 1 << 31;

/// In the first round there is one sample for so many ways.
pub(super) const WAYS_PER_SAMPLE: u32 = 64;

/// What is sampled together takes no more bytes, so that there is enough for several workers.
const PIECE_BYTES: usize = 2 << 10;

impl Common {
    fn new(share: (u64, u64)) -> Self {
        Self {
            share,
            executions: AtomicU64::new(0),
            states: AtomicU64::new(0),
            left_in: AtomicU32::new(u32::MAX),
            rounds: AtomicU32::new(0),
            longest: AtomicU32::new(0),
        }
    }

    fn is_used_up(&self) -> bool {
        self.executions.load(Relaxed) >= self.share.0 || self.states.load(Relaxed) >= self.share.1
    }
}

impl Round {
    fn new(piece: DelayPiece) -> Self {
        let (number, drawn) = (piece.stratum - SAMPLES, piece.drawn);
        let left = piece.left;
        let ways = left.entries();
        let name = ways.iter().fold(0, |name, way| {
            way.path.iter().fold(mix(name, way.rank.into()), |name, choice| mix(name, (*choice).into()))
        });
        let of = ((ways.len() as u128) << number.min(64)).div_ceil(WAYS_PER_SAMPLE.into());
        let of = u64::try_from(of).unwrap_or(u64::MAX);
        Self { number, left, ways, name, drawn, of }
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> DelayHybrid<E> {
    /// With this explorer; the samples are those that belong to `seed`.
    #[must_use]
    pub fn new(explorer: E, seed: u64) -> Self {
        Self::over(Delay::new(explorer.clone()), explorer, seed, Arc::new(Common::new(SHARE)))
    }

    fn over(delay: Delay<E>, explorer: E, seed: u64, common: Arc<Common>) -> Self {
        Self { delay, seed, common, round: None, draw: Draw::new(explorer), later: Vec::new() }
    }

    /// Searches for so many executions, at least one, and so many states at most.
    #[must_use]
    pub fn with_share(self, executions: u64, states: u64) -> Self {
        Self { common: Arc::new(Common::new((executions.max(1), states.max(1)))), ..self }
    }

    /// Leaves the rest of the search for samples to begin at.
    fn leave_off(&mut self) {
        let rest = self.delay.rest();
        for piece in rest.into_iter().chain(self.delay.take_later()) {
            if let Some(DelayPiece { left, whole: false, .. }) = DelayPiece::read(&piece) {
                self.common.left_in.fetch_min(self.delay.stratum, Relaxed);
                self.later.extend(to_be_sampled(left));
            }
        }
        // Where there is something to sample, there is no end, and nothing is claimed.
        let left_out = self.delay.left_out && self.later.is_empty();
        self.delay.place(DelayPiece { left_out, ..DelayPiece::default() }.write());
    }

    /// The next sample of this round, if there is one; else what was sampled is for the next round.
    fn draw_on(&mut self, mut round: Round, prefix: &mut Vec<Choice>) -> Next {
        let next = if self.draw.go_on() {
            prefix.extend_from_slice(self.draw.way());
            // As in the search: its ways are those of this seed.
            Next::run(0)
        } else if round.drawn < round.of {
            let place = mix(round.number.into(), round.drawn);
            let mut rng = Rng::new(mix(mix(self.seed, round.name), place));
            let ways = u32::try_from(round.ways.len()).expect("raddle bug: more than 2^32 ways in a piece");
            let way = round.ways[rng.below(ways) as usize].clone();
            self.draw.begin_at_entry(way, round.number, rng);
            Next::run(0)
        } else {
            round.number += 1;
            self.later.push(round.piece(0));
            // Nothing is left out: all of it goes on in the next round.
            return Next::Done(Claim::Exhausted);
        };
        self.round = Some(round);
        next
    }
}

impl Round {
    fn piece(&self, drawn: u64) -> Piece {
        let stratum = SAMPLES.saturating_add(self.number).min(u32::MAX - 1);
        DelayPiece { stratum, left: self.left.clone(), drawn, ..DelayPiece::default() }.write()
    }
}

/// These ways as pieces of the first round.
fn to_be_sampled(left: Frontier) -> Vec<Piece> {
    let mut open = vec![left];
    let mut pieces = Vec::new();
    while let Some(mut left) = open.pop() {
        let given = if left.unread() > PIECE_BYTES { left.split() } else { None };
        match given {
            Some(given) => open.extend([given, left]),
            None if left.entries().is_empty() => {}
            None => pieces.push(DelayPiece { stratum: SAMPLES, left, ..DelayPiece::default() }.write()),
        }
    }
    pieces
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for DelayHybrid<E> {
    fn needs(&self) -> Needs {
        let needs = Needs::exhaustive("delay-hybrid");
        Needs { equivalence: Equivalence::States, every_point: true, endless: true, ..needs }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if let Some(round) = self.round.take() {
            return self.draw_on(round, prefix);
        }
        if self.common.is_used_up() && !self.delay.is_at_first() {
            self.leave_off();
        }
        self.delay.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        match self.round {
            Some(_) => {
                let choice = self.draw.choose(at, so_far);
                Decision::take(choice, Some(self.draw.picked_here()))
            }
            None => self.delay.choose(at, so_far),
        }
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if let Some(round) = &mut self.round {
            self.common.longest.fetch_max(self.draw.points(), Relaxed);
            round.drawn += u64::from(!self.draw.goes_on());
            return After::Next;
        }
        let after = self.delay.end(run);
        self.common.executions.fetch_add(1, Relaxed);
        self.common.states.fetch_add(self.delay.new_states(), Relaxed);
        if self.delay.left_out {
            // What could not be put off is missing from the next stratum.
            self.common.left_in.fetch_min(self.delay.stratum + 1, Relaxed);
        }
        after
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Capabilities for DelayHybrid<E> {
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        Some(self)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> StateSearch for DelayHybrid<E> {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.round.is_some() || self.delay.visit_state(state)
    }

    fn next_sibling(&mut self) -> Sibling {
        // Each execution of the search has to end, to be counted.
        if self.round.is_some() || self.delay.has_another() { Sibling::Unknown } else { self.delay.next_sibling() }
    }

    fn new_states(&mut self) -> u64 {
        if self.round.is_some() { 0 } else { self.delay.new_states() }
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Summarize for DelayHybrid<E> {
    fn covered(&self, stage: u32) -> Option<Bound> {
        // In a search that was taken up again, nobody knows where samples began.
        Some(stage.min(self.common.left_in.load(Relaxed)))
            .filter(|stage| *stage < SAMPLES)
            .and_then(|stage| self.delay.covered(stage))
    }

    fn guarantee(&self, _: u64) -> Option<Fact> {
        guarantee_beyond(self.common.rounds.load(Relaxed), self.common.longest.load(Relaxed))
    }

    fn about_failure(&self) -> Option<Fact> {
        if self.round.is_none() {
            return self.delay.about_failure();
        }
        Some(Fact::FoundWith(self.draw.delays(), Unit::Delay))
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> ByPiece for DelayHybrid<E> {
    fn copy(&self) -> Box<dyn Strategy> {
        let explorer = self.delay.first.clone();
        Box::new(Self::over(self.delay.for_another(), explorer, self.seed, Arc::clone(&self.common)))
    }

    fn understands(&self, piece: &Piece) -> bool {
        DelayPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        self.draw.without_delay();
        self.round = None;
        if piece.stage() < SAMPLES {
            self.delay.place(piece);
            return;
        }
        let round = Round::new(DelayPiece::read(&piece).expect("raddle bug: a piece of another strategy"));
        self.common.rounds.fetch_max(round.number, Relaxed);
        self.round = Some(round);
    }

    fn give(&mut self) -> Option<Piece> {
        // Samples are in small pieces.
        if self.round.is_some() { None } else { self.delay.give() }
    }

    fn rest(&mut self) -> Option<Piece> {
        match &self.round {
            // Of a sample that is not complete, all is drawn again.
            Some(round) => Some(round.piece(round.drawn)),
            None => self.delay.rest(),
        }
    }

    fn take_later(&mut self) -> Vec<Piece> {
        let mut later = std::mem::take(&mut self.later);
        later.extend(self.delay.take_later());
        later
    }

    fn revert(&mut self) {
        self.later.clear();
        self.delay.revert();
    }

    fn claim(&self) -> Claim {
        if self.round.is_some() { Claim::Exhausted } else { self.delay.claim() }
    }
}
