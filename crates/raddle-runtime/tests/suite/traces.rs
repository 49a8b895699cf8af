//! How many traces a program has, counted without reduction: the distinct happens-before relations of all its executions.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::Events;
use raddle_engine::outcome::{Participants, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::{Run, Strategy};
use raddle_engine::system::{Choice, Describe, Point, Program, System};
use raddle_engine::trace::Trace;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::states::States;
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::watched::Watched;

use crate::shared_reduction::play;

/// Makes a strategy.
pub type Make = fn() -> Box<dyn Strategy>;

/// The reductions, the optimal one first.
pub const ALGORITHMS: [Make; 3] =
    [|| Box::new(Optimal::new()), || Box::new(Dpor::source()), || Box::new(Dpor::classic())];

/// The traces that were run to their end.
type Traces = Arc<Mutex<HashSet<u64>>>;

/// A strategy whose traces are told apart.
fn noting(strategy: impl Strategy + 'static, into: &Traces) -> Box<dyn Strategy> {
    let into = into.clone();
    Box::new(Watched::new(Box::new(strategy), move |_: &mut dyn Strategy, run: &Run<'_>| {
        if run.outcome.is_some() {
            let (mut events, mut before) = (Events::default(), Before::default());
            events.follow(run.trace);
            before.follow(&events);
            into.lock().unwrap().insert(before.fingerprint());
        }
    }))
}

/// Searches, and tells the traces that were run to their end apart.
fn seen<P: Program>(program: &mut P, strategy: impl Strategy + 'static) -> (Report, u64) {
    let traces = Traces::default();
    let report = search(program, &mut *noting(strategy, &traces), &limits());
    let many = traces.lock().unwrap().len() as u64;
    (report, many)
}

fn limits() -> Limits {
    Limits { keep_going: true, executions: Some(60_000), ..Limits::default() }
}

/// The number of traces of a program, or `None` if it has too many executions to count them.
pub fn count<P: Program>(program: &mut P) -> Option<u64> {
    let (report, traces) = seen(program, Exhaustive::depth_first());
    matches!(report.ended, raddle_engine::search::Ended::Done(_)).then_some(traces)
}

/// The same for programs with more executions: equal beginnings of traces are gone on from once.
pub fn count_by_beginnings<P: Program>(program: P) -> Option<u64> {
    let (report, traces) = seen(&mut Unseen(program), States::default());
    matches!(report.ended, raddle_engine::search::Ended::Done(_)).then_some(traces)
}

/// A program whose state cannot be seen, so that what led to it stands for it.
struct Unseen<P>(P);

impl<P: Program> Program for Unseen<P> {
    type System = Unseen<P::System>;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> Self::System {
        Unseen(self.0.start(seed, trace))
    }
}

impl<S: System> System for Unseen<S> {
    fn point(&self) -> Point<'_> {
        self.0.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        self.0.advance(choice, trace);
    }

    fn describe(&self) -> &dyn Describe {
        self
    }
}

impl<S: System> Describe for Unseen<S> {
    fn task_name(&self, task: TaskId) -> TaskName {
        self.0.describe().task_name(task)
    }

    fn participants(&self) -> Participants {
        self.0.describe().participants()
    }

    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting> {
        self.0.describe().unfinished(so_far)
    }
}

/// What a reduced search of the whole program finds, and how many traces it has run.
pub fn reduced<P: Program>(program: &mut P, dpor: Box<dyn Strategy>) -> (Report, u64) {
    seen(program, dpor)
}

/// The same by several workers, whose turns fall by a seed.
pub fn reduced_by<P: Program>(workers: usize, seed: u64, program: &mut P, make: Make) -> (Report, u64) {
    let traces = Traces::default();
    let report = play(seed, workers, program, || noting(make(), &traces));
    let many = traces.lock().unwrap().len() as u64;
    (report, many)
}

/// Demands that each kind of reduction runs every trace, and those that should run it once do; returns how many traces there
/// are.
#[track_caller]
pub fn reduces_to_traces<P: Program>(program: &mut P, what: &str, once: bool) -> u64 {
    let traces = count(program).expect("few enough executions to count");
    for (make, once) in ALGORITHMS.into_iter().zip([once, once, false]) {
        let dpor = make();
        let name = dpor.needs().name;
        let (report, seen) = reduced(program, dpor);
        assert_eq!(seen, traces, "{what}: {name} has not seen every trace");
        assert!(!once || report.executions == traces, "{what}: {name} ran {} for {traces} traces", report.executions);
    }
    traces
}
