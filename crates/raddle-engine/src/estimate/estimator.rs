//! Estimates from the branches of a tree that is walked in depth-first order, or at random: three rules, for comparison.
//!
//! Depth-first order sees one corner of the tree first, so all that is told from it is as good as that corner is like the rest.
//! The random walks of probes do not have this fault, and what users see comes from them as
//! soon as there are some.

use crate::estimate::{Estimate, Walks};

/// A point on the branch of an execution, as its search sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branching {
    /// How many of its children are done.
    pub done: u32,
    /// How many children it has, as far as is known: those that are done, the one being walked, and those planned.
    pub all: u32,
}

/// Which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The mean of the products of the branching along random walks (Knuth 1975). Right for branches that were drawn at random.
    Knuth,
    /// What was not visited is like what was, from the leaves up (Eta). Exact when all is done; jumps while it is young.
    Recursive,
    /// The branches so far over the probability with which a random walk would have taken one of them (Kilby, Slaney, Thiébaux,
    /// Walsh 2006). Exact when all is done; changes slowly.
    WeightedBacktrack,
}

/// An estimate that is made better by one execution after another.
#[derive(Clone, Debug)]
pub struct Estimator {
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Knuth(Walks),
    Recursive { levels: Vec<Level>, leaf: f64, started: bool },
    WeightedBacktrack { leaves: f64, probability: f64 },
}

#[derive(Clone, Copy, Debug)]
struct Level {
    at: Branching,
    done: Subtrees,
}

impl Estimator {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let rule = match kind {
            Kind::Knuth => Rule::Knuth(Walks::default()),
            Kind::Recursive => Rule::Recursive { levels: Vec::new(), leaf: 1.0, started: false },
            Kind::WeightedBacktrack => Rule::WeightedBacktrack { leaves: 0.0, probability: 0.0 },
        };
        Self { rule }
    }

    /// Takes in an execution: the points along its branch, and whether it ran to its end. A pruned one is a leaf
    /// that does not count.
    ///
    /// For [`Kind::Recursive`], executions must come in depth-first order.
    pub fn add(&mut self, branch: &[Branching], complete: bool) {
        let counts = f64::from(u8::from(complete));
        let product: f64 = branch.iter().map(|point| f64::from(point.all)).product();
        match &mut self.rule {
            Rule::Knuth(walks) => walks.add(product * counts),
            Rule::WeightedBacktrack { leaves, probability } => {
                *leaves += counts;
                *probability += 1.0 / product;
            }
            Rule::Recursive { levels, leaf, started } => {
                if *started {
                    let same = |(level, point): &(&Level, &Branching)| level.at.done == point.done;
                    let shared = levels.iter().zip(branch).take_while(same).count();
                    close(levels, *leaf, shared);
                }
                *started = true;
                *leaf = counts;
                for (place, &at) in branch.iter().enumerate() {
                    match levels.get_mut(place) {
                        Some(level) => level.at = at,
                        None => levels.push(Level { at, done: Subtrees::default() }),
                    }
                }
            }
        }
    }

    /// What was seen tells so much; `None` if it tells nothing.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        match &self.rule {
            Rule::Knuth(walks) => walks.estimate(),
            Rule::WeightedBacktrack { leaves, probability } => {
                (*leaves > 0.0).then(|| Estimate { orders: leaves / probability, error: None })
            }
            Rule::Recursive { started: false, .. } => None,
            Rule::Recursive { levels, leaf, .. } => {
                let above = |below: f64, level: &Level| level.done.leaves(level.at.all, Some(below));
                let orders = levels.iter().rev().fold(*leaf, above);
                (orders > 0.0).then_some(Estimate { orders, error: None })
            }
        }
    }
}

