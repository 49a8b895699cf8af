//! Breadth-first order: the shallowest unexplored branch first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use raddle_engine::system::Choice;

use super::{DfsSubtree, Level};

/// Unexplored branches: the shallowest first, among equals the oldest.
#[derive(Debug)]
pub(super) struct BfsFrontier {
    open: BinaryHeap<Reverse<(usize, u64, Vec<u32>)>>,
    opened: u64,
    current: Vec<u32>,
}

impl Default for BfsFrontier {
    fn default() -> Self {
        Self { open: BinaryHeap::from([Reverse((0, 0, Vec::new()))]), opened: 1, current: Vec::new() }
    }
}

impl BfsFrontier {
    pub fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        let Some(Reverse((_, _, branch))) = self.open.pop() else { return false };
        self.current = branch;
        prefix.extend(self.current.iter().copied().map(Choice));
        true
    }

    pub fn choose(&mut self, alternatives: u32) -> Choice {
        for other in 1..alternatives {
            let mut branch = self.current.clone();
            branch.push(other);
            self.add(branch);
        }
        self.current.push(0);
        Choice(0)
    }

    fn add(&mut self, branch: Vec<u32>) {
        self.open.push(Reverse((branch.len(), self.opened, branch)));
        self.opened += 1;
    }

    pub fn place(&mut self, subtrees: Vec<DfsSubtree>) {
        self.open.clear();
        for subtree in subtrees {
            self.add(subtree.levels.iter().map(|level| level.choice).collect());
        }
    }

    /// Splits off every second branch.
    pub fn give(&mut self) -> Vec<DfsSubtree> {
        let all = std::mem::take(&mut self.open).into_sorted_vec();
        let (mut given, mut rest) = (Vec::new(), BinaryHeap::new());
        for (nth, branch) in all.into_iter().rev().enumerate() {
            if nth % 2 == 1 { given.push(subtree(&branch.0.2)) } else { rest.push(branch) }
        }
        self.open = rest;
        given
    }

    pub fn rest(&self) -> Vec<DfsSubtree> {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by(|a, b| b.cmp(a));
        open.iter().map(|branch| subtree(&branch.0.2)).collect()
    }
}

/// A subtree of which only the choices are known.
pub(super) fn subtree(choices: &[u32]) -> DfsSubtree {
    let levels = choices.iter().map(|&choice| Level::new(choice, choice + 1)).collect();
    DfsSubtree { levels, fixed: choices.len() }
}
