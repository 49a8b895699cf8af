//! Looks over the shoulder of a strategy: what it would say of the size of its search, after 1, 2, 3 … executions.

use raddle_engine::estimate::{Branching, Estimate, Estimator, Kind};
use raddle_engine::strategy::{Decision, Next, Run, Sharing, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Numbers that grow by about a tenth each, so that they lie evenly on a logarithmic axis.
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
    /// Whether `done` is one of them; asked for each number in turn.
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

/// A systematic strategy and what two rules tell from its executions, as it goes.
pub struct Watched<S> {
    inner: S,
    executions: u64,
    marks: Marks,
    branch: Vec<Branching>,
    /// What is not visited is like what is; of a strategy that does not show its branches, its own word is taken.
    recursive: Estimator,
    weighted: Estimator,
    by_recursion: Vec<Told>,
    by_weight: Vec<Told>,
}

impl<S: Strategy> Watched<S> {
    /// Around a strategy that has not run yet.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            executions: 0,
            marks: Marks::default(),
            branch: Vec::new(),
            recursive: Estimator::new(Kind::Recursive),
            weighted: Estimator::new(Kind::WeightedBacktrack),
            by_recursion: Vec::new(),
            by_weight: Vec::new(),
        }
    }

    fn learn(&mut self, run: &Run<'_>) {
        let complete = run.outcome.is_some();
        self.executions += u64::from(complete);
        self.branch.clear();
        if self.inner.branching(&mut self.branch) {
            self.recursive.add(&self.branch, complete);
        } else {
            let decided = run.trace.steps().iter().filter(|step| step.alternatives > 1);
            self.branch.extend(decided.map(|step| Branching { done: 0, all: step.alternatives }));
        }
        self.weighted.add(&self.branch, complete);
        if complete && self.marks.is_due(self.executions) {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let told = |estimate: Option<Estimate>| estimate.map(|estimate| (self.executions, estimate.orders));
        let recursive = told(self.recursive.estimate().or_else(|| self.inner.estimate()));
        self.by_recursion.extend(recursive);
        self.by_weight.extend(told(self.weighted.estimate()));
    }

    /// Both rules' estimates when the search is over: the numbers in between may have missed the last execution.
    pub fn finish(mut self) -> (Vec<Told>, Vec<Told>) {
        self.tell();
        (self.by_recursion, self.by_weight)
    }
}

impl<S: Strategy> Strategy for Watched<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.inner.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) {
        self.inner.end(run);
        self.learn(run);
    }

    fn sees_every_point(&self) -> bool {
        self.inner.sees_every_point()
    }

    fn wants_pending(&self) -> bool {
        self.inner.wants_pending()
    }

    fn sharing(&mut self) -> Sharing<'_> {
        self.inner.sharing()
    }

    fn revisits(&self) -> bool {
        self.inner.revisits()
    }

    fn reduces(&self) -> bool {
        self.inner.reduces()
    }
}

/// Random walks that estimate, and what they have told.
pub struct WatchedWalks<S> {
    inner: S,
    walks: u64,
    marks: Marks,
    told: Vec<Told>,
}

impl<S: Strategy> WatchedWalks<S> {
    /// Around a strategy that has not run yet.
    pub fn new(inner: S) -> Self {
        Self { inner, walks: 0, marks: Marks::default(), told: Vec::new() }
    }

    fn tell(&mut self) {
        self.told.extend(self.inner.estimate().map(|estimate| (self.walks, estimate.orders)));
    }

    /// The estimates, up to the last walk.
    pub fn finish(mut self) -> Vec<Told> {
        self.tell();
        self.told
    }
}

impl<S: Strategy> Strategy for WatchedWalks<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.inner.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) {
        self.inner.end(run);
        self.walks += 1;
        if self.marks.is_due(self.walks) {
            self.tell();
        }
    }

    fn sees_every_point(&self) -> bool {
        self.inner.sees_every_point()
    }

    fn wants_pending(&self) -> bool {
        self.inner.wants_pending()
    }
}
