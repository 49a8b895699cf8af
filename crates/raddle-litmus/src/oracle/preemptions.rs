//! Runs every execution, and groups them by their number of preemptions.

use std::collections::HashSet;

use raddle_engine::system::{Point, System};
use raddle_engine::trace::Trace;

use super::orders::{Order, Relation, order, relation};
use super::{Ends, Event, Uncounted, after, end_of};
use crate::program::{Execution, Program};

/// The executions with one number of preemptions.
#[derive(Clone, Debug, Default)]
pub struct Bounded {
    /// All of them.
    pub(super) orders: HashSet<Order>,
    /// Their happens-before relations.
    pub(super) traces: HashSet<Relation>,
    /// Their ends.
    pub ends: Ends,
}

impl Bounded {
    /// How many there are.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.orders.len() as u64
    }

    /// True if one of them fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.ends.iter().any(|(_, failure)| failure.is_some())
    }
}

/// Runs all executions, at most `limit` of them. Returns those without a preemption first, then those with one, and so on up to the largest
/// number.
///
/// A preemption is a step by another thread than the previous step's, although that thread is enabled.
///
/// # Errors
///
/// If there are too many.
pub fn preemptions(program: &Program, limit: usize) -> Result<Vec<Bounded>, Uncounted> {
    let mut walk = Walk { found: Vec::new(), path: Vec::new(), left: limit, limit, trace: Trace::default() };
    walk.walk(&program.begin(), None, 0)?;
    Ok(walk.found)
}

struct Walk {
    found: Vec<Bounded>,
    path: Vec<(Event, Option<u32>)>,
    left: usize,
    limit: usize,
    trace: Trace,
}

impl Walk {
    fn walk(&mut self, at: &Execution, last: Option<u32>, cost: usize) -> Result<(), Uncounted> {
        if self.path.len() > self.limit {
            return Err(Uncounted::Endless);
        }
        match at.point() {
            Point::End(_) => self.record(at, cost)?,
            Point::Data { choices, .. } => {
                for choice in 0..choices {
                    let (next, event) = after(at, choice, &mut self.trace);
                    self.path.push((event, Some(choice)));
                    self.walk(&next, last, cost)?;
                    self.path.pop();
                }
            }
            Point::Actions(actions) => {
                let could = |thread: u32| actions.iter().any(|action| action.task.number() == thread);
                for choice in 0..at.point().alternatives() {
                    let (next, event) = after(at, choice, &mut self.trace);
                    let thread = event.task;
                    let preempts = last.is_some_and(|last| last != thread && could(last));
                    self.path.push((event, None));
                    self.walk(&next, Some(thread), cost + usize::from(preempts))?;
                    self.path.pop();
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, at: &Execution, cost: usize) -> Result<(), Uncounted> {
        self.left = self.left.checked_sub(1).ok_or(Uncounted::TooLarge(self.limit))?;
        if self.found.len() <= cost {
            self.found.resize_with(cost + 1, Bounded::default);
        }
        let some = &mut self.found[cost];
        some.orders.insert(order(&self.path));
        some.traces.insert(relation(&self.path));
        some.ends.insert(end_of(at));
        Ok(())
    }
}
