//! Stratified search first, for all that takes few delays; then stratified sampling from where the search has left off.
//!
//! **The search** is that of [`Delay`], stratum by stratum, until the workers together have run as many executions or seen as many states as
//! they may. If it comes to its end before, everything was covered.
//!
//! **The samples** begin at what the search has put off: a way through the tree and what comes next there. What is left is cut into
//! pieces of a few hundred ways at most, and sampled in rounds, each a [stage](crate::piece::Piece::stage) of its own. In round r, a piece of F ways has at least F·2ʳ/64
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
use super::share::Deviations;
use super::strata::guarantee_beyond;
use super::{Delay, DelayingExplorer};
use crate::piece::Piece;
use crate::rng::{Rng, mix};
use crate::strategy::{Bound, ByPiece, Claim, Decision, Given, Next, Passing, Run, Sharing, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

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
    fn new(piece: Deviations) -> Self {
        let (number, drawn) = (piece.stage() - SAMPLES, piece.drawn);
        let left = piece.into_left();
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
        for piece in rest.into_iter().chain(self.delay.put_off()) {
            if let Piece::Delayed(deviations) = piece {
                self.common.left_in.fetch_min(self.delay.stratum, Relaxed);
                self.later.extend(to_be_sampled(deviations.into_left()));
            }
        }
        // Where there is something to sample, there is no end, and nothing is claimed.
        let left_out = self.delay.left_out && self.later.is_empty();
        self.delay.place(Piece::Delayed(Deviations { left_out, ..Deviations::default() }));
    }

    /// The next sample of this round, if there is one; else what was sampled is for the next round.
    fn draw_on(&mut self, mut round: Round, prefix: &mut Vec<Choice>) -> Next {
        let next = if self.draw.go_on() {
            prefix.extend_from_slice(self.draw.way());
            // As in the search: its ways are those of this seed.
            Next::Run { seed: 0 }
        } else if round.drawn < round.of {
            let place = mix(round.number.into(), round.drawn);
            let mut rng = Rng::new(mix(mix(self.seed, round.name), place));
            let ways = u32::try_from(round.ways.len()).expect("raddle bug: more than 2^32 ways in a piece");
            let way = round.ways[rng.below(ways) as usize].clone();
            self.draw.begin_at_entry(way, round.number, rng);
            Next::Run { seed: 0 }
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
        Piece::Delayed(Deviations { stratum, left: self.left.clone(), drawn, ..Deviations::default() })
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
            None => pieces.push(Piece::Delayed(Deviations { stratum: SAMPLES, left, ..Deviations::default() })),
        }
    }
    pieces
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for DelayHybrid<E> {
    fn name(&self) -> &'static str {
        "delay-hybrid"
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

    fn branch_off(&mut self, within: usize) -> Option<(usize, Choice)> {
        let leaves_off = self.common.is_used_up() && !self.delay.is_at_first();
        if self.round.is_some() || leaves_off { None } else { self.delay.branch_off(within) }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        match self.round {
            Some(_) => Decision::Take(self.draw.choose(at, so_far)),
            None => self.delay.choose(at, so_far),
        }
    }

    fn arrive(&mut self, state: Option<u64>) -> bool {
        self.round.is_some() || self.delay.arrive(state)
    }

    fn pass_by(&mut self) -> Passing {
        // Each execution of the search has to end, to be counted.
        if self.round.is_some() || self.delay.has_another() { Passing::No } else { self.delay.pass_by() }
    }

    fn end(&mut self, run: &Run<'_>) {
        if let Some(round) = &mut self.round {
            self.common.longest.fetch_max(self.draw.points(), Relaxed);
            round.drawn += u64::from(!self.draw.goes_on());
            return;
        }
        self.delay.end(run);
        self.common.executions.fetch_add(1, Relaxed);
        self.common.states.fetch_add(self.delay.new_states(), Relaxed);
        if self.delay.left_out {
            // What could not be put off is missing from the next stratum.
            self.common.left_in.fetch_min(self.delay.stratum + 1, Relaxed);
        }
    }

    fn new_states(&self) -> u64 {
        if self.round.is_some() { 0 } else { self.delay.new_states() }
    }

    fn comes_back(&self) -> Option<bool> {
        if self.round.is_some() { Some(self.draw.picked_here()) } else { self.delay.comes_back() }
    }

    fn tells_states_apart(&self) -> bool {
        true
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn revisits(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn covered(&self, stage: u32) -> Option<Bound> {
        // In a search that was taken up again, nobody knows where samples began.
        Some(stage.min(self.common.left_in.load(Relaxed)))
            .filter(|stage| *stage < SAMPLES)
            .and_then(|stage| self.delay.covered(stage))
    }

    fn guarantee(&self, _: u64) -> Option<String> {
        guarantee_beyond(self.common.rounds.load(Relaxed), self.common.longest.load(Relaxed))
    }

    fn remark(&self) -> Option<String> {
        if self.round.is_none() {
            return self.delay.remark();
        }
        let delays = self.draw.delays();
        Some(format!("found with {delays} delay{}", if delays == 1 { "" } else { "s" }))
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> ByPiece for DelayHybrid<E> {
    fn copy(&self) -> Box<dyn Strategy> {
        let explorer = self.delay.first.clone();
        Box::new(Self::over(self.delay.for_another(), explorer, self.seed, Arc::clone(&self.common)))
    }

    fn takes(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Whole | Piece::Delayed(_))
    }

    fn place(&mut self, piece: Piece) {
        self.draw.without_delay();
        self.round = None;
        match piece {
            Piece::Delayed(deviations) if deviations.stage() >= SAMPLES => {
                let round = Round::new(deviations);
                self.common.rounds.fetch_max(round.number, Relaxed);
                self.round = Some(round);
            }
            piece => self.delay.place(piece),
        }
    }

    fn give(&mut self) -> Given {
        // Samples are in small pieces.
        if self.round.is_some() { Given::Nothing } else { self.delay.give() }
    }

    fn rest(&mut self) -> Option<Piece> {
        match &self.round {
            // Of a sample that is not complete, all is drawn again.
            Some(round) => Some(round.piece(round.drawn)),
            None => self.delay.rest(),
        }
    }

    fn put_off(&mut self) -> Vec<Piece> {
        let mut later = std::mem::take(&mut self.later);
        later.extend(self.delay.put_off());
        later
    }

    fn lost(&mut self) {
        self.later.clear();
        self.delay.lost();
    }

    fn claim(&self) -> Claim {
        if self.round.is_some() { Claim::Exhausted } else { self.delay.claim() }
    }
}
