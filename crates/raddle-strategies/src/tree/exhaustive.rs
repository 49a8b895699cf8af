//! All executions, by the tree of decisions: a node is a point, an edge a choice, a leaf an execution. Never walks a branch
//! twice, and knows when none is left.
//!
//! Depth-first order stores only the current path, so its memory does not grow with the number of executions. Random order draws
//! uniformly among the unexplored children of every node. Breadth-first order takes the shallowest unexplored branch. Both store all
//! unexplored branches, and drop a subtree as soon as it is done.

mod breadth_first;
mod depth_first;
mod random;

use raddle_engine::estimate::{Branching, Estimate, Subtrees};
use raddle_engine::piece::Piece;
use raddle_engine::strategy::{
    After, Bound, ByPiece, Capabilities, Claim, Decision, Needs, Next, Run, Sharing, Start, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use serde::{Deserialize, Serialize};

use self::breadth_first::BfsFrontier;
pub(crate) use self::depth_first::Path;
use self::random::Tree;
use crate::format::{self, Format};

/// Runs all executions, one after another.
#[derive(Debug)]
pub struct Exhaustive {
    order: Order,
    /// See [`deviations`](Self::deviations).
    bound: Option<u32>,
    /// The cost of the choices so far.
    cost: u32,
    /// Some alternative was dropped because of the bound.
    hit_bound: bool,
}

#[derive(Debug)]
enum Order {
    DepthFirst(Path),
    BreadthFirst(BfsFrontier),
    Random(Tree),
}

impl Exhaustive {
    /// In depth-first order.
    #[must_use]
    pub fn depth_first() -> Self {
        Self::new(Order::DepthFirst(Path::default()))
    }

    /// The branch that leaves the explored ones nearest to the root comes next.
    #[must_use]
    pub fn breadth_first() -> Self {
        Self::new(Order::BreadthFirst(BfsFrontier::default()))
    }

    /// At every node, each child that is not yet done is equally likely.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self::new(Order::Random(Tree::new(seed)))
    }

    /// Bounds the distance from the first execution: the k-th alternative of a point, counted from 0, costs k. The sum of the costs along an
    /// execution is at most `most`.
    #[must_use]
    pub fn deviations(self, most: u32) -> Self {
        Self { bound: Some(most), ..self }
    }

    fn new(order: Order) -> Self {
        Self { order, bound: None, cost: 0, hit_bound: false }
    }
}

