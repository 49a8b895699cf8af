//! Optimal reduction: one execution for each trace, and none that is given up (JACM 2017, algorithm 2).
//!
//! A race is reversed by inserting its whole reversing sequence `v` into the wakeup tree of the first event's node, unless
//! something asleep there is a weak initial of `v`: then what `v` leads to has been run.

use super::path::Node;
use super::wakeup::{Begins, Instead, Open, begins, belongs_to, insert, leads_there};
use crate::order::before::Before;
use crate::order::events::{Events, Label};
use crate::trace::Role;

/// Whether it can be told without the sequence that it leads to what has been run: it begins with the first event that does not
/// happen after the race's first, and that one was run already.
pub(super) fn is_covered(events: &Events, before: &Before, node: &Node, (first, second): (usize, usize)) -> bool {
    if matches!(events.get(second).label, Label::Value(_)) {
        return false;
    }
    let begins = (first + 1..before.len()).find(|&at| at != second && !before.ordered(events, first, at));
    begins.is_some_and(|at| {
        let event = events.get(at);
        let waits = || events.touches(at).iter().any(|touch| touch.role == Role::Takes);
        event.task != events.get(second).task && !waits() && node.is_asleep((event.task, event.label), true)
    })
}

/// Whether something was run or is to be run that leads to what `sequence` leads to.
pub(super) fn is_known(events: &Events, node: &Node, sequence: &[u32], instead: Instead, exact: bool) -> bool {
    is_asleep(events, node, sequence, instead, exact)
        || leads_there(events, &node.tree, &mut sequence.to_vec(), instead, exact)
}

/// Whether it belongs to something that sleeps.
fn is_asleep(events: &Events, node: &Node, sequence: &[u32], instead: Instead, exact: bool) -> bool {
    node.sleep.iter().any(|item| belongs_to(events, sequence, item, instead, exact))
}

/// Whether anything was planned.
pub(super) fn plan(events: &Events, node: &mut Node, sequence: &mut Vec<u32>, instead: Instead, exact: bool) -> bool {
    if is_asleep(events, node, sequence, instead, exact) {
        return false;
    }
    for item in node.sleep.iter_mut().filter(|item| item.open == Open::Yes) {
        if matches!(begins(events, sequence, item, instead, exact), Begins::Besides) {
            item.open = Open::Still;
        }
    }
    insert(events, &mut node.tree, sequence, instead, exact)
}
