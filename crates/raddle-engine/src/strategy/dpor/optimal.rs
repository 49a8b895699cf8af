//! Optimal reduction: one execution for each trace, and none that is given up (JACM 2017, algorithm 2).
//!
//! A race is reversed by inserting its whole reversing sequence `v` into the wakeup tree of the first event's node, unless
//! something asleep there is a weak initial of `v`: then what `v` leads to has been run.

use super::path::Node;
use super::wakeup::{Begins, Instead, begins, insert};
use crate::order::events::Events;

pub(super) fn plan(events: &Events, node: &mut Node, sequence: &mut Vec<u32>, instead: Instead, exact: bool) {
    let covered = node.sleep.iter().any(|item| !matches!(begins(events, sequence, item, instead, exact), Begins::No));
    if !covered {
        insert(events, &mut node.tree, sequence, instead, exact);
    }
}
