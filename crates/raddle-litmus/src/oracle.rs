//! For tests: counts what a search must find, by algorithms that share no code with the engine's searches.
//!
//! - [`traces`] counts the classes of equivalent executions (Mazurkiewicz traces) by a depth-first search with sleep sets and nothing else
//!   (Godefroid 1996, section 5). Sleep sets prune all executions of a class but one. They do not prevent any state from being
//!   visited, so the search stores the count for each pair of state and sleep set, compared exactly. Its cost grows with
//!   the states, not with the executions. Two steps are dependent if they are of the same thread, or touch a common object and one of them
//!   changes it. The oracle takes a step to see what it touches.
//! - [`executions`] counts all executions, and stores the count for each state.
//! - [`orders`] runs every execution, computes its happens-before relation and counts the different ones. It is slow and simple: it checks
//!   [`traces`].
//! - [`preemptions`] runs every execution as well, and groups them by their number of preemptions.
//! - [`Watched`] is a program that records the happens-before relations and the ends of the executions that a search runs.

mod orders;
mod preemptions;
mod watch;

use std::collections::{HashMap, HashSet};

pub use orders::orders;
pub use preemptions::{Bounded, preemptions};
use raddle_engine::ids::StepIx;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Choice, Point, System, Variant};
use raddle_engine::trace::{Effect, Role, Trace};
use thiserror::Error;
pub use watch::{Seen, Watched};

use crate::program::{Execution, Program};
use crate::state::State;

/// Why there is no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Uncounted {
    /// Some execution returns to an earlier state.
    #[error("some executions never end")]
    Endless,
    /// There are more states than the limit.
    #[error("more than {0} states to remember")]
    TooLarge(usize),
}

/// The number of executions or traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All of them.
    pub all: u128,
    /// Those that fail.
    pub failing: u128,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.failing += other.failing;
    }

    fn one(failing: bool) -> Self {
        Self { all: 1, failing: u128::from(failing) }
    }
}

/// How executions can end: the final state and, if the execution fails, the failure.
pub type Ends = HashSet<(State, Option<String>)>;

/// The result of counting.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The numbers.
    pub count: Count,
    /// The ends of the executions.
    pub ends: Ends,
    /// The number of visited states, or pairs of state and sleep set.
    pub visited: usize,
}

/// The end of a finished execution: its final state, and its failure.
///
/// # Panics
///
/// If the execution is not finished.
#[must_use]
pub fn end_of(execution: &Execution) -> (State, Option<String>) {
    let Point::End(outcome) = execution.point() else {
        panic!("raddle bug: this execution has not ended");
    };
    (execution.state().clone(), failure_of(outcome))
}

fn failure_of(outcome: &Outcome) -> Option<String> {
    outcome.failure().map(|failure| match failure {
        Failure::Panic { message, place, .. } => format!("{message} {place:?}"),
        Failure::Deadlock { waiting } => format!("deadlock {:?}", waiting.iter().map(|w| w.task).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    })
}

/// A step, with the objects it touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Event {
    task: u32,
    variant: Variant,
    /// Objects, and whether they are changed.
    touches: Vec<(u32, bool)>,
}

impl Event {
    fn dependent(&self, other: &Self) -> bool {
        let conflict = |&(object, changed): &(u32, bool)| {
            other.touches.iter().any(|&(theirs, they_changed)| object == theirs && (changed || they_changed))
        };
        self.task == other.task || self.touches.iter().any(conflict)
    }
}

/// The latest step of a trace.
fn event(trace: &Trace) -> Event {
    let last = trace.len().checked_sub(1).expect("raddle bug: nothing happened");
    let step = &trace.steps()[last];
    let accesses = trace.accesses(StepIx::next_of(last)).filter(|a| !matches!(a.role, Role::Offers(_)));
    let touched = accesses.map(|a| (a.object.number(), a.effect == Effect::Change));
    Event { task: step.task.number(), variant: step.variant, touches: touched.collect() }
}

/// Takes a choice on a copy. Returns the copy and the step.
fn after(execution: &Execution, choice: u32, trace: &mut Trace) -> (Execution, Event) {
    let mut next = execution.clone();
    trace.clear();
    next.advance(Choice(choice), trace);
    (next, event(trace))
}

