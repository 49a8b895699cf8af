//! The decision tree (seed 003, ALGORITHMS.md §1): a node is a point, an edge a choice, a leaf an execution. Never walks a
//! branch twice, and knows when none is left.
//!
//! Depth-first keeps only the path it is on, so its memory does not grow with the number of executions. The random order
//! draws uniformly among the unexplored children of every node, breadth-first takes the shallowest open branch; both keep
//! what is open, and drop a subtree as soon as it is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::estimate::{Branching, Estimate, Subtrees};
use crate::rng::Rng;
use crate::strategy::{Claim, Decision, Next, Run, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// All orders, one after another.
#[derive(Debug)]
pub struct Exhaustive {
    order: Order,
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
        Self { order: Order::DepthFirst(Path::default()) }
    }

    /// The branch that leaves the explored ones nearest to the root comes next.
    #[must_use]
    pub fn breadth_first() -> Self {
        Self { order: Order::BreadthFirst(Frontier::default()) }
    }

    /// At every node, each child that is not yet done is equally likely.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self { order: Order::Random(Tree::new(seed)) }
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
            Order::Random(tree) => tree.begin(),
        };
        if more { Next::Run { seed: 0 } } else { Next::Done(Claim::Exhausted) }
    }

    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        let alternatives = at.alternatives();
        Decision::Take(match &mut self.order {
            Order::DepthFirst(path) => path.choose(alternatives),
            Order::BreadthFirst(frontier) => frontier.choose(alternatives),
            Order::Random(tree) => tree.choose(alternatives),
        })
    }

    fn end(&mut self, _: &Run<'_>) {
        if let Order::Random(tree) = &mut self.order {
            tree.end();
        }
    }

    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        let Order::DepthFirst(path) = &self.order else { return false };
        branch.extend(path.levels.iter().map(|level| Branching { done: level.choice, all: level.alternatives }));
        true
    }

    fn estimate(&self) -> Option<Estimate> {
        match &self.order {
            Order::DepthFirst(path) => Some(Estimate { orders: path.leaves(), error: None }),
            Order::BreadthFirst(_) | Order::Random(_) => None,
        }
    }

    fn revisits(&self) -> bool {
        true
    }
}

/// The branch being walked: what was chosen at each level, out of how many. What comes before the choice is done.
#[derive(Debug, Default)]
struct Path {
    started: bool,
    levels: Vec<Level>,
    /// How many leaves the whole tree has, once that is known.
    whole: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    choice: u32,
    alternatives: u32,
    /// What lies below the choices that are done.
    done: Subtrees,
}

impl Path {
    fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        if self.started {
            // The leaf just reached is one, and what is full goes up as a subtree.
            let mut leaves = 1.0;
            loop {
                let Some(level) = self.levels.last_mut() else {
                    self.whole.get_or_insert(leaves);
                    return false;
                };
                level.done.add(leaves);
                if level.choice + 1 < level.alternatives {
                    level.choice += 1;
                    break;
                }
                leaves = level.done.leaves(level.alternatives, None);
                self.levels.pop();
            }
        }
        self.started = true;
        prefix.extend(self.levels.iter().map(|level| Choice(level.choice)));
        true
    }

    fn choose(&mut self, alternatives: u32) -> Choice {
        self.levels.push(Level { choice: 0, alternatives, done: Subtrees::default() });
        Choice(0)
    }

    /// How many leaves there seem to be: what is not visited is taken to be like what is.
    fn leaves(&self) -> f64 {
        let above = |below: f64, level: &Level| level.done.leaves(level.alternatives, Some(below));
        self.whole.unwrap_or_else(|| self.levels.iter().rev().fold(1.0, above))
    }
}

/// Open branches, the shallowest first, among equals the oldest.
#[derive(Debug, Default)]
struct Frontier {
    started: bool,
    open: BinaryHeap<Reverse<(usize, u64, Vec<u32>)>>,
    opened: u64,
    current: Vec<u32>,
}

impl Frontier {
    fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        if self.started {
            match self.open.pop() {
                Some(Reverse((_, _, branch))) => self.current = branch,
                None => return false,
            }
        }
        self.started = true;
        prefix.extend(self.current.iter().copied().map(Choice));
        true
    }

    fn choose(&mut self, alternatives: u32) -> Choice {
        for other in 1..alternatives {
            let mut branch = self.current.clone();
            branch.push(other);
            self.open.push(Reverse((branch.len(), self.opened, branch)));
            self.opened += 1;
        }
        self.current.push(0);
        Choice(0)
    }
}

/// What has been seen of the tree, without the parts that are done.
#[derive(Debug)]
struct Tree {
    rng: Rng,
    root: Option<Box<Node>>,
    started: bool,
    /// The branch being walked, as choices from the root.
    walked: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Node {
    /// Children that are not done.
    open: Vec<(u32, Option<Box<Node>>)>,
}

impl Tree {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), root: None, started: false, walked: Vec::new() }
    }

    fn begin(&mut self) -> bool {
        let more = !self.started || self.root.is_some();
        self.started = true;
        self.walked.clear();
        more
    }

    /// Walks down from the root by what was walked so far: depths are small where this order is of use, and the tree
    /// stays free of links upwards.
    fn choose(&mut self, alternatives: u32) -> Choice {
        let mut slot = &mut self.root;
        for &(_, at) in &self.walked {
            slot = &mut slot.as_mut().expect("raddle bug: a walked node is gone").open[at as usize].1;
        }
        let fresh = || Box::new(Node { open: (0..alternatives).map(|choice| (choice, None)).collect() });
        let node = slot.get_or_insert_with(fresh);
        let at = self.rng.below(node.open.len() as u32);
        let choice = node.open[at as usize].0;
        self.walked.push((choice, at));
        Choice(choice)
    }

    /// The leaf just reached is done, and so is every ancestor whose other children are.
    fn end(&mut self) {
        fn close(slot: &mut Option<Box<Node>>, walked: &[(u32, u32)]) {
            let Some(((_, at), rest)) = walked.split_first() else {
                *slot = None;
                return;
            };
            let node = slot.as_mut().expect("raddle bug: a walked node is gone");
            let child = &mut node.open[*at as usize].1;
            close(child, rest);
            if child.is_none() {
                node.open.swap_remove(*at as usize);
            }
            if node.open.is_empty() {
                *slot = None;
            }
        }
        close(&mut self.root, &self.walked);
    }
}
