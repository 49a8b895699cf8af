//! Runs every execution, and computes its happens-before relation.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use raddle_engine::system::{Point, System, Variant};
use raddle_engine::trace::Trace;

use super::{Count, Counted, Event, Uncounted, after, end_of};
use crate::program::{Execution, Program};
use crate::state::State;

/// Counts the different happens-before relations by running every execution, at most `limit` of them.
///
/// # Errors
///
/// If there are too many.
///
/// # Panics
///
/// If two executions with the same relation end differently: then the accesses of some step are incomplete.
pub fn orders(program: &Program, limit: usize) -> Result<Counted, Uncounted> {
    let mut search = Orders { seen: HashMap::new(), trace: Trace::default(), limit, runs: 0 };
    search.walk(&program.begin(), &mut Vec::new())?;
    let mut count = Count::default();
    for (_, failure) in search.seen.values() {
        count.add(Count::one(failure.is_some()));
    }
    Ok(Counted { count, ends: search.seen.into_values().collect(), visited: search.runs })
}

/// By thread, in order: its events (with the value, for a choice) and, for each, how many events of each thread happen before it.
pub(super) type Relation = Vec<Vec<(Event, Option<u32>, Vec<u32>)>>;

struct Orders {
    /// By relation: the end of its executions.
    seen: HashMap<Relation, (State, Option<String>)>,
    trace: Trace,
    limit: usize,
    runs: usize,
}

impl Orders {
    fn walk(&mut self, execution: &Execution, path: &mut Vec<(Event, Option<u32>)>) -> Result<(), Uncounted> {
        if let Point::End(_) = execution.point() {
            self.runs += 1;
            let end = end_of(execution);
            match self.seen.entry(relation(path)) {
                // The accesses of steps define the equivalence of executions. A wrong access shows here.
                Entry::Occupied(before) => {
                    assert_eq!(*before.get(), end, "raddle bug: equivalent executions end differently: {path:?}");
                }
                Entry::Vacant(new) => {
                    new.insert(end);
                }
            }
            return if self.runs > self.limit { Err(Uncounted::TooLarge(self.limit)) } else { Ok(()) };
        }
        if path.len() > self.limit {
            return Err(Uncounted::Endless);
        }
        let is_choice = matches!(execution.point(), Point::Data { .. });
        for choice in 0..execution.point().alternatives() {
            let (next, event) = after(execution, choice, &mut self.trace);
            path.push((event, is_choice.then_some(choice)));
            self.walk(&next, path)?;
            path.pop();
        }
        Ok(())
    }
}

/// The decisions of an execution, in order: the thread, and the message or value that was chosen.
pub(super) type Order = Vec<(u32, Variant, Option<u32>)>;

pub(super) fn order(path: &[(Event, Option<u32>)]) -> Order {
    path.iter().map(|(event, value)| (event.task, event.variant, *value)).collect()
}

pub(super) fn relation(path: &[(Event, Option<u32>)]) -> Relation {
    let tasks = path.iter().map(|(event, _)| event.task as usize + 1).max().unwrap_or(0);
    let mut clocks: Vec<Vec<u32>> = Vec::with_capacity(path.len());
    let mut relation: Relation = vec![Vec::new(); tasks];
    for (event, value) in path {
        let mut clock = vec![0; tasks];
        for ((earlier, _), known) in path.iter().zip(&clocks) {
            if earlier.dependent(event) {
                clock.iter_mut().zip(known).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
        }
        clock[event.task as usize] += 1;
        relation[event.task as usize].push((event.clone(), *value, clock.clone()));
        clocks.push(clock);
    }
    relation
}
