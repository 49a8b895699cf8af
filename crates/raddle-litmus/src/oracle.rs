//! For tests: counts what a search should find, in ways that have nothing in common with the engine's searches.
//!
//! - [`traces`] counts the classes of equivalent executions (Mazurkiewicz traces) by a depth-first search with sleep sets
//!   and nothing else (Godefroid 1996, §5). Sleep sets cut off every execution but one of each class. They do not keep any
//!   state from being visited, so the search remembers what it found beyond each pair of state and sleep set, compared
//!   exactly: its cost grows with the states, not with the executions. Two steps are dependent if they are of the same
//!   thread, or touch a common object and one of them changes it; what a step touches is seen by taking it.
//! - [`executions`] counts all executions by remembering what lies beyond each state.
//! - [`orders`] runs every single execution, works out its happens-before relation and counts how many different ones there
//!   are. Slow, and as plain as can be: it is there to check [`traces`].
//! - [`preemptions`] runs every single execution as well, and sorts them by how many preemptions they have.
//! - [`Watched`] is a program that takes down the happens-before relations and the ends of the executions that any search runs.

mod orders;
mod preemptions;
mod watch;

use std::collections::{HashMap, HashSet};

use raddle_engine::ids::StepIx;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Choice, Point, System, Variant};
use raddle_engine::trace::{Effect, Role, Trace};
use thiserror::Error;

use crate::program::{Execution, Program};
use crate::state::State;

pub use orders::orders;
pub use preemptions::{Bounded, preemptions};
pub use watch::{Seen, Watched};

/// Why there is no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Uncounted {
    /// Some execution comes back to where it was.
    #[error("some executions never end")]
    Endless,
    /// There is more to remember than allowed.
    #[error("more than {0} states to remember")]
    TooLarge(usize),
}

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// In all.
    pub all: u128,
    /// Of those, the ones that fail.
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

/// How executions can end: the last states, and for those that fail, how.
pub type Ends = HashSet<(State, Option<String>)>;

/// What was counted, and how executions ended.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// How many.
    pub count: Count,
    /// With which ends.
    pub ends: Ends,
    /// Pairs of state and sleep set, or states, that were looked at.
    pub visited: usize,
}

/// The end of an execution that is over: its last state, and how it failed.
///
/// # Panics
///
/// If it is not over.
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

/// Something that can happen, with what it touches.
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

/// What the latest step did.
fn event(trace: &Trace) -> Event {
    let last = trace.len().checked_sub(1).expect("raddle bug: nothing happened");
    let step = &trace.steps()[last];
    let accesses = trace.accesses(StepIx::next_of(last)).filter(|a| !matches!(a.role, Role::Offers(_)));
    let touched = accesses.map(|a| (a.object.number(), a.effect == Effect::Change));
    Event { task: step.task.number(), variant: step.variant, touches: touched.collect() }
}

/// Does what was chosen on a copy, and tells what happened.
fn after(execution: &Execution, choice: u32, trace: &mut Trace) -> (Execution, Event) {
    let mut next = execution.clone();
    trace.clear();
    next.advance(Choice(choice), trace);
    (next, event(trace))
}

/// Counts traces, remembering at most `room` pairs of state and sleep set.
///
/// # Errors
///
/// If some execution never ends, or there is too much to remember.
pub fn traces(program: &Program, room: usize) -> Result<Counted, Uncounted> {
    let mut search = Sleeping { known: HashMap::new(), ends: Ends::new(), trace: Trace::default(), room };
    let count = search.beyond(&program.begin(), Vec::new())?;
    Ok(Counted { count, ends: search.ends, visited: search.known.len() })
}

struct Sleeping {
    /// `None` while the search is still beyond it.
    known: HashMap<(State, Vec<Event>), Option<Count>>,
    ends: Ends,
    trace: Trace,
    room: usize,
}

impl Sleeping {
    /// The traces that begin where `execution` is, but for those that begin with an event in `asleep`.
    fn beyond(&mut self, execution: &Execution, mut asleep: Vec<Event>) -> Result<Count, Uncounted> {
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
            None if self.known.len() == self.room => return Err(Uncounted::TooLarge(self.room)),
            None => {}
        }
        self.known.insert(key.clone(), None);
        let count = self.each(execution, key.1.clone())?;
        self.known.insert(key, Some(count));
        Ok(count)
    }

    fn each(&mut self, execution: &Execution, mut asleep: Vec<Event>) -> Result<Count, Uncounted> {
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
                    count.add(self.beyond(&next, still)?);
                    asleep.push(event);
                }
            }
            // Nobody else notices the choice, and its thread is awake.
            Point::Data { choices, .. } => {
                for choice in 0..choices {
                    let (next, _) = after(execution, choice, &mut self.trace);
                    count.add(self.beyond(&next, asleep.clone())?);
                }
            }
            Point::End(_) => {}
        }
        Ok(count)
    }
}

/// Counts all executions, remembering at most `room` states.
///
/// # Errors
///
/// If some execution never ends, or there is too much to remember.
pub fn executions(program: &Program, room: usize) -> Result<Counted, Uncounted> {
    let mut search = Plain { known: HashMap::new(), ends: Ends::new(), trace: Trace::default(), room };
    let count = search.beyond(&program.begin())?;
    Ok(Counted { count, ends: search.ends, visited: search.known.len() })
}

struct Plain {
    /// `None` while the search is still beyond it.
    known: HashMap<State, Option<Count>>,
    ends: Ends,
    trace: Trace,
    room: usize,
}

impl Plain {
    fn beyond(&mut self, execution: &Execution) -> Result<Count, Uncounted> {
        match self.known.get(execution.state()) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => return Err(Uncounted::Endless),
            None if self.known.len() == self.room => return Err(Uncounted::TooLarge(self.room)),
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
                count.add(self.beyond(&next)?);
            }
        }
        self.known.insert(execution.state().clone(), Some(count));
        Ok(count)
    }
}
