//! Stratified search first, for all that takes few delays; then stratified sampling from where the search has left off.
//!
//! **The search** is that of [`Delay`], stratum by stratum, until it has run as many executions or seen as many states as it may. If it
//! comes to its end before, everything was covered.
//!
//! **The samples** begin at what the search has put off: a way through the tree and what comes next there. One of these is drawn
//! uniformly, and then delays are added as in [`DelaySample`](super::DelaySample). So every execution that the search has left out can be
//! drawn, up to those that lead to states it has been in. If there are F of these ways and no execution has more than L points
//! with an alternative, one with n delays more than its way is drawn by one sample with probability at least 1/(F·L^n).
//!
//! One worker does all of it.

use std::collections::VecDeque;

use super::draw::Draw;
use super::frontier::{Entry, Frontier};
use super::strata::Strata;
use super::{Delay, DelayingExplorer};
use crate::piece::Piece;
use crate::rng::{Rng, mix};
use crate::strategy::{Bound, ByPiece, Claim, Decision, Next, Run, Strategy, Unit};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// [`Delay`], then samples from what it has left.
#[derive(Debug)]
pub struct DelayHybrid<E> {
    delay: Delay<E>,
    seed: u64,
    /// Executions and states that are left to the search.
    share: (u64, u64),
    /// What is left of the stratum that is being searched, and the next one.
    now: VecDeque<Piece>,
    later: VecDeque<Piece>,
    /// Strata that were searched whole.
    complete: u32,
    claim: Claim,
    /// What the search has left, once it is over.
    ways: Option<Ways>,
    draw: Draw<E>,
    /// Samples that were drawn.
    drawn: u64,
    /// The most points with an alternative in an execution.
    longest: u32,
}

/// Where samples begin.
#[derive(Debug, Default)]
struct Ways {
    /// Each with the number of entries in it and those before.
    blocks: Vec<(u32, Frontier)>,
}

/// Executions and states of the search, if nobody says otherwise.
const SHARE: (u64, u64) = (10_000, 1 << 20);

const STRATA: Strata = Strata { first: 10, factor: 2 };

impl<E: DelayingExplorer + Clone + Send + 'static> DelayHybrid<E> {
    /// With this explorer; the samples are those that belong to `seed`.
    #[must_use]
    pub fn new(explorer: E, seed: u64) -> Self {
        Self {
            delay: Delay::new(explorer.clone()),
            seed,
            share: SHARE,
            now: VecDeque::new(),
            later: VecDeque::new(),
            complete: 0,
            claim: Claim::Exhausted,
            ways: None,
            draw: Draw::new(explorer),
            drawn: 0,
            longest: 0,
        }
    }

    /// Searches for so many executions, at least one, and so many states at most.
    #[must_use]
    pub fn with_share(self, executions: u64, states: u64) -> Self {
        Self { share: (executions.max(1), states.max(1)), ..self }
    }

    /// Goes on with the search; what to do next, or `None` if its share is used up.
    fn search_on(&mut self, prefix: &mut Vec<Choice>) -> Option<Next> {
        if self.share.0 == 0 || self.share.1 == 0 {
            return None;
        }
        loop {
            let claim = match self.delay.begin(prefix) {
                Next::Done(claim) => claim,
                run => return Some(run),
            };
            self.claim = self.claim.max(claim);
            self.later.extend(self.delay.put_off());
            if self.now.is_empty() {
                self.complete += 1;
                std::mem::swap(&mut self.now, &mut self.later);
            }
            match self.now.pop_front() {
                Some(piece) => self.delay.place(piece),
                None => return Some(Next::Done(self.claim)),
            }
        }
    }

    /// What the search leaves, for samples to begin at.
    fn leave_off(&mut self) -> Ways {
        let rest = self.delay.rest();
        let put_off = self.delay.put_off();
        let mut ways = Ways::default();
        for piece in rest.into_iter().chain(put_off).chain(self.now.drain(..)).chain(self.later.drain(..)) {
            if let Piece::Delayed(deviations) = piece {
                ways.add(deviations.into_left());
            }
        }
        ways
    }
}

impl Ways {
    fn add(&mut self, block: Frontier) {
        let mut unread = block.clone();
        let entries = std::iter::from_fn(|| unread.take()).count();
        let entries = u32::try_from(entries).unwrap_or(u32::MAX).saturating_add(self.entries());
        self.blocks.push((entries, block));
    }

    fn entries(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.0)
    }

    /// One of them, each as likely as any other; `None` if there are none.
    fn draw(&self, rng: &mut Rng) -> Option<Entry> {
        let which = rng.below(Some(self.entries()).filter(|entries| *entries > 0)?);
        let at = self.blocks.partition_point(|block| block.0 <= which);
        let before = at.checked_sub(1).map_or(0, |before| self.blocks[before].0);
        let mut unread = self.blocks[at].1.clone();
        std::iter::from_fn(|| unread.take()).nth((which - before) as usize)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for DelayHybrid<E> {
    fn name(&self) -> &'static str {
        "delay-hybrid"
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.ways.is_none() {
            if let Some(next) = self.search_on(prefix) {
                return next;
            }
            self.ways = Some(self.leave_off());
            self.draw.without_delay();
        }
        if self.draw.go_on() {
            prefix.extend_from_slice(self.draw.way());
            return Next::Run { seed: 0 };
        }
        let mut rng = Rng::new(mix(self.seed, self.drawn));
        let Some(entry) = self.ways.as_ref().and_then(|ways| ways.draw(&mut rng)) else {
            return Next::Done(self.claim);
        };
        self.draw.begin_at_entry(entry, STRATA.place(self.drawn).delays, rng);
        // As in the search: its ways are those of this seed.
        Next::Run { seed: 0 }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        match self.ways {
            Some(_) => Decision::Take(self.draw.choose(at, so_far)),
            None => self.delay.choose(at, so_far),
        }
    }

    fn arrive(&mut self, state: Option<u64>) -> bool {
        self.ways.is_some() || self.delay.arrive(state)
    }

    fn end(&mut self, run: &Run<'_>) {
        if self.ways.is_some() {
            self.longest = self.longest.max(self.draw.points());
            self.drawn += u64::from(!self.draw.goes_on());
        } else {
            self.delay.end(run);
            self.share.0 -= 1;
            self.share.1 = self.share.1.saturating_sub(self.delay.new_states());
        }
    }

    fn new_states(&self) -> u64 {
        if self.ways.is_some() { 0 } else { self.delay.new_states() }
    }

    fn comes_back(&self) -> Option<bool> {
        if self.ways.is_some() { Some(self.draw.picked_here()) } else { self.delay.comes_back() }
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

    fn covered(&self, _: u32) -> Option<Bound> {
        // What the search could not put off would be missing from the next stratum on.
        let most = self.complete.checked_sub(1).filter(|_| self.claim == Claim::Exhausted)?;
        Some(Bound { most, unit: Unit::Delay })
    }

    fn guarantee(&self, _: u64) -> Option<String> {
        let ways = self.ways.as_ref()?.entries();
        STRATA.guarantee_beyond(self.drawn, self.longest, ways)
    }

    fn remark(&self) -> Option<String> {
        if self.ways.is_none() {
            return self.delay.remark();
        }
        let delays = self.draw.delays();
        Some(format!("found with {delays} delay{}", if delays == 1 { "" } else { "s" }))
    }
}
