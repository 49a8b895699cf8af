//! What is left of a subtree, as data; and what a guided search needs to take turns between subtrees.

use serde::{Deserialize, Serialize};

use super::path::Node;
use super::plan::Plan;
use super::wakeup::{Branch, Item};
use super::{Dpor, RaceGuide};
use crate::format::{self, Format};
use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};
use raddle_engine::system::Choice;

/// A part of the tree: the path that is to be run next, and what is left along it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subtree {
    pub(super) path: Vec<Node>,
    /// How many levels lie above: what is left there is not part of it.
    pub(super) frozen: usize,
    /// What is to be run beyond the path.
    pub(super) beyond: Vec<Branch>,
    /// What the event at the last frozen level touches is not known above yet.
    pub(super) fresh: bool,
    /// The choices of its first execution, as far as they are given.
    pub(super) script: Vec<Choice>,
}

impl Subtree {
    /// Everything, begun with an execution that goes this way.
    pub(crate) fn along(script: Vec<Choice>) -> Self {
        Self { script, ..Self::default() }
    }

    /// What leads from the level above to this piece.
    pub(crate) fn taken(&self) -> u32 {
        self.frozen.checked_sub(1).map_or(0, |above| self.path[above].taken)
    }

    /// How many levels lie above.
    pub(crate) fn frozen(&self) -> usize {
        self.frozen
    }

    pub(crate) fn is_untold(&self) -> bool {
        self.fresh
    }
}

impl Format for Subtree {
    const NAME: &'static str = "subtree 1";

    fn is_sound(&self) -> bool {
        let told = !self.fresh || self.frozen > 0;
        told && self.frozen <= self.path.len()
            && self.path.iter().all(Node::is_sound)
            && self.beyond.iter().all(Branch::is_sound)
    }
}

/// The levels between a piece's frozen ones and what its worker goes on with, from above.
#[derive(Debug)]
pub(crate) struct Levels {
    /// What is run above them to come there, and its rank.
    pub(super) via: (u32, u32),
    /// The event above them, without what its values touch, if it has not been told.
    pub(super) above: Option<Item>,
    pub(super) nodes: Vec<Level>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Level {
    pub node: Node,
    /// The event that the worker took there.
    pub item: Item,
    /// The event asks for a value, and what all its values touch, which counts for it, is not known before all are done.
    pub asks: bool,
}

/// What those above a piece must hear of.
#[derive(Debug, Default)]
pub(crate) struct PlansForAncestors {
    /// The event at the last frozen level.
    pub(crate) first: Option<Item>,
    /// What is to be run at levels above, by depth.
    pub(crate) plans: Vec<(usize, Plan)>,
}

impl<G: RaceGuide> Dpor<G> {
    /// Whether the event at node `at` asked for a value.
    fn asks(&self, at: usize) -> bool {
        self.nodes.get(at + 1).is_some_and(Node::gives_value)
    }

    /// How many events of the latest execution a path begins with, as far as that is of use: what the races among them have led to
    /// depends on what sleeps, but for a guided search, where nothing does.
    fn common_with(&self, path: &[Node]) -> usize {
        if self.guide.is_none() {
            return 0;
        }
        let is_same = |at: &usize| {
            let event = self.events.get(*at);
            (event.task, event.label) == path[*at].current()
        };
        let len = path.len().min(self.events.len()).min(self.before.len());
        let mut common = (0..len).take_while(is_same).count();
        // What is done with a value counts for its question.
        while common > 0 && path.get(common).is_none_or(Node::gives_value) {
            common -= 1;
        }
        common
    }

    /// Makes sure that the path is the one to be run next; no if nothing is left.
    pub(super) fn place_next(&mut self) -> bool {
        if !self.placed {
            if !self.advance() {
                self.exhausted = true;
                return false;
            }
            self.fresh = self.nodes.len() - 1;
            self.placed = true;
        }
        true
    }

