//! Optimal reduction: one execution for each trace, and none that is given up (JACM 2017, algorithm 2). The papers' tasks do one thing next.
//! An actor that chooses among messages can do several, and takes them all [wherever it takes one](Node::take): some of these turn
//! out to lead to what has been run, and are given up there.
//!
//! A race is reversed by inserting its whole reversing sequence `v` into the wakeup tree of the first event's node, unless
//! something asleep there is a weak initial of `v`: then what `v` leads to has been run.

use super::kept::Kept;
use super::path::Node;
use super::wakeup::{Begins, Instead, Item, Open, Terms, begins, insert, leads_there};
use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Events, Label};
use raddle_engine::trace::Role;

/// What a sequence has to do with what sleeps.
pub(super) enum Slept {
    /// Nothing: what it leads to belongs to nothing that sleeps.
    No,
    /// It can begin with something that sleeps, which is this event of it.
    Begins(usize),
    /// It commutes with something that sleeps and is done.
    Beside,
}

/// If it can be told without the sequence that it leads to what has been run, because of which event that is: it begins with the
/// first event that does not happen after the race's first, and that one was run already.
pub(super) fn covered_by(
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

/// Whether what a sequence leads to belongs to something that sleeps.
///
/// If it begins with that, it does, and so does every other sequence for the same race that has the event: what comes after the
/// race's second event, and not after its first, is independent of the second. If it only commutes with it, it may go on to something that
/// does not, and that is planned when what sleeps is run: to rely on it, that must be done.
pub(super) fn slept_through(events: &Events, node: &Node, sequence: &[u32], instead: Instead, exact: bool) -> Slept {
    for item in &node.sleep {
        match begins(events, sequence, item, instead, exact) {
            Begins::With(at) => return Slept::Begins(sequence[at] as usize),
            Begins::Besides
                if item.open == Open::No && stands_for_task(events, node, sequence, item, instead, exact) =>
            {
                return Slept::Beside;
            }
            Begins::Besides | Begins::No => {}
        }
    }
    Slept::No
}

/// Whether an item that sleeps and commutes with a sequence stands for all that its task can do: if the task can go on in other ways (with
/// other messages), what these lead to is another matter.
fn stands_for_task(events: &Events, node: &Node, sequence: &[u32], item: &Item, instead: Instead, exact: bool) -> bool {
    let commutes = |other: &Item| {
        other.open == Open::No && matches!(begins(events, sequence, other, instead, exact), Begins::Besides)
    };
    let is_other = |option: &&(TaskId, Label)| option.0 == item.task && option.1 != item.label;
    let sleeps =
        |option: &(TaskId, Label)| node.sleep.iter().any(|other| other.is(option.0, option.1, true) && commutes(other));
    node.options.iter().filter(is_other).all(sleeps)
}

/// Whether something is to be run that leads to what `sequence` leads to. Leaves it as it was. For `current` see [`plan`].
pub(super) fn is_planned(
    events: &Events,
    node: &Node,
    current: Option<usize>,
    sequence: &[u32],
    (instead, exact): (Instead, bool),
) -> bool {
    let sleeps_on = &|led: &[u32]| sleeps_on(events, &node.sleep, current, led, (instead, exact));
    leads_there(events, &node.tree, &mut sequence.to_vec(), 0, Terms { instead, exact, sleeps_on })
}

/// Plans to run a sequence that belongs to nothing asleep; whether anything was planned. `current` is the event that is being run
/// from the node, unless that is among what sleeps already.
pub(super) fn plan(
    events: &Events,
    node: &mut Node,
    current: Option<usize>,
    sequence: &mut [u32],
    (instead, exact): (Instead, bool),
    item: &mut dyn FnMut(u32) -> Kept,
) -> bool {
    for slept in node.sleep.iter_mut().filter(|item| item.open == Open::Yes) {
        if matches!(begins(events, sequence, slept, instead, exact), Begins::Besides) {
            slept.open = Open::Still;
        }
    }
    let Node { sleep, tree, .. } = node;
    let sleeps_on = &|led: &[u32]| sleeps_on(events, sleep, current, led, (instead, exact));
    insert(events, tree, sequence, 0, Terms { instead, exact, sleeps_on }, item)
}

/// Whether something that was run before, or is being run, sleeps on after these events.
fn sleeps_on(
    events: &Events,
    sleep: &[Item],
    current: Option<usize>,
    led: &[u32],
    (instead, exact): (Instead, bool),
) -> bool {
    let wakes = |at: usize, event: usize| events.get(at).task == events.get(event).task || events.dependent(at, event);
    let stays = |at: usize| !led.iter().any(|&event| wakes(at, event as usize));
    current.is_some_and(stays)
        || sleep.iter().any(|item| !matches!(begins(events, led, item, instead, exact), Begins::No))
}
