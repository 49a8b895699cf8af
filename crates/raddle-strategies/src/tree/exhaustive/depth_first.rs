//! Depth-first order.

use raddle_engine::estimate::Subtrees;
use raddle_engine::strategy::BacktrackTo;
use raddle_engine::system::Choice;

use super::{DfsSubtree, Level, precedes};

/// The current branch, and subtrees that are walked after it.
#[derive(Debug)]
pub(crate) struct Path {
    /// True if `levels` is the branch to be walked next.
    path_ready: bool,
    levels: Vec<Level>,
    fixed: usize,
    later: Vec<DfsSubtree>,
    /// The number of leaves of the whole tree, once it is known.
    whole: Option<f64>,
    /// The number of choices of the latest execution; 0 if the next branch does not leave it.
    latest: usize,
}

impl Default for Path {
    fn default() -> Self {
        Self { path_ready: true, levels: Vec::new(), fixed: 0, later: Vec::new(), whole: None, latest: 0 }
    }
}

impl Path {
    pub fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        if !self.path_ready && !self.advance() {
            return false;
        }
        self.path_ready = false;
        prefix.extend(self.levels.iter().map(|level| Choice(level.choice)));
        true
    }

    /// Prepares the next branch. Returns false if nothing is left.
    fn advance(&mut self) -> bool {
        if let Some(leaves) = self.backtrack() {
            match self.later.pop() {
                Some(subtree) => self.take(subtree),
                None => {
                    self.whole.get_or_insert(leaves);
                    return false;
                }
            }
        }
        self.path_ready = true;
        true
    }

    /// Moves to the next branch of the current subtree. If there is none, returns the number of its leaves.
    fn backtrack(&mut self) -> Option<f64> {
        // The latest execution is one leaf. The leaves of a finished level are added to the level above.
        let mut leaves = 1.0;
        while self.levels.len() > self.fixed {
            let level = self.levels.last_mut().expect("just counted");
            level.done.add(leaves);
            if level.choice + 1 < level.end {
                level.choice += 1;
                return None;
            }
            leaves = level.done.leaves(level.alternatives, None);
            self.levels.pop();
        }
        Some(leaves)
    }

    /// Records the number of choices of an execution that has ended.
    pub fn end(&mut self, choices: usize) {
        self.latest = choices;
    }

    /// Prepares the next branch, if it leaves the latest one. Returns where and by which choice.
    pub fn backtrack_to(&mut self) -> Option<BacktrackTo> {
        let others = self.later.len();
        if self.path_ready || !self.advance() || self.later.len() < others || self.levels.len() > self.latest {
            return None;
        }
        self.path_ready = false;
        let depth = self.levels.len() - 1;
        Some(BacktrackTo { depth, choice: Choice(self.levels[depth].choice) })
    }

    /// Takes the next alternative at the latest level, if there is one.
    #[inline]
    pub fn next_here(&mut self) -> Option<Choice> {
        let level = self.levels.last_mut().filter(|level| level.choice + 1 < level.end)?;
        level.choice += 1;
        Some(Choice(level.choice))
    }

    pub fn choose(&mut self, alternatives: u32) -> Choice {
        self.levels.push(Level::new(0, alternatives));
        Choice(0)
    }

    /// An estimate of the number of leaves. Assumes that unvisited subtrees are like the visited ones.
    pub fn leaves(&self) -> f64 {
        // Nothing is known yet of a branch that was not walked.
        let leaf = if self.path_ready { None } else { Some(1.0) };
        let above = |below: Option<f64>, level: &Level| Some(level.done.leaves(level.alternatives, below));
        self.whole.unwrap_or_else(|| self.levels.iter().rev().fold(leaf, above).unwrap_or(1.0))
    }

    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    pub fn place(&mut self, mut subtrees: Vec<DfsSubtree>) {
        subtrees.reverse();
        let first = subtrees.pop().unwrap_or_default();
        self.later = subtrees;
        self.whole = None;
        self.take(first);
    }

    fn take(&mut self, subtree: DfsSubtree) {
        self.levels = subtree.levels;
        self.fixed = subtree.fixed;
        self.path_ready = true;
    }

    /// Splits off the later alternatives at the shallowest level that has some, or one of the later subtrees.
    pub fn give(&mut self) -> Vec<DfsSubtree> {
        if !self.later.is_empty() {
            return vec![self.later.remove(0)];
        }
        let open = |at: &usize| self.levels[*at].choice + 1 < self.levels[*at].end;
        let Some(at) = (self.fixed..self.levels.len()).find(open) else { return Vec::new() };
        let mut levels = self.levels[..=at].to_vec();
        let next = self.levels[at].choice + 1;
        levels[at] = Level { choice: next, done: Subtrees::default(), ..levels[at] };
        self.levels[at].end = next;
        vec![DfsSubtree { levels, fixed: at }]
    }

    pub fn rest(&mut self) -> Vec<DfsSubtree> {
        if !self.path_ready && !self.advance() {
            return Vec::new();
        }
        let current = DfsSubtree { levels: self.levels.clone(), fixed: self.fixed };
        std::iter::once(current).chain(self.later.iter().rev().cloned()).collect()
    }

    pub fn may_precede(&self, choices: &[Choice]) -> bool {
        let here = if self.path_ready {
            precedes(&self.levels, choices)
        } else {
            // The current path was walked already; the next one comes after it.
            self.levels.iter().map(|level| level.choice).lt(choices.iter().map(|choice| choice.0))
        };
        here || self.later.iter().any(|subtree| precedes(&subtree.levels, choices))
    }
}
