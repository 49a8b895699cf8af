//! Classic reduction: persistent sets (Flanagan and Godefroid, POPL 2005; ALGORITHMS.md section 4). From the node of a race's
//! first event, run the second event's task if it can go on there, or one that did something that happens before the second
//! event; if there is none, run all.

use super::path::Node;
use crate::ids::TaskId;
use crate::order::before::Before;
use crate::order::events::Events;

pub(super) fn plan(
    events: &Events,
    before: &Before,
    node: &mut Node,
    (first, second): (usize, usize),
    previous: Option<usize>,
) {
    let target = events.get(second).task;
    let leads = |task: TaskId| {
        let helps = |at: usize| {
            let known = previous.is_some_and(|previous| before.ordered(events, at, previous));
            let in_time = events.get(at).task == task && !before.ordered(events, first, at);
            in_time && (known || (second < before.len() && before.ordered(events, at, second)))
        };
        task == target || (first + 1..second.min(before.len())).any(helps)
    };
    let good: Vec<_> = node.options.iter().copied().filter(|option| leads(option.0)).collect();
    if good.is_empty() {
        for option in node.options.clone() {
            if option != node.current() {
                node.add(option);
            }
        }
    } else if !good.iter().any(|option| node.covers(*option)) {
        let own = good.iter().copied().find(|option| option.0 == target);
        node.add(own.unwrap_or(good[0]));
    }
}
