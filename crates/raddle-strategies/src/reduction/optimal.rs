//! Optimal reduction: one execution per trace, and no pruned ones (Abdulla et al., JACM 2017, algorithm 2).
//!
//! A race is reversed by inserting its whole reversing sequence `v` into the wakeup tree of the first event's node, unless
//! some item of the sleep set there is a weak initial of `v`: then the traces that `v` leads to have been run.
//!
//! Difference from the paper: there, each task has one next step. An actor that chooses among messages has several, and all of them are run
//! [where one is](Node::take). Some of these lead to traces that were run before, and are pruned.

use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Events, Label};
use raddle_engine::trace::Role;

use super::interned::Interned;
use super::item::{Item, Progress};
use super::path::Node;
use super::wakeup::{MatchRules, RaceFirst, WeakInitial, contains_equivalent, insert, weak_initial};

/// How a sequence relates to a sleep set.
pub(super) enum Coverage {
    /// The sleep set does not cover the sequence.
    No,
    /// The sequence can begin with a sleeping item, which is this event.
    ByEvent(usize),
    /// The sequence commutes with a sleeping item whose subtree is done.
    ByIndependent,
}

/// A quick test for a covered sequence, before the sequence is computed. The sequence begins with the first event that does not happen
/// after the race's first event. If that event is asleep, returns its index.
pub(super) fn covered_by_first(
    events: &Events,
    before: &Before,
    node: &Node,
    (first, second): (usize, usize),
) -> Option<usize> {
    if matches!(events.get(second).label, Label::Value(_)) {
        return None;
    }
    let after = before.after(events, first);
    let begins = (first + 1..before.len()).find(|&at| at != second && !after(at));
    begins.filter(|&at| {
        let event = events.get(at);
        let waits = || events.touches(at).iter().any(|touch| touch.role == Role::Takes);
        event.task != events.get(second).task && !waits() && node.is_asleep((event.task, event.label), true)
    })
}

/// Checks whether the sleep set covers the traces that a sequence leads to.
///
/// If the sequence can begin with a sleeping item, it is covered. So is every other sequence for the same race that contains this event,
/// because events that happen after the race's second event, and not after its first, are independent of the second. If the sequence only
/// commutes with a sleeping item, it may continue with an event that does not. That continuation is planned while the item's
/// subtree is explored, so the subtree must be done.
pub(super) fn covered_by_sleep(
    events: &Events,
    node: &Node,
    sequence: &[u32],
    race_first: RaceFirst,
    exact: bool,
) -> Coverage {
    for item in &node.sleep {
        match weak_initial(events, sequence, item, race_first, exact) {
            WeakInitial::Event(at) => return Coverage::ByEvent(sequence[at] as usize),
            WeakInitial::Independent
                if item.progress == Progress::Done
                    && stands_for_task(events, node, sequence, item, race_first, exact) =>
            {
                return Coverage::ByIndependent;
            }
            WeakInitial::Independent | WeakInitial::No => {}
        }
    }
    Coverage::No
}

/// True if a sleeping item that commutes with a sequence represents all alternatives of its task. Other alternatives of the task (other
/// messages) lead to other traces, so they must sleep and commute as well.
fn stands_for_task(
    events: &Events,
    node: &Node,
    sequence: &[u32],
    item: &Item,
    race_first: RaceFirst,
    exact: bool,
) -> bool {
    let commutes = |other: &Item| {
        other.progress == Progress::Done
            && matches!(weak_initial(events, sequence, other, race_first, exact), WeakInitial::Independent)
    };
    let is_other = |option: &&(TaskId, Label)| option.0 == item.task && option.1 != item.label;
    let sleeps =
        |option: &(TaskId, Label)| node.sleep.iter().any(|other| other.is(option.0, option.1, true) && commutes(other));
    node.options.iter().filter(is_other).all(sleeps)
}

/// True if the wakeup tree contains a sequence equivalent to `sequence`. Does not reorder `sequence`. For `current` see [`plan`].
pub(super) fn is_planned(
    events: &Events,
    node: &Node,
    current: Option<usize>,
    sequence: &[u32],
    (race_first, exact): (RaceFirst, bool),
) -> bool {
    let stays_asleep = &|led: &[u32]| stays_asleep(events, &node.sleep, current, led, (race_first, exact));
    contains_equivalent(events, &node.tree, &mut sequence.to_vec(), 0, MatchRules { race_first, exact, stays_asleep })
}

/// Inserts a sequence that the sleep set does not cover into the wakeup tree. Returns whether the tree has changed. `current` is the event
/// that is being run from the node, if it is not in the sleep set already.
pub(super) fn plan(
    events: &Events,
    node: &mut Node,
    current: Option<usize>,
    sequence: &mut [u32],
    (race_first, exact): (RaceFirst, bool),
    item: &mut dyn FnMut(u32) -> Interned,
) -> bool {
    for slept in node.sleep.iter_mut().filter(|item| item.progress == Progress::Running) {
        if matches!(weak_initial(events, sequence, slept, race_first, exact), WeakInitial::Independent) {
            slept.progress = Progress::AssumedRunning;
        }
    }
    let Node { sleep, tree, .. } = node;
    let stays_asleep = &|led: &[u32]| stays_asleep(events, sleep, current, led, (race_first, exact));
    insert(events, tree, sequence, 0, MatchRules { race_first, exact, stays_asleep }, item)
}

/// True if an item of the sleep set, or the current event, is still asleep after the events `led`.
fn stays_asleep(
    events: &Events,
    sleep: &[Item],
    current: Option<usize>,
    led: &[u32],
    (race_first, exact): (RaceFirst, bool),
) -> bool {
    let wakes = |at: usize, event: usize| events.get(at).task == events.get(event).task || events.dependent(at, event);
    let stays = |at: usize| !led.iter().any(|&event| wakes(at, event as usize));
    current.is_some_and(stays)
        || sleep.iter().any(|item| !matches!(weak_initial(events, led, item, race_first, exact), WeakInitial::No))
}
