//! Source sets (POPL 2014, algorithm 1): a race is reversed by running, from the first event's node, some event with which
//! the reversing sequence can begin. With sleep sets, each trace is run to its end once, but some executions are given up.

use super::path::Node;
use super::wakeup::{Begins, Item, begins};
use crate::order::events::Events;

pub(super) fn plan(events: &Events, node: &mut Node, sequence: &[u32]) {
    let initial = |&at: &u32| {
        let item = Item::of(events, at as usize);
        matches!(begins(events, sequence, &item, None, true), Begins::With(place) if sequence[place] == at)
    };
    let option = |at: u32| (events.get(at as usize).task, events.get(at as usize).label);
    let mut initials = sequence.iter().copied().filter(|at| initial(at)).map(option);
    let Some(first) = initials.next() else { return };
    if !node.covers(first) && !initials.any(|other| node.covers(other)) {
        node.add(first);
    }
}
