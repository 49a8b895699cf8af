//! Classic reduction: persistent sets (Flanagan and Godefroid, POPL 2005; ALGORITHMS.md section 4). From the node of a race's
//! first event, run the second event's task if it can go on there, or one that did something that its task knew of; if there is
//! none, run all.
//!
//! With sleep sets, a task that is asleep there would not be run after all, though what leads to the second event may wake it:
//! then, too, all are run.

use smallvec::SmallVec;

use super::path::Node;
use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Events, Label};

/// The options of `node` that lead to the second event, the one to prefer first.
pub(super) fn leading(
    events: &Events,
    before: &Before,
    node: &Node,
    (first, second): (usize, usize),
    previous: Option<usize>,
) -> Vec<(TaskId, Label)> {
    let target = events.get(second).task;
    // What the second event's task knew of came before what it did last. If one of a task's events was known and does not need
    // the first, its earliest was, and does not.
    let end = previous.map_or(0, |previous| previous + 1).min(second).min(before.len());
    let mut met: SmallVec<[TaskId; 8]> = SmallVec::new();
    let mut helpers: SmallVec<[TaskId; 8]> = SmallVec::new();
    for at in first + 1..end {
        let task = events.get(at).task;
        if !met.contains(&task) {
            met.push(task);
            let known = previous.is_some_and(|previous| before.ordered(events, at, previous));
            if known && !before.ordered(events, first, at) {
                helpers.push(task);
            }
        }
    }
    let leads = |task: TaskId| task == target || helpers.contains(&task);
    let mut good: Vec<_> = node.options.iter().copied().filter(|option| leads(option.0)).collect();
    good.sort_by_key(|option| option.0 != target);
    good
}
