//! Every execution, one by one, by how many preemptions it has.

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
    /// How they end.
    pub ends: Ends,
}

impl Bounded {
    /// How many there are.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.orders.len() as u64
    }

    /// Whether one of them fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.ends.iter().any(|(_, failure)| failure.is_some())
    }
}

/// All executions, but not more than `room` of them: those without a preemption first, then those with one, and so on up to the
/// last number that any has.
///
/// A preemption is a step by another thread than took the step before, though that one could have taken this one too.
///
/// # Errors
///
/// If there are too many.
pub fn preemptions(program: &Program, room: usize) -> Result<Vec<Bounded>, Uncounted> {
    let mut walk = Walk { found: Vec::new(), path: Vec::new(), left: room, room, trace: Trace::default() };
    walk.beyond(&program.begin(), None, 0)?;
    Ok(walk.found)
}

struct Walk {
    found: Vec<Bounded>,
    path: Vec<(Event, Option<u32>)>,
    left: usize,
    room: usize,
    trace: Trace,
}

impl Walk {
    fn beyond(&mut self, at: &Execution, last: Option<u32>, cost: usize) -> Result<(), Uncounted> {
        if self.path.len() > self.room {
            return Err(Uncounted::Endless);
        }
        match at.point() {
            Point::End(_) => self.take_down(at, cost)?,
            Point::Data { choices, .. } => {
                for choice in 0..choices {
                    let (next, event) = after(at, choice, &mut self.trace);
                    self.path.push((event, Some(choice)));
                    self.beyond(&next, last, cost)?;
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
                    self.beyond(&next, Some(thread), cost + usize::from(preempts))?;
                    self.path.pop();
                }
            }
        }
        Ok(())
    }

    fn take_down(&mut self, at: &Execution, cost: usize) -> Result<(), Uncounted> {
        self.left = self.left.checked_sub(1).ok_or(Uncounted::TooLarge(self.room))?;
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
