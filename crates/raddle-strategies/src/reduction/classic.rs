//! Classic reduction: persistent sets (Flanagan and Godefroid, POPL 2005).
//!
//! To reverse a race, run at the first event's node the task of the second event, if it is enabled there. Otherwise run a task with an
//! event in between that happens before some earlier event of the second event's task. If no such task is enabled, run all.
//!
//! With sleep sets, such a task may be asleep at the node and so would not be run, although an event of the reversed execution may wake
//! it. In this case, too, all are run.

use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Events, Label};
use smallvec::SmallVec;

use super::path::Node;

/// The options of `node` that lead to the second event, the preferred one first.
pub(super) fn leading(
    events: &Events,
    before: &Before,
    node: &Node,
    (first, second): (usize, usize),
    previous: Option<usize>,
) -> Vec<(TaskId, Label)> {
    let target = events.get(second).task;
    // Helpers have an event that happens before `previous` and not after the first event. If some event of a task is like that, the
    // task's earliest event is.
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
