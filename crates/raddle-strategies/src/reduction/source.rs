//! Source sets (POPL 2014, algorithm 1): a race is reversed by running, from the first event's node, some event with which
//! the reversing sequence can begin. With sleep sets, each trace is run to its end once, but some executions are given up.

use super::wakeup::{Begins, Item, begins};
use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label};

/// What `sequence` can begin with, as options of a node.
pub(super) fn initials(events: &Events, sequence: &[u32]) -> Vec<(TaskId, Label)> {
    let initial = |&at: &u32| {
        let item = Item::of(events, at as usize);
        matches!(begins(events, sequence, &item, None, true), Begins::With(place) if sequence[place] == at)
    };
    let option = |at: u32| (events.get(at as usize).task, events.get(at as usize).label);
    sequence.iter().copied().filter(|at| initial(at)).map(option).collect()
}
