//! One sample: a series of executions, each with one more delay than the previous one. The point of the new delay is drawn uniformly
//! among the points from the latest delay on.
//!
//! The point is drawn while the execution runs (reservoir sampling): the n-th candidate replaces the current one with probability 1/n. Only
//! the level of the current candidate is stored. The search can take a snapshot of the program there, because the strategy
//! [announces](raddle_engine::strategy::Decision::take) that it will backtrack to this point.

use raddle_engine::rng::Rng;
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::frontier::FrontierEntry;
use super::level::DelayLevel;
use super::{Delay, DelayingExplorer};

/// A point at which one more delay is possible.
#[derive(Clone, Debug)]
pub(super) struct Pick<E> {
    /// How many choices lead there.
    depth: usize,
    /// The number of points with more than one alternative up to there, itself included.
    points: u32,
    level: DelayLevel<E>,
}

/// A sample that is being drawn.
#[derive(Debug)]
pub(super) struct SampleDraw<E> {
    /// The explorer before the first step.
    initial: E,
    rng: Rng,
    /// How many delays are added after this execution.
    delays_left: u32,
    /// The choices at all points of this execution.
    path: Vec<Choice>,
    /// The number of points with more than one alternative.
    points: u32,
    /// The latest point.
    latest: Option<DelayLevel<E>>,
    /// The entry that the execution replays before the sample begins.
    replaying: Option<FrontierEntry>,
    /// The number of points in this execution at which the next delay can be.
    candidates: u32,
    pick: Option<Pick<E>>,
    /// True if `pick` is the latest point.
    picked_here: bool,
}

impl<E: DelayingExplorer + Clone + Send + 'static> SampleDraw<E> {
    pub fn new(initial: E) -> Self {
        Self {
            initial,
            rng: Rng::new(0),
            delays_left: 0,
            path: Vec::new(),
            points: 0,
            latest: None,
            replaying: None,
            candidates: 0,
            pick: None,
            picked_here: false,
        }
    }

    /// Begins an execution from the start, without delays. No other execution follows.
    pub fn without_delay(&mut self) {
        self.delays_left = 0;
        self.path.clear();
        self.points = 0;
        self.latest = None;
        self.replaying = None;
        self.candidates = 0;
        self.pick = None;
        self.picked_here = false;
    }

    /// Begins a sample with an execution that continues from an entry. `delays_left` delays are added to it.
    pub fn begin_at_entry(&mut self, entry: FrontierEntry, delays_left: u32, rng: Rng) {
        self.without_delay();
        self.replaying = Some(entry);
        (self.delays_left, self.rng) = (delays_left, rng);
    }

    /// Begins a sample with so many delays. The first delay is at one of `picks`, points of an execution with this path.
    pub fn begin_at_one_of(&mut self, picks: &[Pick<E>], path: &[Choice], delays: u32, mut rng: Rng) {
        let which = rng.below(u32::try_from(picks.len()).expect("raddle bug: more than 2^32 points"));
        let pick = picks[which as usize].clone();
        (self.delays_left, self.rng) = (delays, rng);
        self.path.clear();
        self.path.extend_from_slice(&path[..pick.depth]);
        self.deviate(pick);
    }

    /// Begins the next execution of the sample. Returns false if there is none.
    pub fn begin_next(&mut self) -> bool {
        let pick = self.pick.take();
        let has_next = pick.is_some();
        pick.into_iter().for_each(|pick| self.deviate(pick));
        has_next
    }

    /// True if the sample has another execution.
    pub fn has_next(&self) -> bool {
        self.pick.is_some()
    }

    /// The choices shared with the previous execution, and the choice after the delay.
    pub fn path(&self) -> &[Choice] {
        &self.path
    }

    /// The number of points with more than one alternative in this execution, so far.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// The number of delays in this execution, so far.
    pub fn delays(&self) -> u32 {
        self.latest.as_ref().map_or(0, |level| level.total)
    }

    /// True if the next delay would be at the latest point.
    pub fn picked_here(&self) -> bool {
        self.picked_here
    }

    /// The latest point, if one more delay is possible there.
    pub fn open_here(&self) -> Option<Pick<E>> {
        let level = self.latest.as_ref().filter(|level| level.has_more())?;
        Some(Pick { depth: self.path.len() - 1, points: self.points, level: level.clone() })
    }

    /// Decides at a point.
    pub fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Choice {
        let before = self.latest.as_ref();
        let explorer = Delay::explorer_here(&self.initial, before, at, so_far);
        let mut level = DelayLevel::new(at, explorer, so_far.len(), before);
        self.points += u32::from(at.alternatives() > 1);
        let begun = self.replaying.as_ref().is_none_or(|entry| entry.steer(self.path.len(), &mut level));
        if begun {
            self.replaying = None;
        }
        self.picked_here = begun && self.offer(&level);
        let choice = Choice(level.choice());
        self.path.push(choice);
        self.latest = Some(level);
        choice
    }

    fn deviate(&mut self, pick: Pick<E>) {
        let Pick { depth, points, mut level } = pick;
        self.path.truncate(depth);
        self.points = points;
        self.delays_left -= 1;
        self.candidates = 0;
        level.delay();
        self.picked_here = self.offer(&level);
        self.path.push(Choice(level.choice()));
        self.latest = Some(level);
    }

    /// Considers a level for the next delay. Returns whether it is the current candidate.
    fn offer(&mut self, level: &DelayLevel<E>) -> bool {
        if self.delays_left == 0 || !level.has_more() {
            return false;
        }
        self.candidates += 1;
        let drawn = self.rng.below(self.candidates) == 0;
        if drawn {
            self.pick = Some(Pick { depth: self.path.len(), points: self.points, level: level.clone() });
        }
        drawn
    }
}

impl FrontierEntry {
    /// Makes a level, `depth` choices after the start, follow the entry. Returns whether the entry ends there.
    fn steer<E: DelayingExplorer>(&self, depth: usize, level: &mut DelayLevel<E>) -> bool {
        let wanted = self.path.get(depth);
        let short = |level: &DelayLevel<E>| match wanted {
            Some(choice) => level.choice() != *choice,
            None => level.rank <= self.rank,
        };
        while short(level) && level.has_more() {
            level.delay();
        }
        wanted.is_none()
    }
}
