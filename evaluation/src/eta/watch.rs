//! Records a strategy's estimates of the size of its search, after 1, 2, 3 … executions.

use std::mem;

use raddle_engine::estimate::{Branching, Estimate, Estimator, Kind};
use raddle_engine::strategy::{Run, Strategy};

/// Numbers that grow by about a tenth each, so that they are evenly spaced on a logarithmic axis.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    next: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self { next: 1 }
    }
}

impl Marks {
    /// Whether `done` is one of them. Called for each number in turn.
    pub fn is_due(&mut self, done: u64) -> bool {
        let due = done >= self.next;
        if due {
            self.next = (done + 1).max((done as f64 * 1.08) as u64);
        }
        due
    }
}

/// An estimate after so many executions.
pub type Told = (u64, f64);

/// The estimates of two rules from the executions of a systematic strategy, as it runs.
pub struct Rules {
    executions: u64,
    marks: Marks,
    branch: Vec<Branching>,
    /// Assumes that unvisited branches are like visited ones. If a strategy does not show its branches, its own estimate is used.
    recursive: Estimator,
    weighted: Estimator,
    by_recursion: Vec<Told>,
    by_weight: Vec<Told>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            executions: 0,
            marks: Marks::default(),
            branch: Vec::new(),
            recursive: Estimator::new(Kind::Recursive),
            weighted: Estimator::new(Kind::WeightedBacktrack),
            by_recursion: Vec::new(),
            by_weight: Vec::new(),
        }
    }
}

impl Rules {
    /// Called when an execution of this strategy has ended.
    pub fn learn(&mut self, strategy: &mut dyn Strategy, run: &Run<'_>) {
        let complete = run.outcome.is_some();
        self.executions += u64::from(complete);
        self.branch.clear();
        if strategy.summary().is_some_and(|summary| summary.branching(&mut self.branch)) {
            self.recursive.add(&self.branch, complete);
        } else {
            let decided = run.trace.steps().iter().filter(|step| step.alternatives > 1);
            self.branch.extend(decided.map(|step| Branching { done: 0, all: step.alternatives }));
        }
        self.weighted.add(&self.branch, complete);
        if complete && self.marks.is_due(self.executions) {
            self.tell(strategy);
        }
    }

    fn tell(&mut self, strategy: &mut dyn Strategy) {
        let told = |estimate: Option<Estimate>| estimate.map(|estimate| (self.executions, estimate.orders));
        let recursive = told(self.recursive.estimate().or_else(|| strategy.summary()?.estimate()));
        self.by_recursion.extend(recursive);
        self.by_weight.extend(told(self.weighted.estimate()));
    }

    /// The estimates of both rules at the end of the search, in case the last execution is not one of the numbers.
    pub fn finish(&mut self, strategy: &mut dyn Strategy) -> (Vec<Told>, Vec<Told>) {
        self.tell(strategy);
        (mem::take(&mut self.by_recursion), mem::take(&mut self.by_weight))
    }
}

/// The estimates of random walks.
#[derive(Default)]
pub struct Walks {
    walks: u64,
    marks: Marks,
    told: Vec<Told>,
}

impl Walks {
    /// Called when a walk of this strategy has ended.
    pub fn learn(&mut self, strategy: &mut dyn Strategy) {
        self.walks += 1;
        if self.marks.is_due(self.walks) {
            self.tell(strategy);
        }
    }

    fn tell(&mut self, strategy: &mut dyn Strategy) {
        self.told.extend(
            strategy.summary().and_then(|summary| summary.estimate()).map(|estimate| (self.walks, estimate.orders)),
        );
    }

    /// The estimates, up to the last walk.
    pub fn finish(&mut self, strategy: &mut dyn Strategy) -> Vec<Told> {
        self.tell(strategy);
        mem::take(&mut self.told)
    }
}
