//! One sample: executions that follow one another, each with one delay more than the one before, at a point drawn uniformly among those
//! from the latest delay on.
//!
//! The point is drawn while the execution runs: the n-th one takes the place of the one drawn before with probability 1/n, and
//! only the level that is drawn is kept. Whoever runs the execution can keep a [copy](raddle_engine::strategy::Strategy::comes_back) of
//! the program there.

use super::frontier::Entry;
use super::level::Level;
use super::{Delay, DelayingExplorer};
use raddle_engine::rng::Rng;
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// A point at which one delay more is possible.
#[derive(Clone, Debug)]
pub(super) struct Pick<E> {
    /// How many choices lead there.
    depth: usize,
    /// Points with more than one alternative until there, itself included.
    points: u32,
    level: Level<E>,
}

/// A sample that is being drawn.
#[derive(Debug)]
pub(super) struct Draw<E> {
    /// The explorer as it is before the first step.
    first: E,
    rng: Rng,
    /// Delays that are to be added after this execution.
    more: u32,
    /// Choices at all points of this execution.
    way: Vec<Choice>,
    /// Points with more than one alternative.
    points: u32,
    /// The latest point.
    here: Option<Level<E>>,
    /// What is to be followed before it begins.
    following: Option<Entry>,
    /// Points of this execution at which the next delay can be.
    open: u32,
    pick: Option<Pick<E>>,
    /// It is at the latest point.
    picked_here: bool,
}

impl<E: DelayingExplorer + Clone + Send + 'static> Draw<E> {
    pub fn new(first: E) -> Self {
        Self {
            first,
            rng: Rng::new(0),
            more: 0,
            way: Vec::new(),
            points: 0,
            here: None,
            following: None,
            open: 0,
            pick: None,
            picked_here: false,
        }
    }

    /// An execution from the start, without delays; none follows.
    pub fn without_delay(&mut self) {
        self.more = 0;
        self.way.clear();
        self.points = 0;
        self.here = None;
        self.following = None;
        self.open = 0;
        self.pick = None;
        self.picked_here = false;
    }

    /// A sample that begins with an execution that goes on from an entry; `more` delays are added to that.
    pub fn begin_at_entry(&mut self, entry: Entry, more: u32, rng: Rng) {
        self.without_delay();
        self.following = Some(entry);
        (self.more, self.rng) = (more, rng);
    }

    /// A sample of so many delays, the first of them at one of the points of an execution that went this way.
    pub fn begin_at_one_of(&mut self, picks: &[Pick<E>], way: &[Choice], delays: u32, mut rng: Rng) {
        let which = rng.below(u32::try_from(picks.len()).expect("raddle bug: more than 2^32 points"));
        let pick = picks[which as usize].clone();
        (self.more, self.rng) = (delays, rng);
        self.way.clear();
        self.way.extend_from_slice(&way[..pick.depth]);
        self.deviate(pick);
    }

    /// Goes on to the next execution of the sample; false if there is none.
    pub fn go_on(&mut self) -> bool {
        let pick = self.pick.take();
        let goes_on = pick.is_some();
        pick.into_iter().for_each(|pick| self.deviate(pick));
        goes_on
    }

    /// Whether one more execution belongs to the sample.
    pub fn goes_on(&self) -> bool {
        self.pick.is_some()
    }

    /// What is common to the execution before and this one, and the choice that was delayed to.
    pub fn way(&self) -> &[Choice] {
        &self.way
    }

    /// Points with more than one alternative in this execution, so far.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// Delays in this execution, so far.
    pub fn delays(&self) -> u32 {
        self.here.as_ref().map_or(0, |level| level.total)
    }

    /// Whether the next delay would be at the latest point.
    pub fn picked_here(&self) -> bool {
        self.picked_here
    }

    /// The latest point, if one delay more is possible there.
    pub fn open_here(&self) -> Option<Pick<E>> {
        let level = self.here.as_ref().filter(|level| level.has_more())?;
        Some(Pick { depth: self.way.len() - 1, points: self.points, level: level.clone() })
    }

    /// What is done at a point.
    pub fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Choice {
        let before = self.here.as_ref();
        let explorer = Delay::explorer_here(&self.first, before, at, so_far);
        let mut level = Level::new(at, explorer, so_far.len(), before);
        self.points += u32::from(at.alternatives() > 1);
        let begun = self.following.as_ref().is_none_or(|entry| entry.lead(self.way.len(), &mut level));
        if begun {
            self.following = None;
        }
        self.picked_here = begun && self.offer(&level);
        let choice = Choice(level.choice());
        self.way.push(choice);
        self.here = Some(level);
        choice
    }

    fn deviate(&mut self, pick: Pick<E>) {
        let Pick { depth, points, mut level } = pick;
        self.way.truncate(depth);
        self.points = points;
        self.more -= 1;
        self.open = 0;
        level.delay();
        self.picked_here = self.offer(&level);
        self.way.push(Choice(level.choice()));
        self.here = Some(level);
    }

    /// The next delay may be at this level; whether it would be, as things stand.
    fn offer(&mut self, level: &Level<E>) -> bool {
        if self.more == 0 || !level.has_more() {
            return false;
        }
        self.open += 1;
        let drawn = self.rng.below(self.open) == 0;
        if drawn {
            self.pick = Some(Pick { depth: self.way.len(), points: self.points, level: level.clone() });
        }
        drawn
    }
}

impl Entry {
    /// Leads the way at a level, so many choices after the start; whether this is where it ends.
    fn lead<E: DelayingExplorer>(&self, depth: usize, level: &mut Level<E>) -> bool {
        let wanted = self.path.get(depth);
        let short = |level: &Level<E>| match wanted {
            Some(choice) => level.choice() != *choice,
            None => level.rank <= self.rank,
        };
        while short(level) && level.has_more() {
            level.delay();
        }
        wanted.is_none()
    }
}
