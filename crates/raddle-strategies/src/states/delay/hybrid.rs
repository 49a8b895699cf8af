//! Stratified search first, for all executions with few delays; then stratified sampling of what the search has left.
//!
//! **The search** is that of [`Delay`], stratum by stratum, until the workers together have run a number of executions or visited a
//! number of states. If the search is done before that, everything was covered.
//!
//! **The samples** begin at the frontier of the search: the paths that it has deferred, each with the alternative that comes next there. The
//! frontier is cut into pieces of at most a few hundred entries. It is sampled in rounds; each round is a
//! [stage](raddle_engine::piece::Piece::stage). In round r, a piece of F entries gets at least F·2ʳ/64 samples. A sample draws one
//! of the entries uniformly, and then adds r delays as [`DelaySample`](super::DelaySample) does. So every execution that the search has left
//! can be drawn, except those that lead to states it has visited. If no execution has more than L points with an alternative,
//! one sample draws an execution with n delays more than its entry with probability at least 1/(F·Lⁿ). So, for any piece, round r misses
//! it with probability at most exp(-2ʳ/(64·Lⁿ)).
//!
//! A sample depends on the seed, the entries of its piece, the round, and its number there. It does not depend on the worker.
//!
//! The paper (Desai, Qadeer and Seshia, 2015) has the search and the sampling; their combination is ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use raddle_engine::facts::Fact;
use raddle_engine::piece::Piece;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Claim, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, StateSearch,
    Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::draw::SampleDraw;
use super::frontier::{DelayFrontier, FrontierEntry};
use super::share::DelayPiece;
use super::strata::guarantee_beyond;
use super::{Delay, DelayingExplorer};

/// Runs [`Delay`], then samples what it has left.
#[derive(Debug)]
pub struct DelayHybrid<E> {
    delay: Delay<E>,
    seed: u64,
    common: Arc<Common>,
    /// The samples that are being drawn; `None` during the search.
    round: Option<SampleRound>,
    draw: SampleDraw<E>,
    /// Pieces for the next round.
    deferred: Vec<Piece>,
}

/// What all workers share.
#[derive(Debug)]
struct Common {
    /// The largest numbers of executions and states of the search.
    limits: (u64, u64),
    executions: AtomicU64,
    states: AtomicU64,
    /// The first stratum of which something is left to the samples.
    left_from: AtomicU32,
    /// The number of complete rounds.
    rounds: AtomicU32,
    /// The largest number of points with an alternative in a sample.
    longest: AtomicU32,
}

/// The samples of one piece in one round.
#[derive(Debug)]
struct SampleRound {
    number: u32,
    frontier: DelayFrontier,
    /// The entries of the frontier, as a list.
    entries: Vec<FrontierEntry>,
    /// A hash of the entries.
    hash: u64,
    drawn: u64,
    samples: u64,
}

/// The default limits of the search: half of the default number of executions of a test.
const DEFAULT_LIMITS: (u64, u64) = (5_000, 1 << 20);

/// The stage of the first round of samples.
pub(super) const FIRST_SAMPLE_STAGE: u32 = 1 << 31;

/// In the first round there is one sample for so many entries.
pub(super) const ENTRIES_PER_SAMPLE: u32 = 64;

/// The largest piece of samples. Small pieces give work to several workers.
const PIECE_BYTES: usize = 2 << 10;

impl Common {
    fn new(limits: (u64, u64)) -> Self {
        Self {
            limits,
            executions: AtomicU64::new(0),
            states: AtomicU64::new(0),
            left_from: AtomicU32::new(u32::MAX),
            rounds: AtomicU32::new(0),
            longest: AtomicU32::new(0),
        }
    }

    fn is_used_up(&self) -> bool {
        self.executions.load(Relaxed) >= self.limits.0 || self.states.load(Relaxed) >= self.limits.1
    }
}

