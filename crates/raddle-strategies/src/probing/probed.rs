//! A systematic search that reports its size: random [probes](Probe) are run beside it, and counted separately.
//!
//! Many searches are short, so the first hundred executions are run without probes and without an estimate. An estimate from these
//! alone (`estimate(node) = mean(visited children) · all children`) can be wrong by any factor. A longer search then runs about a
//! hundred probes at once, a few hundred more when it turns out to be long, and later one from time to time, so the interval gets
//! narrower while the search goes on. A probe is an execution as any other: if it fails, a failure is found.

use raddle_engine::estimate::{Branching, Estimate, Estimator, Kind};
use raddle_engine::facts::Fact;
use raddle_engine::strategy::{
    After, Bound, Capabilities, Counting, Decision, Memory, Needs, Next, Run, Sharing, Start, Strategy, Summarize,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::Probe;

/// A systematic strategy and its probes.
#[derive(Debug)]
pub struct Probed<S> {
    inner: S,
    probe: Probe,
    /// The number of probes before the search continues.
    wanted: u64,
    probing: bool,
    probed: bool,
    /// The number of executions of the search when it was last probed.
    probed_at: u64,
    searched: SearchCounts,
    estimator: Estimator,
    kind: Kind,
    branch: Vec<Branching>,
}

/// Counts of the search itself, without probes.
#[derive(Clone, Copy, Debug, Default)]
struct SearchCounts {
    executions: u64,
    complete: u64,
    steps: u64,
}

/// A search with so many executions is not short.
const NOT_SHORT: u64 = 100;

/// A search with so many executions and steps is not short either, because its executions are long.
const NOT_SHORT_BY_STEPS: (u64, u64) = (20, 20_000);

/// The number of probes at that time, without the pilots.
const PROBES: u64 = 100;

/// A search with so many executions is long.
const LONG: u64 = 1_000;

/// The number of further probes at that time: if few executions carry much of the weight, a hundred are not enough.
const MORE_PROBES: u64 = 300;

/// After that, one probe for so many executions.
const EXECUTIONS_PER_PROBE: u64 = 500;

impl<S: Strategy + Summarize> Probed<S> {
    /// Adds probes to a search that runs each execution, or each trace, once.
    #[must_use]
    pub fn new(inner: S, counting: Counting) -> Self {
        Self {
            inner,
            probe: Probe::new(counting, 0),
            wanted: 0,
            probing: false,
            probed: false,
            probed_at: 0,
            searched: SearchCounts::default(),
            estimator: Estimator::new(Kind::Recursive),
            kind: Kind::Knuth,
            branch: Vec::new(),
        }
    }

    /// Estimates by another rule, for comparison. There are probes only with [`Kind::Knuth`].
    #[must_use]
    pub fn estimating(self, kind: Kind) -> Self {
        Self { kind, estimator: Estimator::new(if kind == Kind::Knuth { Kind::Recursive } else { kind }), ..self }
    }

    /// The probes so far.
    #[must_use]
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    fn is_short(&self) -> bool {
        let SearchCounts { executions, steps, .. } = self.searched;
        executions < NOT_SHORT && (executions < NOT_SHORT_BY_STEPS.0 || steps < NOT_SHORT_BY_STEPS.1)
    }

    /// The number of probes that are due before the next execution of the search.
    fn due(&self) -> u64 {
        match (self.kind, self.probed) {
            (Kind::Knuth, false) if !self.is_short() => Probe::PILOTS + PROBES,
            (Kind::Knuth, true) if self.searched.executions == LONG => MORE_PROBES,
            (Kind::Knuth, true) if self.searched.executions.is_multiple_of(EXECUTIONS_PER_PROBE) => 1,
            _ => 0,
        }
    }

    /// True if probes come before the next execution of the search.
    fn is_to_probe(&mut self) -> bool {
        self.wanted > 0 || self.due() > 0 && self.probed_at != self.searched.executions && self.goes_on()
    }

    /// True if the search has something left, as far as is known.
    fn goes_on(&mut self) -> bool {
        match self.inner.capabilities().map_or(Sharing::Alone, Capabilities::sharing) {
            Sharing::ByPiece(by_piece) => by_piece.rest().is_some(),
            _ => true,
        }
    }

    fn begin_probe(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.probing = true;
        self.probed = true;
        self.wanted -= 1;
        match self.probe.begin(prefix) {
            Next::Run(start) => Next::Run(Start { probe: true, ..start }),
            done => done,
        }
    }

    fn learn(&mut self, run: &Run<'_>) {
        let complete = run.outcome.is_some();
        self.searched.executions += 1;
        self.searched.complete += u64::from(complete);
        self.searched.steps += run.trace.len() as u64;
        if self.kind != Kind::Knuth {
            self.branch.clear();
            if self.inner.branching(&mut self.branch) {
                self.estimator.add(&self.branch, complete);
            }
        }
    }
}

/// It is no state search, because probes pass through visited states as well.
impl<S: Strategy + Summarize> Strategy for Probed<S> {
    fn needs(&self) -> Needs {
        let (inner, probe) = (self.inner.needs(), self.probe.needs());
        let (every_point, pending) = (inner.every_point || probe.every_point, inner.pending || probe.pending);
        Needs { every_point, pending, ..inner }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.is_to_probe() {
            if self.wanted == 0 {
                self.wanted = self.due();
                self.probed_at = self.searched.executions;
            }
            return self.begin_probe(prefix);
        }
        self.probing = false;
        self.inner.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        if self.probing { self.probe.choose(at, so_far) } else { self.inner.choose(at, so_far) }
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if self.probing {
            return self.probe.end(run);
        }
        let after = self.inner.end(run);
        self.learn(run);
        after
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<S: Strategy + Summarize> Capabilities for Probed<S> {
    /// Other workers run the search without probes.
    fn sharing(&mut self) -> Sharing<'_> {
        self.inner.capabilities().map_or(Sharing::Alone, Capabilities::sharing)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        self.inner.capabilities()?.memory()
    }
}

impl<S: Strategy + Summarize> Summarize for Probed<S> {
    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        self.inner.branching(branch)
    }

    /// At least as large as the number of complete executions.
    fn estimate(&self) -> Option<Estimate> {
        let estimate = match self.kind {
            Kind::Knuth => self.probe.estimate(),
            _ => self.estimator.estimate().or_else(|| self.inner.estimate()),
        };
        estimate.map(|estimate| estimate.given_seen(self.searched.complete))
    }

    fn covered(&self, stage: u32) -> Option<Bound> {
        self.inner.covered(stage)
    }

    fn guarantee(&self, drawn: u64) -> Option<Fact> {
        self.inner.guarantee(drawn)
    }

    fn about_failure(&self) -> Option<Fact> {
        if self.probing { None } else { self.inner.about_failure() }
    }

    fn facts(&self) -> Vec<Fact> {
        self.inner.facts()
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::example::Counters;
    use raddle_engine::search::{Limits, Report, search};
    use raddle_engine::strategy::Claim;

    use super::*;
    use crate::tree::exhaustive::Exhaustive;

    fn run(steps: &[u32], kind: Kind, executions: Option<u64>) -> Report {
        let mut strategy = Probed::new(Exhaustive::depth_first(), Counting::Orders).estimating(kind);
        search(&mut Counters::new(steps), &mut strategy, &Limits { executions, ..Limits::default() })
    }

    #[test]
    fn a_short_search_is_not_probed() {
        let report = run(&[4, 4], Kind::Knuth, None);
        assert_eq!((report.executions, report.probes, report.estimate), (70, 0, Some(Estimate::exactly(70))));
        let just_long = run(&[4, 10], Kind::Knuth, None);
        // A hundred probes after 100 executions, one after 500, more after 1,000.
        assert_eq!((just_long.executions, just_long.probes), (1_001, Probe::PILOTS + PROBES + 1 + MORE_PROBES));
        assert_eq!(run(&[4, 10], Kind::Knuth, Some(1_000)).probes, Probe::PILOTS + PROBES + 1);
        assert_eq!(run(&[4, 10], Kind::Knuth, Some(100)).probes, 0);
    }

    #[test]
    fn a_long_one_is_and_its_counts_are_the_same() {
        let report = run(&[3, 3, 3], Kind::Knuth, None);
        assert!(report.verified());
        assert_eq!((report.executions, report.estimate), (1_680, Some(Estimate::exactly(1_680))));
        assert_eq!(report.probes, Probe::PILOTS + PROBES + 1 + MORE_PROBES + 1);
    }

    #[test]
    fn estimates_are_never_less_than_what_was_seen() {
        for executions in [1, 10, 100, 101, 999, 1_000, 1_001, 1_300, 1_679] {
            for kind in [Kind::Knuth, Kind::Recursive, Kind::WeightedBacktrack] {
                let report = run(&[3, 3, 3], kind, Some(executions));
                if kind == Kind::Knuth && executions <= NOT_SHORT {
                    assert_eq!((report.probes, report.estimate), (0, None), "nothing is known before the first probes");
                    continue;
                }
                let orders = report.estimate.expect("an estimate from then on").orders;
                assert!(orders > executions as f64, "{kind:?}: {orders} after {executions}");
                assert!(kind == Kind::Knuth || report.probes == 0);
            }
        }
    }

    #[test]
    fn the_first_probes_are_within_a_factor_of_two() {
        for (steps, truth) in [(&[5, 5, 5][..], 756_756.0), (&[3, 3, 3], 1_680.0), (&[12, 1, 2], 1_365.0)] {
            let Estimate { orders, error } = run(steps, Kind::Knuth, Some(101)).estimate.expect("an estimate");
            assert!((truth / 2.0..truth * 2.0).contains(&orders) && error.is_some(), "{steps:?}: {orders}, {error:?}");
        }
    }

    #[test]
    fn what_depth_first_order_tells_depends_on_where_it_begins() {
        let orders = |kind, executions| run(&[5, 5, 5], kind, Some(executions)).estimate.expect("an estimate").orders;
        let truth = 756_756.0;
        let off = |kind| (orders(kind, 1_001) / truth).ln().abs();
        assert!(off(Kind::Knuth) < 0.1, "{}", off(Kind::Knuth));
        assert!(off(Kind::Recursive) > 1.0 && off(Kind::WeightedBacktrack) > 1.0, "these were not better than known");
    }

    #[test]
    fn the_rule_of_the_estimator_is_that_of_the_path() {
        for executions in [1, 7, 300, 1_500] {
            let limits = Limits { executions: Some(executions), ..Limits::default() };
            let plain = search(&mut Counters::new(&[3, 3, 3]), &mut Exhaustive::depth_first(), &limits);
            let own = plain.estimate.expect("an estimate").given_seen(executions).orders;
            let ours = run(&[3, 3, 3], Kind::Recursive, Some(executions)).estimate.expect("an estimate").orders;
            assert!((own - ours).abs() < 1e-6 * own, "{own} and {ours}");
        }
    }

    /// A search of sixty equal executions.
    struct Long(u64);

    impl Strategy for Long {
        fn needs(&self) -> Needs {
            Needs::sampler("long")
        }

        fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
            self.0 += 1;
            if self.0 > 60 { Next::Done(Claim::Sampled) } else { Next::run(0) }
        }

        fn choose(&mut self, _: &Point<'_>, _: &Trace) -> Decision {
            Decision::Take(Choice(0))
        }

        fn end(&mut self, _: &Run<'_>) -> After {
            After::Next
        }
    }

    impl Summarize for Long {}

    #[test]
    fn executions_that_are_long_make_a_search_long() {
        let probes = |steps| {
            let mut strategy = Probed::new(Long(0), Counting::Orders);
            search(&mut Counters::new(&[steps, 1]), &mut strategy, &Limits::default()).probes
        };
        assert_eq!(probes(100), 0);
        assert_eq!(probes(1_500), Probe::PILOTS + PROBES);
    }
}
