//! The decision tree (seed 003, ALGORITHMS.md §1): a node is a point, an edge a choice, a leaf an execution. Never walks a
//! branch twice, and knows when none is left.
//!
//! Depth-first keeps only the path it is on, so its memory does not grow with the number of executions. The random order
//! draws uniformly among the unexplored children of every node, breadth-first takes the shallowest open branch; both keep
//! what is open, and drop a subtree as soon as it is done.

mod breadth_first;
mod depth_first;
mod random;

use serde::{Deserialize, Serialize};

use self::breadth_first::Frontier;
pub(super) use self::depth_first::Path;
use self::random::Tree;
use crate::estimate::{Branching, Estimate, Subtrees};
use crate::piece::Piece;
use crate::strategy::{Bound, ByPiece, Claim, Decision, Given, Next, Run, Sharing, Strategy, Unit};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// All orders, one after another.
#[derive(Debug)]
pub struct Exhaustive {
    order: Order,
    /// See [`deviations`](Self::deviations).
    bound: Option<u32>,
    /// What the choices so far have cost.
    cost: u32,
    /// Something was left out because of the bound.
    cut: bool,
}

#[derive(Debug)]
enum Order {
    DepthFirst(Path),
    BreadthFirst(Frontier),
    Random(Tree),
}

impl Exhaustive {
    /// In the order of the tree's branches.
    #[must_use]
    pub fn depth_first() -> Self {
        Self::new(Order::DepthFirst(Path::default()))
    }

    /// The branch that leaves the explored ones nearest to the root comes next.
    #[must_use]
    pub fn breadth_first() -> Self {
        Self::new(Order::BreadthFirst(Frontier::default()))
    }

    /// At every node, each child that is not yet done is equally likely.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self::new(Order::Random(Tree::new(seed)))
    }

    /// Leaves out what strays further than this from the first order: the k-th alternative of a point, counted from 0, costs k,
    /// and the sum along an execution is at most `most`.
    #[must_use]
    pub fn deviations(self, most: u32) -> Self {
        Self { bound: Some(most), ..self }
    }

    fn new(order: Order) -> Self {
        Self { order, bound: None, cost: 0, cut: false }
    }
}

impl Strategy for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let more = match &mut self.order {
            Order::DepthFirst(path) => path.begin(prefix),
            Order::BreadthFirst(frontier) => frontier.begin(prefix),
            Order::Random(tree) => tree.begin(prefix),
        };
        self.cost = prefix.iter().fold(0, |cost, choice| cost.saturating_add(choice.0));
        if more { Next::Run { seed: 0 } } else { Next::Done(self.claim()) }
    }

    fn branch_off(&mut self, within: usize) -> Option<(usize, Choice)> {
        match &mut self.order {
            Order::DepthFirst(path) if self.bound.is_none() => path.branch_off(within),
            _ => None,
        }
    }

    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        let all = at.alternatives();
        let alternatives = self.bound.map_or(all, |bound| all.min(bound.saturating_sub(self.cost).saturating_add(1)));
        self.cut |= alternatives < all;
        let choice = match &mut self.order {
            Order::DepthFirst(path) => path.choose(alternatives),
            Order::BreadthFirst(frontier) => frontier.choose(alternatives),
            Order::Random(tree) => tree.choose(alternatives),
        };
        self.cost = self.cost.saturating_add(choice.0);
        Decision::Take(choice)
    }

    fn end(&mut self, _: &Run<'_>) {
        if let Order::Random(tree) = &mut self.order {
            tree.end();
        }
    }

    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        let Order::DepthFirst(path) = &self.order else { return false };
        branch.extend(path.levels().iter().map(|level| Branching { done: level.choice, all: level.alternatives }));
        true
    }

    fn estimate(&self) -> Option<Estimate> {
        match &self.order {
            Order::DepthFirst(path) => Some(Estimate { orders: path.leaves(), error: None }),
            Order::Random(tree) => tree.leaves().map(|orders| Estimate { orders, error: None }),
            Order::BreadthFirst(_) => None,
        }
    }

    fn bound_deviations(&mut self, most: u32) -> bool {
        self.bound = Some(most);
        true
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn revisits(&self) -> bool {
        true
    }
}