impl SampleRound {
    fn new(piece: DelayPiece) -> Self {
        let (number, drawn) = (piece.stratum - FIRST_SAMPLE_STAGE, piece.drawn);
        let frontier = piece.frontier;
        let entries = frontier.entries();
        let hash = entries.iter().fold(0, |hash, entry| {
            entry.path.iter().fold(mix(hash, entry.rank.into()), |hash, choice| mix(hash, (*choice).into()))
        });
        let samples = ((entries.len() as u128) << number.min(64)).div_ceil(ENTRIES_PER_SAMPLE.into());
        let samples = u64::try_from(samples).unwrap_or(u64::MAX);
        Self { number, frontier, entries, hash, drawn, samples }
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> DelayHybrid<E> {
    /// With this explorer; the samples depend on `seed`.
    #[must_use]
    pub fn new(explorer: E, seed: u64) -> Self {
        Self::over(Delay::new(explorer.clone()), explorer, seed, Arc::new(Common::new(DEFAULT_LIMITS)))
    }

    fn over(delay: Delay<E>, explorer: E, seed: u64, common: Arc<Common>) -> Self {
        Self { delay, seed, common, round: None, draw: SampleDraw::new(explorer), deferred: Vec::new() }
    }

    /// Limits the search to so many executions (at least one) and states.
    #[must_use]
    pub fn with_share(self, executions: u64, states: u64) -> Self {
        Self { common: Arc::new(Common::new((executions.max(1), states.max(1)))), ..self }
    }

    /// Ends the search, and makes pieces to be sampled of its rest.
    fn end_search(&mut self) {
        let rest = self.delay.rest();
        for piece in rest.into_iter().chain(self.delay.take_later()) {
            if let Some(DelayPiece { frontier, whole: false, .. }) = DelayPiece::read(&piece) {
                self.common.left_from.fetch_min(self.delay.stratum, Relaxed);
                self.deferred.extend(cut_for_sampling(frontier));
            }
        }
        // If something is left to sample, the whole search has no end, and nothing is claimed.
        let dropped_some = self.delay.dropped_some && self.deferred.is_empty();
        self.delay.place(DelayPiece { dropped_some, ..DelayPiece::default() }.write());
    }

    /// Begins the next execution of this round. If there is none, defers the piece to the next round.
    fn begin_sample(&mut self, mut round: SampleRound, prefix: &mut Vec<Choice>) -> Next {
        let next = if self.draw.begin_next() {
            prefix.extend_from_slice(self.draw.path());
            // The same seed as in the search: the paths are those of this seed.
            Next::run(0)
        } else if round.drawn < round.samples {
            let place = mix(round.number.into(), round.drawn);
            let mut rng = Rng::new(mix(mix(self.seed, round.hash), place));
            let entries = u32::try_from(round.entries.len()).expect("raddle bug: more than 2^32 entries in a piece");
            let entry = round.entries[rng.below(entries) as usize].clone();
            self.draw.begin_at_entry(entry, round.number, rng);
            Next::run(0)
        } else {
            round.number += 1;
            self.deferred.push(round.piece(0));
            // Nothing is dropped: the next round continues with all entries.
            return Next::Done(Claim::Exhausted);
        };
        self.round = Some(round);
        next
    }
}

impl SampleRound {
    fn piece(&self, drawn: u64) -> Piece {
        let stratum = FIRST_SAMPLE_STAGE.saturating_add(self.number).min(u32::MAX - 1);
        DelayPiece { stratum, frontier: self.frontier.clone(), drawn, ..DelayPiece::default() }.write()
    }
}

/// Cuts a frontier into pieces for the first round.
fn cut_for_sampling(frontier: DelayFrontier) -> Vec<Piece> {
    let mut open = vec![frontier];
    let mut pieces = Vec::new();
    while let Some(mut frontier) = open.pop() {
        let given = if frontier.unread() > PIECE_BYTES { frontier.split() } else { None };
        match given {
            Some(given) => open.extend([given, frontier]),
            None if frontier.entries().is_empty() => {}
            None => pieces.push(DelayPiece { stratum: FIRST_SAMPLE_STAGE, frontier, ..DelayPiece::default() }.write()),
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
            return self.begin_sample(round, prefix);
        }
        if self.common.is_used_up() && !self.delay.is_at_first_execution() {
            self.end_search();
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
            round.drawn += u64::from(!self.draw.has_next());
            return After::Next;
        }
        let after = self.delay.end(run);
        self.common.executions.fetch_add(1, Relaxed);
        self.common.states.fetch_add(self.delay.new_states(), Relaxed);
        if self.delay.dropped_some {
            // An alternative that could not be stored is missing from the next stratum.
            self.common.left_from.fetch_min(self.delay.stratum + 1, Relaxed);
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
        // Each execution of the search must end, because executions are counted.
        if self.round.is_some() || self.delay.has_another() { Sibling::Unknown } else { self.delay.next_sibling() }
    }

    fn new_states(&mut self) -> u64 {
        if self.round.is_some() { 0 } else { self.delay.new_states() }
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Summarize for DelayHybrid<E> {
    fn covered(&self, stage: u32) -> Option<Bound> {
        // A resumed search does not know where the samples began.
        Some(stage.min(self.common.left_from.load(Relaxed)))
            .filter(|stage| *stage < FIRST_SAMPLE_STAGE)
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
        let explorer = self.delay.initial.clone();
        Box::new(Self::over(self.delay.copy_for_worker(), explorer, self.seed, Arc::clone(&self.common)))
    }

    fn understands(&self, piece: &Piece) -> bool {
        DelayPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        self.draw.without_delay();
        self.round = None;
        if piece.stage() < FIRST_SAMPLE_STAGE {
            self.delay.place(piece);
            return;
        }
        let round = SampleRound::new(DelayPiece::read(&piece).expect("raddle bug: a piece of another strategy"));
        self.common.rounds.fetch_max(round.number, Relaxed);
        self.round = Some(round);
    }

    fn give(&mut self) -> Option<Piece> {
        // Pieces of samples are small already.
        if self.round.is_some() { None } else { self.delay.give() }
    }

    fn rest(&mut self) -> Option<Piece> {
        match &self.round {
            // An incomplete sample is drawn again.
            Some(round) => Some(round.piece(round.drawn)),
            None => self.delay.rest(),
        }
    }

    fn take_later(&mut self) -> Vec<Piece> {
        let mut later = std::mem::take(&mut self.deferred);
        later.extend(self.delay.take_later());
        later
    }

    fn revert(&mut self) {
        self.deferred.clear();
        self.delay.revert();
    }

    fn claim(&self) -> Claim {
        if self.round.is_some() { Claim::Exhausted } else { self.delay.claim() }
    }
}
