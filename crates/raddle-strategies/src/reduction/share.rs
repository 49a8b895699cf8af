//! The rest of a subtree as data, and what a guided search needs to suspend and resume subtrees.

use raddle_engine::piece::Piece;
use raddle_engine::strategy::{Bound, ByPiece, Claim, Strategy, Unit};
use raddle_engine::system::Choice;
use serde::{Deserialize, Serialize};

use super::item::Item;
use super::path::Node;
use super::plan::Plan;
use super::{Dpor, RaceGuide};
use crate::format::{self, Format};

/// A part of the search tree: the path that is to be run next, and the unexplored alternatives along it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subtree {
    pub(super) path: Vec<Node>,
    /// How many nodes of the path are ancestors. Their unexplored alternatives are not part of the subtree.
    pub(super) ancestors: usize,
    /// The shared tree does not know yet the event at the last ancestor.
    pub(super) first_event_unknown: bool,
    /// Choices that the first execution must follow, as far as they reach.
    pub(super) forced_choices: Vec<Choice>,
}

impl Subtree {
    /// The whole tree, beginning with an execution that follows these choices.
    pub(crate) fn along(forced_choices: Vec<Choice>) -> Self {
        Self { forced_choices, ..Self::default() }
    }

    /// The choice at the last ancestor that leads to this subtree.
    pub(crate) fn taken(&self) -> u32 {
        self.ancestors.checked_sub(1).map_or(0, |above| self.path[above].taken)
    }

    /// How many nodes of the path are ancestors.
    pub(crate) fn ancestors(&self) -> usize {
        self.ancestors
    }

    pub(crate) fn first_event_unknown(&self) -> bool {
        self.first_event_unknown
    }
}

impl Format for Subtree {
    const NAME: &'static str = "subtree 2";

    fn is_sound(&self) -> bool {
        let consistent = !self.first_event_unknown || self.ancestors > 0;
        consistent && self.ancestors <= self.path.len() && self.path.iter().all(Node::is_sound)
    }
}

/// The nodes between a subtree's old ancestors and the part that its worker continues with, from the root downwards.
#[derive(Debug)]
pub(crate) struct Levels {
    /// The choice that leads to them from the node above, and its rank.
    pub(super) entered_by: (u32, u32),
    /// The event at the node above, if the shared tree does not know it.
    pub(super) above: Option<Item>,
    pub(super) nodes: Vec<PublishedLevel>,
}

/// One of these nodes.
#[derive(Debug)]
pub(super) struct PublishedLevel {
    pub node: Node,
    /// The event that the worker took there.
    pub item: Item,
    /// The event asks for a value.
    pub asks: bool,
}

/// What a subtree has to report to its ancestors.
#[derive(Debug, Default)]
pub(crate) struct PlansForAncestors {
    /// The event at the last ancestor.
    pub(crate) first_event: Option<Item>,
    /// Plans for ancestors, with the depth of each.
    pub(crate) plans: Vec<(usize, Plan)>,
}

impl<G: RaceGuide> Dpor<G> {
    /// True if the event at node `at` asked for a value.
    fn asks(&self, at: usize) -> bool {
        self.nodes.get(at + 1).is_some_and(Node::gives_value)
    }

