//! Tests of a search that is cut off by time in the middle of an execution and taken up again.

use std::thread;
use std::time::{Duration, Instant};

use raddle_engine::board::Remains;
use raddle_engine::caveats::Caveats;
use raddle_engine::example::Counters;
use raddle_engine::search::{Limits, Report, Search, Worker};
use raddle_engine::strategy::Strategy;
use raddle_engine::system::{Choice, Describe, Point, Program, System};
use raddle_engine::trace::Trace;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::samplers::iterative_random::IterativeRandom;
use raddle_strategies::states::States;
use raddle_strategies::states::delay::{Delay, RoundRobin};
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;

type Make = fn() -> Box<dyn Strategy>;

const TIME: Duration = Duration::from_millis(300);

/// A program whose execution with this number goes on in its middle only when the time of the search is over.
struct Late {
    program: Counters,
    executions: u32,
    late: u32,
    over_at: Instant,
}

struct LateExecution {
    system: <Counters as Program>::System,
    /// Until when it waits.
    waits: Option<Instant>,
}

impl Program for Late {
    type System = LateExecution;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> LateExecution {
        self.executions += 1;
        let waits = (self.executions == self.late).then_some(self.over_at);
        LateExecution { system: self.program.start(seed, trace), waits }
    }
}

impl System for LateExecution {
    fn point(&self) -> Point<'_> {
        self.system.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        self.system.advance(choice, trace);
        if let Some(until) = self.waits.filter(|_| trace.len() >= 4) {
            thread::sleep(until.saturating_duration_since(Instant::now()));
        }
    }

    fn caveats(&self) -> Caveats {
        self.system.caveats()
    }

    fn describe(&self) -> &dyn Describe {
        self.system.describe()
    }
}

/// Long enough for the clock to be looked at in the middle.
fn program(late: u32) -> Late {
    Late { program: Counters::new(&[1, 80]), executions: 0, late, over_at: Instant::now() + TIME }
}

fn work(search: &Search, mut worker: Worker<'_>, program: &mut Late) -> (Report, Remains) {
    let _ = worker.work(program);
    search.leave(vec![worker])
}

/// All that is counted.
fn counts(report: &Report) -> [u64; 7] {
    let Report { executions, pruned, failing, states, steps, longest, caveats, .. } = report;
    [*executions, *pruned, *failing, *states, *steps, *longest, caveats.concurrent]
}

/// Stops a search in the middle of an execution and takes it up again; what both have counted must be what one has.
fn counts_nothing_twice(make: Make, executions: Option<u64>) {
    let limits = Limits { executions, repeats: false, ..Limits::default() };
    let mut strategy = make();
    let search = Search::new(&mut *strategy, &limits, 1);
    let (whole, _) = work(&search, search.worker(&mut *strategy), &mut program(0));
    assert!(whole.executions > 20, "{whole:?}");

    let mut strategy = make();
    let search = Search::new(&mut *strategy, &Limits { time: Some(TIME), ..limits.clone() }, 1);
    let (first, remains) = work(&search, search.worker(&mut *strategy), &mut program(15));
    assert!(!remains.is_empty(), "{first:?}");
    assert!(first.executions + first.pruned > 0 && first.steps > remains.total().steps, "{first:?}");

    let mut strategy = make();
    let left = executions.map(|most| most - remains.total().executions - remains.total().pruned);
    let search = Search::resume(&mut *strategy, &Limits { executions: left, ..limits }, 1, remains);
    let (both, _) = work(&search, search.worker(&mut *strategy), &mut program(0));
    assert_eq!(counts(&both), counts(&whole), "{}", both.strategy);
}

#[test]
fn what_is_run_again_is_counted_once() {
    let strategies: [(Make, Option<u64>); 6] = [
        (|| Box::new(Exhaustive::depth_first()), None),
        (|| Box::new(Dpor::classic()), None),
        (|| Box::new(Preemption::unbounded()), None),
        (|| Box::new(Delay::new(RoundRobin::default())), None),
        (|| Box::new(States::default()), None),
        (|| Box::new(IterativeRandom::new(1).from_depth(100)), Some(60)),
    ];
    thread::scope(|scope| {
        for (make, executions) in strategies {
            scope.spawn(move || counts_nothing_twice(make, executions));
        }
    });
}
