//! Source sets (Abdulla et al., POPL 2014, algorithm 1): a race is reversed by running, at the first event's node, some initial of the
//! reversing sequence. With sleep sets, each trace has one complete execution, but some executions are pruned.

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label};

use super::item::Item;
use super::wakeup::{WeakInitial, weak_initial};

/// The initials of `sequence`, as alternatives of a node.
pub(super) fn initials(events: &Events, sequence: &[u32]) -> Vec<(TaskId, Label)> {
    let initial = |&at: &u32| {
        let item = Item::of(events, at as usize);
        matches!(weak_initial(events, sequence, &item, None, true), WeakInitial::Event(place) if sequence[place] == at)
    };
    let option = |at: u32| (events.get(at as usize).task, events.get(at as usize).label);
    sequence.iter().copied().filter(|at| initial(at)).map(option).collect()
}