    /// How many events of the latest execution are the same on a path. Only a guided search uses them: otherwise the plans for the races among
    /// them depend on the sleep sets, which a guided search does not have.
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
        // What is done with a value counts for the step that asked for it.
        while common > 0 && path.get(common).is_none_or(Node::gives_value) {
            common -= 1;
        }
        common
    }

    /// Makes sure that `nodes` is the path to be run next. Returns false if nothing is left.
    pub(super) fn place_next(&mut self) -> bool {
        if !self.path_ready {
            if !self.advance() {
                self.exhausted = true;
                return false;
            }
            self.first_new = self.nodes.len() - 1;
            self.path_ready = true;
        }
        true
    }

    /// Continues with a subtree.
    pub(crate) fn place_subtree(&mut self, subtree: Subtree) {
        let Subtree { path, ancestors, first_event_unknown, forced_choices } = subtree;
        let unchanged = self.common_with(&path);
        self.first_new = path.len().saturating_sub(1);
        self.nodes = path;
        self.ancestors = ancestors;
        self.first_event_unknown = first_event_unknown;
        self.forced_choices = forced_choices;
        self.path_ready = true;
        self.exhausted = false;
        self.plans = PlansForAncestors::default();
        self.sent_plans.clear();
        self.retain_events(unchanged);
    }

    /// Returns the plans for ancestors since the latest call.
    pub(crate) fn take_plans(&mut self) -> PlansForAncestors {
        if self.first_event_unknown
            && self.events.len() >= self.ancestors
            && (self.exhausted || !self.asks(self.ancestors - 1))
        {
            self.first_event_unknown = false;
            self.plans.first_event = Some(Item::of(&self.events, self.ancestors - 1));
        }
        std::mem::take(&mut self.plans)
    }

    /// Publishes the nodes down to the first one with unexplored alternatives; this search continues below it. `None` if there is no such node.
    pub(crate) fn give_levels(&mut self) -> Option<Levels> {
        if self.path_ready {
            return None;
        }
        let run = self.nodes.len().min(self.events.len());
        let open = |at: &usize| !self.nodes[*at].backtrack.is_empty() && !self.asks(*at);
        let open = (self.ancestors..run).find(open)?;
        let entered_by =
            self.ancestors.checked_sub(1).map_or((0, 0), |above| (self.nodes[above].taken, self.nodes[above].rank));
        let level = |at: usize| {
            let node = Node { value_touches: Vec::new(), ..self.nodes[at].clone() };
            PublishedLevel { node, item: Item::of(&self.events, at), asks: self.asks(at) }
        };
        let nodes = (self.ancestors..=open).map(level).collect();
        let above = self.first_event_unknown.then(|| Item::of(&self.events, self.ancestors - 1));
        self.share_skipped_paths(self.ancestors..open + 1);
        self.ancestors = open + 1;
        self.first_event_unknown = false;
        Some(Levels { entered_by, above, nodes })
    }

    /// Returns the rest of the subtree, which this search does not continue.
    pub(crate) fn leave_rest(&mut self) -> Option<Subtree> {
        self.place_next().then(|| Subtree {
            path: std::mem::take(&mut self.nodes),
            ancestors: self.ancestors,
            first_event_unknown: self.first_event_unknown,
            forced_choices: std::mem::take(&mut self.forced_choices),
        })
    }

    /// Returns the rest of the subtree.
    pub(crate) fn rest_of_subtree(&mut self) -> Option<Subtree> {
        self.place_next().then(|| Subtree {
            path: self.nodes.clone(),
            ancestors: self.ancestors,
            first_event_unknown: self.first_event_unknown,
            forced_choices: self.forced_choices.clone(),
        })
    }
}

/// One worker runs the whole search, because a race may need a plan at any ancestor.
impl<G: RaceGuide> ByPiece for Dpor<G> {
    fn copy(&self) -> Box<dyn Strategy> {
        Box::new(Self { mistake: self.mistake, sleeps: self.sleeps, bound: self.bound, ..Self::new(self.algorithm) })
    }

    fn understands(&self, piece: &Piece) -> bool {
        // The ancestors of a subtree that was split off are missing here.
        *piece == Piece::Whole || format::read_part(piece).is_some_and(|subtree: Subtree| subtree.ancestors == 0)
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
        if self.has_unproven {
            return Claim::Selective;
        }
        match self.bound.filter(|_| self.hit_bound) {
            Some(most) => Claim::Bounded(Bound { most, unit: Unit::Deviation }),
            None => Claim::Exhausted,
        }
    }
}
