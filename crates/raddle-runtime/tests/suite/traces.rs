//! How many traces a program has, counted without reduction: the distinct happens-before relations of all its executions.

use std::collections::HashSet;

use raddle_engine::order::before::Before;
use raddle_engine::order::events::Events;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::dpor::Dpor;
use raddle_engine::strategy::exhaustive::Exhaustive;
use raddle_engine::strategy::{Decision, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point, Program};
use raddle_engine::trace::Trace;

/// Another strategy's executions, of which it notes the happens-before relations.
struct Noting<S> {
    inner: S,
    seen: HashSet<u64>,
}

impl<S: Strategy> Strategy for Noting<S> {
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
        if run.outcome.is_some() {
            let (mut events, mut before) = (Events::default(), Before::default());
            events.follow(run.trace);
            before.follow(&events);
            self.seen.insert(before.fingerprint());
        }
        self.inner.end(run);
    }

    fn sees_every_point(&self) -> bool {
        self.inner.sees_every_point()
    }

    fn wants_pending(&self) -> bool {
        self.inner.wants_pending()
    }

    fn revisits(&self) -> bool {
        self.inner.revisits()
    }
}

fn limits() -> Limits {
    Limits { keep_going: true, executions: Some(60_000), ..Limits::default() }
}

/// The number of traces of a program, or `None` if it has too many executions to count them.
pub fn count<P: Program>(program: &mut P) -> Option<u64> {
    let mut all = Noting { inner: Exhaustive::depth_first(), seen: HashSet::new() };
    let report = search(program, &mut all, &limits());
    matches!(report.ended, raddle_engine::search::Ended::Done(_)).then_some(all.seen.len() as u64)
}

/// What a reduced search of the whole program finds, and how many traces it has run.
pub fn reduced<P: Program>(program: &mut P, dpor: Dpor) -> (Report, u64) {
    let mut noting = Noting { inner: dpor, seen: HashSet::new() };
    let report = search(program, &mut noting, &limits());
    (report, noting.seen.len() as u64)
}

/// Demands that each kind of reduction runs every trace, and those that should run it once do; returns how many traces there
/// are.
#[track_caller]
pub fn reduces_to_traces<P: Program>(program: &mut P, what: &str, once: bool) -> u64 {
    let traces = count(program).expect("few enough executions to count");
    for (dpor, once) in [(Dpor::optimal(), once), (Dpor::source(), once), (Dpor::classic(), false)] {
        let name = dpor.name();
        let (report, seen) = reduced(program, dpor);
        assert_eq!(seen, traces, "{what}: {name} has not seen every trace");
        assert!(!once || report.executions == traces, "{what}: {name} ran {} for {traces} traces", report.executions);
    }
    traces
}
