//! Random order: each child that is not done is equally likely.
//!
//! Every node stores an estimate of the number of leaves of its visited children. After an execution, the nodes along its branch are
//! updated from the leaf to the root: `estimate(node) = mean(visited children) · all children`. So the estimate costs no more than the
//! walk.

use raddle_engine::estimate::Subtrees;
use raddle_engine::rng::Rng;
use raddle_engine::system::Choice;

use super::DfsSubtree;
use super::breadth_first::subtree;

/// The explored part of the tree, without the subtrees that are done.
#[derive(Debug)]
pub(super) struct Tree {
    seed: u64,
    rng: Rng,
    /// `None` if nothing was walked yet, or all is done.
    root: Option<Box<TreeNode>>,
    done: bool,
    /// The current branch: choices from the root, each with its index among the children that are not done.
    walked: Vec<(u32, u32)>,
    leaves: Leaves,
}

/// An estimate of the number of leaves of the whole tree.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaves {
    /// No branch was walked yet.
    Unknown,
    About(f64),
    /// The search has only a part of the tree. Nothing is known of the nodes above it but the path.
    PartOnly,
}

#[derive(Debug, Default)]
struct TreeNode {
    /// Children that are not done.
    open: Vec<(u32, Option<Box<TreeNode>>)>,
    alternatives: u32,
    /// The children that were visited, done or not.
    visited: Subtrees,
}

impl TreeNode {
    fn new(alternatives: u32) -> Self {
        Self {
            open: (0..alternatives).map(|choice| (choice, None)).collect(),
            alternatives,
            visited: Subtrees::default(),
        }
    }

    /// An estimate of its number of leaves; `None` if no branch through it was walked to its end.
    fn leaves(&self) -> Option<f64> {
        (!self.visited.is_empty()).then(|| self.visited.leaves(self.alternatives, None))
    }
}

impl Tree {
    pub fn new(seed: u64) -> Self {
        Self { seed, rng: Rng::new(seed), root: None, done: false, walked: Vec::new(), leaves: Leaves::Unknown }
    }

    /// A tree with the same seed, for another worker.
    pub fn copy_for_worker(&self) -> Self {
        Self::new(self.seed)
    }

    /// Chooses within the known part of the tree. The search replays these choices, so it detects if the program behaves otherwise.
    pub fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        self.walked.clear();
        let mut next = self.root.as_deref();
        while let Some(node) = next {
            let at = self.rng.below(node.open.len() as u32);
            let (choice, below) = &node.open[at as usize];
            prefix.push(Choice(*choice));
            self.walked.push((*choice, at));
            next = below.as_deref();
        }
        !self.done
    }

    /// Chooses at a new node. Walks down from the root to find it. This order is used where depths are small, and so the nodes need no
    /// links to their parents.
    pub fn choose(&mut self, alternatives: u32) -> Choice {
        let mut slot = &mut self.root;
        for &(_, at) in &self.walked {
            slot = &mut slot.as_mut().expect("raddle bug: a node of the current branch is gone").open[at as usize].1;
        }
        let node = slot.get_or_insert_with(|| Box::new(TreeNode::new(alternatives)));
        let at = self.rng.below(node.open.len() as u32);
        let choice = node.open[at as usize].0;
        self.walked.push((choice, at));
        Choice(choice)
    }

    /// Removes the leaf just reached, and every ancestor whose children are all done.
    pub fn end(&mut self) {
        let leaves = close(&mut self.root, &self.walked);
        self.done = self.root.is_none();
        if self.leaves != Leaves::PartOnly {
            self.leaves = Leaves::About(leaves);
        }
    }

    /// An estimate of the number of leaves. Assumes that unvisited subtrees are like the visited ones.
    pub fn leaves(&self) -> Option<f64> {
        match self.leaves {
            Leaves::About(leaves) => Some(leaves),
            Leaves::Unknown | Leaves::PartOnly => None,
        }
    }

    pub fn place(&mut self, subtrees: Vec<DfsSubtree>) {
        self.root = None;
        self.done = subtrees.is_empty();
        let whole = subtrees.iter().all(|subtree| subtree.levels.is_empty());
        self.leaves = if whole { Leaves::Unknown } else { Leaves::PartOnly };
        for subtree in subtrees {
            let mut slot = &mut self.root;
            for level in subtree.levels {
                let node = slot.get_or_insert_default();
                let at = match node.open.iter().position(|(choice, _)| *choice == level.choice) {
                    Some(at) => at,
                    None => {
                        node.open.push((level.choice, None));
                        node.open.len() - 1
                    }
                };
                slot = &mut node.open[at].1;
            }
        }
    }

    /// Splits off half of the unexplored children of the shallowest node that has more than one.
    pub fn give(&mut self) -> Vec<DfsSubtree> {
        let (mut path, mut given) = (Vec::new(), Vec::new());
        let mut next = self.root.as_mut();
        while let Some(node) = next {
            if node.open.len() > 1 {
                for (choice, below) in node.open.split_off(node.open.len().div_ceil(2)) {
                    path.push(choice);
                    collect(below.as_deref(), &mut path, &mut given);
                    path.pop();
                }
                break;
            }
            let (choice, below) = &mut node.open[0];
            path.push(*choice);
            next = below.as_mut();
        }
        given
    }

    pub fn rest(&self) -> Vec<DfsSubtree> {
        let mut rest = Vec::new();
        if !self.done {
            collect(self.root.as_deref(), &mut Vec::new(), &mut rest);
        }
        rest
    }
}

/// Removes the end of the branch, and the nodes that are done. Returns an estimate of the leaves below the slot.
fn close(slot: &mut Option<Box<TreeNode>>, walked: &[(u32, u32)]) -> f64 {
    let Some(((_, at), rest)) = walked.split_first() else {
        *slot = None;
        return 1.0;
    };
    let node = slot.as_mut().expect("raddle bug: a node of the current branch is gone");
    let child = &mut node.open[*at as usize].1;
    let before = child.as_deref().and_then(TreeNode::leaves);
    let now = close(child, rest);
    if child.is_none() {
        node.open.swap_remove(*at as usize);
    }
    node.visited.revise(before, now);
    let leaves = node.visited.leaves(node.alternatives, None);
    if node.open.is_empty() {
        *slot = None;
    }
    leaves
}

fn collect(node: Option<&TreeNode>, path: &mut Vec<u32>, subtrees: &mut Vec<DfsSubtree>) {
    let Some(node) = node else { return subtrees.push(subtree(path)) };
    for (choice, below) in &node.open {
        path.push(*choice);
        collect(below.as_deref(), path, subtrees);
        path.pop();
    }
}
