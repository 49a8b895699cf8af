//! How several workers share a stratum: a part of it as data.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};
use serde::{Deserialize, Serialize};

use super::frontier::{DelayFrontier, FrontierEntry};
use super::hybrid::FIRST_SAMPLE_STAGE;
use super::{Delay, DelayingExplorer};
use crate::format::{self, Format};

/// A part of a stratum.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DelayPiece {
    pub(super) stratum: u32,
    /// Nothing was run yet.
    pub(super) whole: bool,
    pub(super) frontier: DelayFrontier,
    /// Some alternative of a later stratum was not stored.
    pub(super) dropped_some: bool,
    /// For [sampling](super::DelayHybrid): how many samples of this round were drawn.
    pub(super) drawn: u64,
}

impl DelayPiece {
    pub(super) fn write(&self) -> Piece {
        format::part(self.stratum, self)
    }

    /// Reads a piece. [`Piece::Whole`] is the first stratum.
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
        self.stratum < u32::MAX && self.frontier.is_sound()
    }
}

/// A block of deferred paths is closed when it has reached this size.
const BLOCK_BYTES: usize = 16 << 10;

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    fn piece(&self, stratum: u32, frontier: DelayFrontier) -> Piece {
        let dropped_some = self.dropped_some && stratum == self.stratum;
        DelayPiece { stratum, frontier, dropped_some, ..DelayPiece::default() }.write()
    }

    /// A copy for another worker, without work.
    pub(super) fn copy_for_worker(&self) -> Self {
        let visited = self.visited.copy();
        Self { visited, most: self.most, width: self.width, ..Self::new(self.initial.clone()) }
    }

    /// True if the next execution is the first of all.
    pub(super) fn is_at_first_execution(&self) -> bool {
        self.path_ready && self.levels.is_empty() && self.replaying.is_none()
    }

    /// The entry for what is left at a level of the path.
    fn entry(&self, depth: usize, rank: u32, total: u32) -> FrontierEntry {
        FrontierEntry { path: self.levels[..depth].iter().map(super::DelayLevel::choice).collect(), rank, total }
    }

    /// Defers what is left along the path, from level `from` on, to a later stratum.
    pub(super) fn defer_from(&mut self, from: usize) {
        if self.levels[from..].iter().all(|level| !level.own || !level.has_more()) {
            return;
        }
        if self.stratum >= self.last_stratum() || self.deferred_bytes > self.max_deferred_bytes {
            self.dropped_some = true;
            return;
        }
        let entry: Vec<_> = self
            .levels
            .iter()
            .map(|level| (level.choice(), (level.own && level.has_more()).then_some((level.rank, level.total + 1))))
            .collect();
        if self.deferred.last().is_none_or(|block| block.bytes() >= BLOCK_BYTES) {
            self.deferred.push(DelayFrontier::default());
        }
        let block = self.deferred.last_mut().expect("there is one now");
        self.deferred_bytes -= block.bytes();
        block.add(&entry, from);
        self.deferred_bytes += block.bytes();
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> ByPiece for Delay<E> {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(self.copy_for_worker())
    }

    fn understands(&self, piece: &Piece) -> bool {
        DelayPiece::read(piece).is_some_and(|piece| piece.stratum < FIRST_SAMPLE_STAGE)
    }

    fn place(&mut self, piece: Piece) {
        let read = DelayPiece::read(&piece).expect("raddle bug: a piece of another strategy");
        let DelayPiece { stratum, whole, frontier, dropped_some, .. } = read;
        self.stratum = stratum;
        self.remaining = frontier;
        self.dropped_some = dropped_some;
        self.levels.clear();
        self.fixed = 0;
        self.deferred.clear();
        self.deferred_bytes = 0;
        self.path_ready = whole;
        self.replaying = None;
    }

    fn give(&mut self) -> Option<Piece> {
        if !self.path_ready && !self.advance() {
            return None;
        }
        if let Some(frontier) = self.remaining.split() {
            return Some(self.piece(self.stratum, frontier));
        }
        if self.replaying.is_some() {
            return None;
        }
        // This worker itself continues at the last level.
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
        let mut frontier = DelayFrontier::default();
        frontier.add_entry(&entry);
        Some(self.piece(self.stratum, frontier))
    }

    fn rest(&mut self) -> Option<Piece> {
        if !self.path_ready && !self.advance() {
            return None;
        }
        let mut frontier = self.remaining.clone();
        if let Some(entry) = &self.replaying {
            frontier.add_entry(entry);
        } else if self.levels.is_empty() {
            // The first execution of all.
            return Some(Piece::Whole);
        } else {
            let last = self.levels.len() - 1;
            let at = &self.levels[last];
            frontier.add_entry(&self.entry(last, at.rank - 1, at.total));
            for depth in self.fixed..last {
                let level = &self.levels[depth];
                if level.own && level.has_more() {
                    frontier.add_entry(&self.entry(depth, level.rank, level.total + 1));
                }
            }
        }
        Some(self.piece(self.stratum, frontier))
    }

    fn take_later(&mut self) -> Vec<Piece> {
        self.visited.commit();
        self.deferred_bytes = 0;
        let later = std::mem::take(&mut self.deferred);
        let close = |mut block: DelayFrontier| {
            block.close();
            self.piece(self.stratum + 1, block)
        };
        later.into_iter().map(close).collect()
    }

    fn revert(&mut self) {
        self.visited.discard_uncommitted();
    }

    fn claim(&self) -> Claim {
        if self.dropped_some {
            Claim::Bounded(Bound { most: self.bound(), unit: Unit::Delay })
        } else {
            Claim::Exhausted
        }
    }
}