    /// Takes up a subtree.
    pub(crate) fn place_subtree(&mut self, subtree: Subtree) {
        let Subtree { path, frozen, beyond, fresh, script } = subtree;
        let kept = self.common_with(&path);
        self.fresh = path.len().saturating_sub(1);
        self.nodes = path;
        self.frozen = frozen;
        self.beyond = beyond;
        self.untold = fresh;
        self.script = script;
        self.placed = true;
        self.exhausted = false;
        self.plans = PlansForAncestors::default();
        self.told.clear();
        self.keep(kept);
    }

    /// What is to be run above this subtree, as far as it was not asked for before.
    pub(crate) fn take_plans(&mut self) -> PlansForAncestors {
        if self.untold && self.events.len() >= self.frozen && (self.exhausted || !self.asks(self.frozen - 1)) {
            self.untold = false;
            self.plans.first = Some(self.nodes[self.frozen - 1].done(&self.events, self.frozen - 1));
        }
        std::mem::take(&mut self.plans)
    }

    /// The levels down to the first at which something is left to run; this search goes on below them. `None` if there is none.
    pub(crate) fn give_levels(&mut self) -> Option<Levels> {
        if self.placed {
            return None;
        }
        let run = self.nodes.len().min(self.events.len());
        let open = |at: &usize| !self.nodes[*at].tree.is_empty() && !self.asks(*at);
        let open = (self.frozen..run).find(open)?;
        let via = self.frozen.checked_sub(1).map_or((0, 0), |above| (self.nodes[above].taken, self.nodes[above].rank));
        let level = |at: usize| {
            let node = Node { given: Vec::new(), ..self.nodes[at].clone() };
            Level { node, item: self.nodes[at].clone().done(&self.events, at), asks: self.asks(at) }
        };
        let nodes = (self.frozen..=open).map(level).collect();
        let above = self.untold.then(|| Item::of(&self.events, self.frozen - 1));
        self.share_what_was_skipped(self.frozen..open + 1);
        self.frozen = open + 1;
        self.untold = false;
        Some(Levels { via, above, nodes })
    }

    /// All that is left; this search does not go on with it.
    pub(crate) fn leave_rest(&mut self) -> Option<Subtree> {
        self.place_next().then(|| Subtree {
            path: std::mem::take(&mut self.nodes),
            frozen: self.frozen,
            beyond: std::mem::take(&mut self.beyond),
            fresh: self.untold,
            script: std::mem::take(&mut self.script),
        })
    }

    /// All that is left.
    pub(crate) fn rest_of_subtree(&mut self) -> Option<Subtree> {
        self.place_next().then(|| Subtree {
            path: self.nodes.clone(),
            frozen: self.frozen,
            beyond: self.beyond.clone(),
            fresh: self.untold,
            script: self.script.clone(),
        })
    }
}

/// One worker does all of it: what a race leads to may be anywhere above.
impl<G: RaceGuide> ByPiece for Dpor<G> {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(Self { mistake: self.mistake, sleeps: self.sleeps, bound: self.bound, ..Self::new(self.algorithm) })
    }

    fn understands(&self, piece: &Piece) -> bool {
        // What lies above another subtree is not here.
        *piece == Piece::Whole || format::read_part(piece).is_some_and(|subtree: Subtree| subtree.frozen == 0)
    }

    fn place(&mut self, piece: Piece) {
        self.place_subtree(match piece {
            Piece::Whole => Subtree::default(),
            piece => format::read_part(&piece).expect("raddle bug: a piece of another strategy"),
        });
    }

    fn give(&mut self) -> Option<Piece> {
        None
    }

    fn splits(&self) -> bool {
        false
    }

    fn rest(&mut self) -> Option<Piece> {
        self.rest_of_subtree().map(|subtree| format::part(0, &subtree))
    }

    fn claim(&self) -> Claim {
        match self.bound.filter(|_| self.cut) {
            Some(most) => Claim::Bounded(Bound { most, unit: Unit::Deviation }),
            None => Claim::Exhausted,
        }
    }
}