impl ByPiece for Exhaustive {
    fn copy(&self) -> Box<dyn Strategy> {
        let order = match &self.order {
            Order::DepthFirst(_) => Order::DepthFirst(Path::default()),
            Order::BreadthFirst(_) => Order::BreadthFirst(Frontier::default()),
            Order::Random(tree) => Order::Random(tree.fresh()),
        };
        Box::new(Self { bound: self.bound, ..Self::new(order) })
    }

    fn takes(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Whole | Piece::Boughs(_))
    }

    fn place(&mut self, piece: Piece) {
        let boughs = match piece {
            Piece::Boughs(boughs) => boughs.into_boughs(),
            _ => vec![Bough::default()],
        };
        match &mut self.order {
            Order::DepthFirst(path) => path.place(boughs),
            Order::BreadthFirst(frontier) => frontier.place(boughs),
            Order::Random(tree) => tree.place(boughs),
        }
    }

    fn give(&mut self) -> Given {
        let boughs = match &mut self.order {
            Order::DepthFirst(path) => path.give(),
            Order::BreadthFirst(frontier) => frontier.give(),
            Order::Random(tree) => tree.give(),
        };
        if boughs.is_empty() { Given::Nothing } else { Given::Pieces(vec![self.piece(boughs)]) }
    }

    fn rest(&mut self) -> Option<Piece> {
        let boughs = match &mut self.order {
            Order::DepthFirst(path) => path.rest(),
            Order::BreadthFirst(frontier) => frontier.rest(),
            Order::Random(tree) => tree.rest(),
        };
        (!boughs.is_empty()).then(|| self.piece(boughs))
    }

    fn claim(&self) -> Claim {
        match self.bound.filter(|_| self.cut) {
            Some(most) => Claim::Bounded(Bound { most, unit: Unit::Deviation }),
            None => Claim::Exhausted,
        }
    }

    fn may_precede(&self, choices: &[Choice]) -> bool {
        matches!(&self.order, Order::DepthFirst(path) if path.may_precede(choices))
    }
}

impl Exhaustive {
    fn piece(&self, boughs: Vec<Bough>) -> Piece {
        Piece::Boughs(Boughs { boughs, in_order: matches!(self.order, Order::DepthFirst(_)) })
    }
}

/// Parts of the tree that are not done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Boughs {
    boughs: Vec<Bough>,
    /// They are walked in the order of the tree's branches.
    in_order: bool,
}

impl Boughs {
    /// Parts that are not walked in any order that matters.
    pub(super) fn in_any_order(boughs: Vec<Bough>) -> Self {
        Self { boughs, in_order: false }
    }

    pub(super) fn into_boughs(self) -> Vec<Bough> {
        self.boughs
    }

    pub(crate) fn is_sound(&self) -> bool {
        let fits = |level: &Level| level.choice < level.end && level.end <= level.alternatives;
        self.boughs.iter().all(|bough| bough.frozen <= bough.levels.len() && bough.levels.iter().all(fits))
    }

    /// See [`ByPiece::may_precede`].
    pub(crate) fn may_precede(&self, choices: &[Choice]) -> bool {
        self.in_order && self.boughs.iter().any(|bough| precedes(&bough.levels, choices))
    }
}

/// One part of the tree: the path that is walked next, and with it what comes after it at the levels that are not frozen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bough {
    levels: Vec<Level>,
    /// At so many levels, from the root, nothing else is part of it.
    frozen: usize,
}

/// What was chosen at a level, out of how many. What comes before the choice is done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Level {
    choice: u32,
    /// The first choice that is not part of this piece.
    end: u32,
    alternatives: u32,
    /// What lies below the choices that are done.
    #[serde(skip)]
    done: Subtrees,
}

impl Level {
    fn new(choice: u32, alternatives: u32) -> Self {
        Self { choice, end: alternatives, alternatives, done: Subtrees::default() }
    }
}

/// Whether the path comes before the choices in the order of branches, or is on the way to them.
fn precedes(levels: &[Level], choices: &[Choice]) -> bool {
    levels.iter().map(|level| level.choice).le(choices.iter().map(|choice| choice.0))
}
