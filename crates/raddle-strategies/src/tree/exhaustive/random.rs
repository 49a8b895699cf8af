//! Each child that is not yet done is equally likely.
//!
//! Every node remembers how many leaves its visited children seem to have, done or not. After an execution the nodes along its
//! branch are brought up to date from the leaf to the root (Eta's rule), so the estimate costs no more than the walk.

use super::Subtree;
use super::breadth_first::subtree;
use raddle_engine::estimate::Subtrees;
use raddle_engine::rng::Rng;
use raddle_engine::system::Choice;

/// What has been seen of the tree, without the parts that are done.
#[derive(Debug)]
pub(super) struct Tree {
    seed: u64,
    rng: Rng,
    /// Nothing there: not walked yet, unless all is done.
    root: Option<Box<Node>>,
    done: bool,
    /// The branch being walked, as choices from the root, each with its place among the open children.
    walked: Vec<(u32, u32)>,
    leaves: Leaves,
}

/// How many leaves the whole tree seems to have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaves {
    /// No branch was walked yet.
    Unknown,
    About(f64),
    /// Only a part of the tree was taken up, and of the nodes above it nothing but the way down is known.
    PartOnly,
}

#[derive(Debug, Default)]
struct Node {
    /// Children that are not done.
    open: Vec<(u32, Option<Box<Node>>)>,
    alternatives: u32,
    /// The children that were visited, done or not.
    visited: Subtrees,
}

impl Node {
    fn new(alternatives: u32) -> Self {
        Self {
            open: (0..alternatives).map(|choice| (choice, None)).collect(),
            alternatives,
            visited: Subtrees::default(),
        }
    }

    /// How many leaves it seems to have; `None` if no branch through it was walked to its end.
    fn leaves(&self) -> Option<f64> {
        (!self.visited.is_empty()).then(|| self.visited.leaves(self.alternatives, None))
    }
}

impl Tree {
    pub fn new(seed: u64) -> Self {
        Self { seed, rng: Rng::new(seed), root: None, done: false, walked: Vec::new(), leaves: Leaves::Unknown }
    }

    /// For another worker.
    pub fn fresh(&self) -> Self {
        Self::new(self.seed)
    }

    /// What is known of the tree is walked here, so that the search notices if a program offers something else there.
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

    /// At a node that is new. Walks down from the root by what was walked so far: depths are small where this order is of use, and
    /// the tree stays free of links upwards.
    pub fn choose(&mut self, alternatives: u32) -> Choice {
        let mut slot = &mut self.root;
        for &(_, at) in &self.walked {
            slot = &mut slot.as_mut().expect("raddle bug: a walked node is gone").open[at as usize].1;
        }
        let node = slot.get_or_insert_with(|| Box::new(Node::new(alternatives)));
        let at = self.rng.below(node.open.len() as u32);
        let choice = node.open[at as usize].0;
        self.walked.push((choice, at));
        Choice(choice)
    }

    /// The leaf just reached is done, and so is every ancestor whose other children are.
    pub fn end(&mut self) {
        let leaves = close(&mut self.root, &self.walked);
        self.done = self.root.is_none();
        if self.leaves != Leaves::PartOnly {
            self.leaves = Leaves::About(leaves);
        }
    }

    /// How many leaves there seem to be: what is not visited is taken to be like what is.
    pub fn leaves(&self) -> Option<f64> {
        match self.leaves {
            Leaves::About(leaves) => Some(leaves),
            Leaves::Unknown | Leaves::PartOnly => None,
        }
    }

    pub fn place(&mut self, subtrees: Vec<Subtree>) {
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

    /// Half of the open children of the shallowest node that has more than one.
    pub fn give(&mut self) -> Vec<Subtree> {
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

    pub fn rest(&self) -> Vec<Subtree> {
        let mut rest = Vec::new();
        if !self.done {
            collect(self.root.as_deref(), &mut Vec::new(), &mut rest);
        }
        rest
    }
}

/// Drops the end of the branch, and what is done with it. Says how many leaves there seem to be below the slot.
fn close(slot: &mut Option<Box<Node>>, walked: &[(u32, u32)]) -> f64 {
    let Some(((_, at), rest)) = walked.split_first() else {
        *slot = None;
        return 1.0;
    };
    let node = slot.as_mut().expect("raddle bug: a walked node is gone");
    let child = &mut node.open[*at as usize].1;
    let before = child.as_deref().and_then(Node::leaves);
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

fn collect(node: Option<&Node>, path: &mut Vec<u32>, subtrees: &mut Vec<Subtree>) {
    let Some(node) = node else { return subtrees.push(subtree(path)) };
    for (choice, below) in &node.open {
        path.push(*choice);
        collect(below.as_deref(), path, subtrees);
        path.pop();
    }
}