/// The latest branch is done below level `shared`: what lies there goes up as a subtree of that level.
fn close(levels: &mut Vec<Level>, leaf: f64, shared: usize) {
    let mut leaves = leaf;
    while levels.len() > shared + 1 {
        let mut level = levels.pop().expect("there are more than one");
        level.done.add(leaves);
        leaves = level.done.leaves(level.at.all, None);
    }
    if let Some(level) = levels.get_mut(shared) {
        level.done.add(leaves);
    }
}

/// What is known of the subtrees of a node's children: of those that are done, or, where a child is come back to before it is
/// done, of those that were visited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subtrees {
    sum: f64,
    /// How many children the sum is of.
    done: u32,
}

impl Subtrees {
    /// A child's subtree is done and has about so many leaves.
    pub fn add(&mut self, leaves: f64) {
        self.sum += leaves;
        self.done += 1;
    }

    /// A child that seemed to have `before` leaves, or was not visited until now, seems to have `now`.
    pub fn revise(&mut self, before: Option<f64>, now: f64) {
        match before {
            Some(before) => self.sum += now - before,
            None => self.add(now),
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.done == 0
    }

    /// The leaves below this level, where `current` are those below the child being walked, if one is.
    #[must_use]
    pub fn leaves(&self, alternatives: u32, current: Option<f64>) -> f64 {
        let visited = f64::from(self.done + u32::from(current.is_some()));
        if visited == 0.0 {
            f64::from(alternatives)
        } else {
            (self.sum + current.unwrap_or(0.0)) / visited * f64::from(alternatives)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::Knuth, Kind::Recursive, Kind::WeightedBacktrack];

    fn path(points: &[(u32, u32)]) -> Vec<Branching> {
        points.iter().map(|&(done, all)| Branching { done, all }).collect()
    }

    /// A root with two children: a leaf, and a node with three leaves.
    fn lopsided() -> [Vec<Branching>; 4] {
        [path(&[(0, 2)]), path(&[(1, 2), (0, 3)]), path(&[(1, 2), (1, 3)]), path(&[(1, 2), (2, 3)])]
    }

    fn after(kind: Kind, branches: &[Vec<Branching>]) -> f64 {
        let mut estimator = Estimator::new(kind);
        branches.iter().for_each(|branch| estimator.add(branch, true));
        estimator.estimate().expect("something was seen").orders
    }

    #[test]
    fn nothing_seen_tells_nothing() {
        assert!(KINDS.iter().all(|&kind| Estimator::new(kind).estimate().is_none()));
    }

    #[test]
    fn by_hand_on_a_lopsided_tree() {
        let tree = lopsided();
        assert_eq!(after(Kind::Recursive, &tree[..1]), 2.0);
        assert_eq!(after(Kind::Recursive, &tree[..2]), 4.0);
        assert_eq!(after(Kind::WeightedBacktrack, &tree[..1]), 2.0);
        // Two branches, which a walk would have taken with probability 1/2 + 1/6.
        assert_eq!(after(Kind::WeightedBacktrack, &tree[..2]), 3.0);
        assert_eq!(after(Kind::Knuth, &tree[..2]), 4.0);
    }

    #[test]
    fn a_tree_that_is_done_is_known() {
        let tree = lopsided();
        assert_eq!(after(Kind::Recursive, &tree), 4.0);
        assert!((after(Kind::WeightedBacktrack, &tree) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_given_up_does_not_count() {
        let tree = lopsided();
        let mut estimator = Estimator::new(Kind::Recursive);
        estimator.add(&tree[0], false);
        assert!(estimator.estimate().is_none());
        tree[1..].iter().for_each(|branch| estimator.add(branch, true));
        assert_eq!(estimator.estimate().expect("something was seen").orders, 3.0);
    }

    #[test]
    fn children_that_are_found_late_are_taken_in() {
        let found_late = [path(&[(0, 1)]), path(&[(1, 2), (0, 1)]), path(&[(1, 3), (1, 2)])];
        assert_eq!(after(Kind::Recursive, &found_late), (1.0 + 2.0) / 2.0 * 3.0);
    }
}
