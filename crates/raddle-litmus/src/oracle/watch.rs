//! A program that records what a search runs.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Participants, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{self, Choice, Describe, Pending, Point, Snapshots, System};
use raddle_engine::trace::Trace;

use super::orders::{Order, Relation, order, relation};
use super::{Bounded, Ends, Event, end_of, event};
use crate::program::{Execution, Program};

/// A litmus program that records the trace and the end of each complete execution. Copies share their records, so every worker of a
/// search can have one.
#[derive(Clone, Debug)]
pub struct Watched {
    program: Program,
    seen: Arc<Mutex<Seen>>,
}

/// The recorded executions.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// How often each trace was run.
    traces: HashMap<Relation, u64>,
    orders: HashSet<Order>,
    /// The ends of the executions.
    pub ends: Ends,
}

impl Seen {
    /// The number of different traces.
    #[must_use]
    pub fn traces(&self) -> u128 {
        self.traces.len() as u128
    }

    /// The largest number of executions of one trace; 0 if there are none.
    #[must_use]
    pub fn most_often(&self) -> u64 {
        self.traces.values().copied().max().unwrap_or(0)
    }

    /// True if the executions were exactly these, in any order. Does not compare how often each was run.
    #[must_use]
    pub fn is_exactly(&self, all: &[Bounded]) -> bool {
        self.orders.len() == all.iter().map(|some| some.orders.len()).sum::<usize>()
            && all.iter().flat_map(|some| &some.orders).all(|order| self.orders.contains(order))
    }

    /// True if the executions have exactly the traces and the ends of these.
    #[must_use]
    pub fn covers_exactly(&self, all: &[Bounded]) -> bool {
        let traces: HashSet<&Relation> = all.iter().flat_map(|some| &some.traces).collect();
        let ends: HashSet<_> = all.iter().flat_map(|some| &some.ends).collect();
        let same_traces = self.traces.len() == traces.len() && traces.iter().all(|it| self.traces.contains_key(*it));
        same_traces && self.ends.len() == ends.len() && ends.iter().all(|end| self.ends.contains(*end))
    }

    /// True if both have the same executions. Does not compare how often each was run.
    #[must_use]
    pub fn same_executions(&self, other: &Self) -> bool {
        self.orders == other.orders
    }

    /// True if both have the same traces.
    #[must_use]
    pub fn same_traces(&self, other: &Self) -> bool {
        self.traces.len() == other.traces.len() && self.traces.keys().all(|trace| other.traces.contains_key(trace))
    }
}

impl Watched {
    /// With an empty record.
    #[must_use]
    pub fn new(program: Program) -> Self {
        Self { program, seen: Arc::default() }
    }

    /// The executions so far, of this program and its copies.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl system::Program for Watched {
    type System = Watching;

    fn is_deterministic(&self) -> bool {
        true
    }

    fn start(&mut self, _: u64, _: &mut Trace) -> Watching {
        let watching = Watching { execution: self.program.begin(), path: Vec::new(), seen: Arc::clone(&self.seen) };
        watching.record_if_over();
        watching
    }
}

/// An execution of a [`Watched`] program.
#[derive(Clone, Debug)]
pub struct Watching {
    execution: Execution,
    path: Vec<(Event, Option<u32>)>,
    seen: Arc<Mutex<Seen>>,
}

impl Watching {
    /// Records the execution if it is over.
    fn record_if_over(&self) {
        if let Point::End(_) = self.execution.point() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen.traces.entry(relation(&self.path)).or_default() += 1;
            seen.orders.insert(order(&self.path));
            seen.ends.insert(end_of(&self.execution));
        }
    }
}

impl System for Watching {
    fn point(&self) -> Point<'_> {
        self.execution.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        let is_choice = matches!(self.execution.point(), Point::Data { .. });
        self.execution.advance(choice, trace);
        self.path.push((event(trace), is_choice.then_some(choice.0)));
        self.record_if_over();
    }

    fn describe(&self) -> &dyn Describe {
        self
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        Some(self)
    }
}

impl Describe for Watching {
    fn task_name(&self, task: TaskId) -> TaskName {
        self.execution.task_name(task)
    }

    fn participants(&self) -> Participants {
        self.execution.participants()
    }

    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting> {
        self.execution.unfinished(so_far)
    }

    fn pending(&self) -> Vec<Pending> {
        self.execution.pending()
    }
}

impl Snapshots<Self> for Watching {
    fn fork(&self) -> Self {
        self.clone()
    }

    fn fingerprint(&self) -> Option<u64> {
        self.execution.fingerprint()
    }
}
