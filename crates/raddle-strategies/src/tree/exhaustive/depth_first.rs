//! In the order of the tree's branches.

use super::{Level, Subtree, precedes};
use raddle_engine::estimate::Subtrees;
use raddle_engine::strategy::BacktrackTo;
use raddle_engine::system::Choice;

/// The branch being walked, and others that are to be walked after what is left along it.
#[derive(Debug)]
pub(crate) struct Path {
    /// It is to be walked next, and was not walked yet.
    placed: bool,
    levels: Vec<Level>,
    frozen: usize,
    later: Vec<Subtree>,
    /// How many leaves the whole has, once that is known.
    whole: Option<f64>,
    /// Choices of the latest execution; 0 if what comes next does not leave it.
    latest: usize,
}

impl Default for Path {
    fn default() -> Self {
        Self { placed: true, levels: Vec::new(), frozen: 0, later: Vec::new(), whole: None, latest: 0 }
    }
}

impl Path {
    pub fn begin(&mut self, prefix: &mut Vec<Choice>) -> bool {
        if !self.placed && !self.advance() {
            return false;
        }
        self.placed = false;
        prefix.extend(self.levels.iter().map(|level| Choice(level.choice)));
        true
    }

    /// Goes to the next branch.
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
        self.placed = true;
        true
    }

    /// Goes to the next branch of those that leave this one; if there is none, how many leaves there were.
    fn backtrack(&mut self) -> Option<f64> {
        // The leaf just reached is one, and what is full goes up as a subtree.
        let mut leaves = 1.0;
        while self.levels.len() > self.frozen {
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

    /// An execution has ended that took so many choices.
    pub fn end(&mut self, choices: usize) {
        self.latest = choices;
    }

    /// Goes to the next branch, if it leaves the one that was walked last: where it does, and by which choice.
    pub fn backtrack_to(&mut self) -> Option<BacktrackTo> {
        let others = self.later.len();
        if self.placed || !self.advance() || self.later.len() < others || self.levels.len() > self.latest {
            return None;
        }
        self.placed = false;
        let depth = self.levels.len() - 1;
        Some(BacktrackTo { depth, choice: Choice(self.levels[depth].choice) })
    }

    /// Takes the next choice at the latest level, if there is one.
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

    /// How many leaves there seem to be: what is not visited is taken to be like what is.
    pub fn leaves(&self) -> f64 {
        // Of a branch that is only about to be walked nothing is known.
        let leaf = if self.placed { None } else { Some(1.0) };
        let above = |below: Option<f64>, level: &Level| Some(level.done.leaves(level.alternatives, below));
        self.whole.unwrap_or_else(|| self.levels.iter().rev().fold(leaf, above).unwrap_or(1.0))
    }

    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    pub fn place(&mut self, mut subtrees: Vec<Subtree>) {
        subtrees.reverse();
        let first = subtrees.pop().unwrap_or_default();
        self.later = subtrees;
        self.whole = None;
        self.take(first);
    }

    fn take(&mut self, subtree: Subtree) {
        self.levels = subtree.levels;
        self.frozen = subtree.frozen;
        self.placed = true;
    }

    /// What comes after the choice at the shallowest level where something does, or one of the later subtrees.
    pub fn give(&mut self) -> Vec<Subtree> {
        if !self.later.is_empty() {
            return vec![self.later.remove(0)];
        }
        let open = |at: &usize| self.levels[*at].choice + 1 < self.levels[*at].end;
        let Some(at) = (self.frozen..self.levels.len()).find(open) else { return Vec::new() };
        let mut levels = self.levels[..=at].to_vec();
        let next = self.levels[at].choice + 1;
        levels[at] = Level { choice: next, done: Subtrees::default(), ..levels[at] };
        self.levels[at].end = next;
        vec![Subtree { levels, frozen: at }]
    }

    pub fn rest(&mut self) -> Vec<Subtree> {
        if !self.placed && !self.advance() {
            return Vec::new();
        }
        let current = Subtree { levels: self.levels.clone(), frozen: self.frozen };
        std::iter::once(current).chain(self.later.iter().rev().cloned()).collect()
    }

    pub fn may_precede(&self, choices: &[Choice]) -> bool {
        let here = if self.placed {
            precedes(&self.levels, choices)
        } else {
            // This very path has been walked; what comes next lies behind it.
            self.levels.iter().map(|level| level.choice).lt(choices.iter().map(|choice| choice.0))
        };
        here || self.later.iter().any(|subtree| precedes(&subtree.levels, choices))
    }
}