/// Counts traces, storing at most `limit` pairs of state and sleep set.
///
/// # Errors
///
/// If some execution never ends, or the limit is reached.
pub fn traces(program: &Program, limit: usize) -> Result<Counted, Uncounted> {
    let mut search = TraceCounter { known: HashMap::new(), ends: Ends::new(), trace: Trace::default(), limit };
    let count = search.count_from(&program.begin(), Vec::new())?;
    Ok(Counted { count, ends: search.ends, visited: search.known.len() })
}

struct TraceCounter {
    /// `None` while the search is below this pair.
    known: HashMap<(State, Vec<Event>), Option<Count>>,
    ends: Ends,
    trace: Trace,
    limit: usize,
}

impl TraceCounter {
    /// Counts the traces from this execution on, without those that begin with an event in `asleep`.
    fn count_from(&mut self, execution: &Execution, mut asleep: Vec<Event>) -> Result<Count, Uncounted> {
        if let Point::End(_) = execution.point() {
            let end = end_of(execution);
            let count = Count::one(end.1.is_some());
            self.ends.insert(end);
            return Ok(count);
        }
        asleep.sort_by_key(|event| (event.task, event.variant));
        let key = (execution.state().clone(), asleep);
        match self.known.get(&key) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => return Err(Uncounted::Endless),
            None if self.known.len() == self.limit => return Err(Uncounted::TooLarge(self.limit)),
            None => {}
        }
        self.known.insert(key.clone(), None);
        let count = self.count_alternatives(execution, key.1.clone())?;
        self.known.insert(key, Some(count));
        Ok(count)
    }

    fn count_alternatives(&mut self, execution: &Execution, mut asleep: Vec<Event>) -> Result<Count, Uncounted> {
        let mut count = Count::default();
        match execution.point() {
            Point::Actions(actions) => {
                for (choice, action) in (0..).zip(actions) {
                    let is_it = |event: &Event| (event.task, event.variant) == (action.task.number(), action.variant);
                    if asleep.iter().any(is_it) {
                        continue;
                    }
                    let (next, event) = after(execution, choice, &mut self.trace);
                    let still = asleep.iter().filter(|sleeper| !sleeper.dependent(&event)).cloned().collect();
                    count.add(self.count_from(&next, still)?);
                    asleep.push(event);
                }
            }
            // Other threads do not observe the choice, and its thread is awake.
            Point::Data { choices, .. } => {
                for choice in 0..choices {
                    let (next, _) = after(execution, choice, &mut self.trace);
                    count.add(self.count_from(&next, asleep.clone())?);
                }
            }
            Point::End(_) => {}
        }
        Ok(count)
    }
}

/// Counts all executions, storing at most `limit` states.
///
/// # Errors
///
/// If some execution never ends, or the limit is reached.
pub fn executions(program: &Program, limit: usize) -> Result<Counted, Uncounted> {
    let mut search = ExecutionCounter { known: HashMap::new(), ends: Ends::new(), trace: Trace::default(), limit };
    let count = search.count_from(&program.begin())?;
    Ok(Counted { count, ends: search.ends, visited: search.known.len() })
}

struct ExecutionCounter {
    /// `None` while the search is below this state.
    known: HashMap<State, Option<Count>>,
    ends: Ends,
    trace: Trace,
    limit: usize,
}

impl ExecutionCounter {
    fn count_from(&mut self, execution: &Execution) -> Result<Count, Uncounted> {
        match self.known.get(execution.state()) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => return Err(Uncounted::Endless),
            None if self.known.len() == self.limit => return Err(Uncounted::TooLarge(self.limit)),
            None => {}
        }
        let mut count = Count::default();
        if let Point::End(_) = execution.point() {
            let end = end_of(execution);
            count = Count::one(end.1.is_some());
            self.ends.insert(end);
        } else {
            self.known.insert(execution.state().clone(), None);
            for choice in 0..execution.point().alternatives() {
                let (next, _) = after(execution, choice, &mut self.trace);
                count.add(self.count_from(&next)?);
            }
        }
        self.known.insert(execution.state().clone(), Some(count));
        Ok(count)
    }
}
