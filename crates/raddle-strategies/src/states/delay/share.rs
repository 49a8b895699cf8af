//! A stratum by several workers: what one of them has to do, as data.

use serde::{Deserialize, Serialize};

use super::frontier::{Entry, Frontier};
use super::hybrid::SAMPLES;
use super::{Delay, DelayingExplorer};
use crate::format::{self, Format};
use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};

/// A part of a stratum.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DelayPiece {
    pub(super) stratum: u32,
    /// Nothing was run yet.
    pub(super) whole: bool,
    pub(super) left: Frontier,
    /// Something of a later stratum was not kept.
    pub(super) left_out: bool,
    /// Where the ways are [sampled](super::DelayHybrid): samples of this round that were drawn.
    pub(super) drawn: u64,
}

impl DelayPiece {
    pub(super) fn write(&self) -> Piece {
        format::part(self.stratum, self)
    }

    /// What a piece stands for; the whole is one, too.
    pub(super) fn read(piece: &Piece) -> Option<Self> {
        match piece {
            Piece::Whole => Some(Self { whole: true, ..Self::default() }),
            piece => format::read_part(piece).filter(|read: &Self| read.stratum == piece.stage()),
        }
    }
}

impl Format for DelayPiece {
    const NAME: &'static str = "delay 1";

    fn is_sound(&self) -> bool {
        self.stratum < u32::MAX && self.left.is_sound()
    }
}

/// A block of what comes later is closed when it has grown to this.
const BLOCK_BYTES: usize = 16 << 10;

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    fn piece(&self, stratum: u32, left: Frontier) -> Piece {
        let left_out = self.left_out && stratum == self.stratum;
        DelayPiece { stratum, left, left_out, ..DelayPiece::default() }.write()
    }

    /// The same for another worker, with nothing to do.
    pub(super) fn for_another(&self) -> Self {
        let visited = self.visited.copy();
        Self { visited, most: self.most, width: self.width, ..Self::new(self.first.clone()) }
    }

    /// Whether the first execution of all is what comes next.
    pub(super) fn is_at_first(&self) -> bool {
        self.placed && self.levels.is_empty() && self.following.is_none()
    }

    /// What is left at a level of the way.
    fn entry(&self, depth: usize, rank: u32, total: u32) -> Entry {
        Entry { path: self.levels[..depth].iter().map(super::Level::choice).collect(), rank, total }
    }

    /// Keeps the way for a later stratum: what is left along it from level `from` on.
    pub(super) fn put_off_from(&mut self, from: usize) {
        if self.levels[from..].iter().all(|level| !level.own || !level.has_more()) {
            return;
        }
        if self.stratum >= self.last_stratum() || self.later_bytes > self.room {
            self.left_out = true;
            return;
        }
        let way: Vec<_> = self
            .levels
            .iter()
            .map(|level| (level.choice(), (level.own && level.has_more()).then_some((level.rank, level.total + 1))))
            .collect();
        if self.later.last().is_none_or(|block| block.bytes() >= BLOCK_BYTES) {
            self.later.push(Frontier::default());
        }
        let block = self.later.last_mut().expect("there is one now");
        self.later_bytes -= block.bytes();
        block.add(&way, from);
        self.later_bytes += block.bytes();
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> ByPiece for Delay<E> {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(self.for_another())
    }

    fn understands(&self, piece: &Piece) -> bool {
        DelayPiece::read(piece).is_some_and(|piece| piece.stratum < SAMPLES)
    }

    fn place(&mut self, piece: Piece) {
        let read = DelayPiece::read(&piece).expect("raddle bug: a piece of another strategy");
        let DelayPiece { stratum, whole, left, left_out, .. } = read;
        self.stratum = stratum;
        self.now = left;
        self.left_out = left_out;
        self.levels.clear();
        self.fixed = 0;
        self.later.clear();
        self.later_bytes = 0;
        self.placed = whole;
        self.following = None;
    }

    fn give(&mut self) -> Option<Piece> {
        if !self.placed && !self.advance() {
            return None;
        }
        if let Some(left) = self.now.split() {
            return Some(self.piece(self.stratum, left));
        }
        if self.following.is_some() {
            return None;
        }
        // The last level is where this worker goes on itself.
        let bound = self.bound();
        let last = self.levels.len().saturating_sub(1);
        let open = |at: &usize| {
            let level = &self.levels[*at];
            level.own && level.has_more() && level.total < bound
        };
        let at = (self.fixed..last).find(open)?;
        let (rank, total) = (self.levels[at].rank, self.levels[at].total + 1);
        let entry = self.entry(at, rank, total);
        self.levels[at].own = false;
        let mut left = Frontier::default();
        left.add_entry(&entry);
        Some(self.piece(self.stratum, left))
    }

    fn rest(&mut self) -> Option<Piece> {
        if !self.placed && !self.advance() {
            return None;
        }
        let mut left = self.now.clone();
        if let Some(entry) = &self.following {
            left.add_entry(entry);
        } else if self.levels.is_empty() {
            // The first execution of all.
            return Some(Piece::Whole);
        } else {
            let last = self.levels.len() - 1;
            let at = &self.levels[last];
            left.add_entry(&self.entry(last, at.rank - 1, at.total));
            for depth in self.fixed..last {
                let level = &self.levels[depth];
                if level.own && level.has_more() {
                    left.add_entry(&self.entry(depth, level.rank, level.total + 1));
                }
            }
        }
        Some(self.piece(self.stratum, left))
    }

    fn take_later(&mut self) -> Vec<Piece> {
        self.visited.commit();
        self.later_bytes = 0;
        let later = std::mem::take(&mut self.later);
        let close = |mut block: Frontier| {
            block.close();
            self.piece(self.stratum + 1, block)
        };
        later.into_iter().map(close).collect()
    }

    fn revert(&mut self) {
        self.visited.lose();
    }

    fn claim(&self) -> Claim {
        if self.left_out { Claim::Bounded(Bound { most: self.bound(), unit: Unit::Delay }) } else { Claim::Exhausted }
    }
}
