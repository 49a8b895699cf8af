//! Source sets (Abdulla et al., POPL 2014, algorithm 1): a race is reversed by running, at the first event's node, some initial of the
//! reversing sequence. With sleep sets, each trace has one complete execution, but some executions are pruned.

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label};

/// The initials of `sequence`, as alternatives of a node. An initial is the first event of its task, and depends on no earlier event.
pub(super) fn initials(events: &Events, sequence: &[u32]) -> Vec<(TaskId, Label)> {
    let option = |at: usize| (events.get(sequence[at] as usize).task, events.get(sequence[at] as usize).label);
    let is_first = |at: usize| !sequence[..at].iter().any(|&earlier| events.get(earlier as usize).task == option(at).0);
    let initial = |&at: &usize| is_first(at) && !depends_on_earlier(events, sequence, at);
    (0..sequence.len()).filter(initial).map(option).collect()
}

/// True if some event of the sequence has to come before the event at `at`.
fn depends_on_earlier(events: &Events, sequence: &[u32], at: usize) -> bool {
    let waits_for = |own: u32| sequence[..at].iter().any(|&earlier| events.dependent(earlier as usize, own as usize));
    at > 0 && with_its_values(events, sequence, at).any(waits_for)
}

/// The event at `at` of a sequence, and the values it asks for. Nothing comes between them.
fn with_its_values<'a>(events: &'a Events, sequence: &'a [u32], at: usize) -> impl Iterator<Item = u32> + 'a {
    let task = events.get(sequence[at] as usize).task;
    let own = sequence[at + 1..].iter().copied().filter(move |&event| events.get(event as usize).task == task);
    let values = own.take_while(|&event| matches!(events.get(event as usize).label, Label::Value(_)));
    std::iter::once(sequence[at]).chain(values)
}