impl Strategy for Exhaustive {
    fn needs(&self) -> Needs {
        Needs::exhaustive("exhaustive")
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if let (Order::DepthFirst(path), None) = (&mut self.order, self.bound)
            && let Some(backtrack) = path.backtrack_to()
        {
            return Next::Run(Start { backtrack: Some(backtrack), ..Start::with_seed(0) });
        }
        let more = match &mut self.order {
            Order::DepthFirst(path) => path.begin(prefix),
            Order::BreadthFirst(frontier) => frontier.begin(prefix),
            Order::Random(tree) => tree.begin(prefix),
        };
        self.cost = prefix.iter().fold(0, |cost, choice| cost.saturating_add(choice.0));
        if more { Next::run(0) } else { Next::Done(self.claim()) }
    }

    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        let all = at.alternatives();
        let alternatives = self.bound.map_or(all, |bound| all.min(bound.saturating_sub(self.cost).saturating_add(1)));
        self.hit_bound |= alternatives < all;
        let choice = match &mut self.order {
            Order::DepthFirst(path) => path.choose(alternatives),
            Order::BreadthFirst(frontier) => frontier.choose(alternatives),
            Order::Random(tree) => tree.choose(alternatives),
        };
        self.cost = self.cost.saturating_add(choice.0);
        Decision::Take(choice)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        match &mut self.order {
            Order::DepthFirst(path) => path.end(run.choices),
            Order::Random(tree) => tree.end(),
            Order::BreadthFirst(_) => {}
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Exhaustive {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Exhaustive {
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
}

impl ByPiece for Exhaustive {
    fn copy(&self) -> Box<dyn Strategy> {
        let order = match &self.order {
            Order::DepthFirst(_) => Order::DepthFirst(Path::default()),
            Order::BreadthFirst(_) => Order::BreadthFirst(BfsFrontier::default()),
            Order::Random(tree) => Order::Random(tree.copy_for_worker()),
        };
        Box::new(Self { bound: self.bound, ..Self::new(order) })
    }

    fn understands(&self, piece: &Piece) -> bool {
        DfsPiece::read(piece).is_some()
    }

    fn place(&mut self, piece: Piece) {
        let subtrees = DfsPiece::read(&piece).expect("raddle bug: a piece of another strategy").subtrees;
        match &mut self.order {
            Order::DepthFirst(path) => path.place(subtrees),
            Order::BreadthFirst(frontier) => frontier.place(subtrees),
            Order::Random(tree) => tree.place(subtrees),
        }
    }

    fn give(&mut self) -> Option<Piece> {
        DfsPiece::write(match &mut self.order {
            Order::DepthFirst(path) => path.give(),
            Order::BreadthFirst(frontier) => frontier.give(),
            Order::Random(tree) => tree.give(),
        })
    }

    fn rest(&mut self) -> Option<Piece> {
        DfsPiece::write(match &mut self.order {
            Order::DepthFirst(path) => path.rest(),
            Order::BreadthFirst(frontier) => frontier.rest(),
            Order::Random(tree) => tree.rest(),
        })
    }

    fn claim(&self) -> Claim {
        match self.bound.filter(|_| self.hit_bound) {
            Some(most) => Claim::Bounded(Bound { most, unit: Unit::Deviation }),
            None => Claim::Exhausted,
        }
    }

    fn may_precede(&self, choices: &[Choice]) -> bool {
        matches!(&self.order, Order::DepthFirst(path) if path.may_precede(choices))
    }
}

/// Parts of the tree that are not done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DfsPiece {
    pub(crate) subtrees: Vec<DfsSubtree>,
}

impl DfsPiece {
    /// Writes the parts as a piece; `None` if there are none.
    pub(crate) fn write(subtrees: Vec<DfsSubtree>) -> Option<Piece> {
        (!subtrees.is_empty()).then(|| format::part(0, &Self { subtrees }))
    }

    /// Reads the parts of a piece. [`Piece::Whole`] is the whole tree.
    pub(crate) fn read(piece: &Piece) -> Option<Self> {
        match piece {
            Piece::Whole => Some(Self { subtrees: vec![DfsSubtree::default()] }),
            piece => format::read_part(piece),
        }
    }
}

impl Format for DfsPiece {
    const NAME: &'static str = "tree 1";

    fn is_sound(&self) -> bool {
        let fits = |level: &Level| level.choice < level.end && level.end <= level.alternatives;
        self.subtrees.iter().all(|subtree| subtree.fixed <= subtree.levels.len() && subtree.levels.iter().all(fits))
    }
}

/// One part of the tree: the path that is walked next, and the later alternatives at its levels, without those at the first `fixed` levels.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DfsSubtree {
    levels: Vec<Level>,
    /// At so many levels, from the root, no other alternative is part of it.
    fixed: usize,
}

/// The choice at a level, and the number of alternatives. Alternatives before the choice are done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Level {
    choice: u32,
    /// The first alternative that is not part of this piece.
    end: u32,
    alternatives: u32,
    /// The sizes of the subtrees that are done.
    #[serde(skip)]
    done: Subtrees,
}

impl Level {
    fn new(choice: u32, alternatives: u32) -> Self {
        Self { choice, end: alternatives, alternatives, done: Subtrees::default() }
    }
}

/// True if the path comes before the choices in depth-first order, or leads to them.
fn precedes(levels: &[Level], choices: &[Choice]) -> bool {
    levels.iter().map(|level| level.choice).le(choices.iter().map(|choice| choice.0))
}
