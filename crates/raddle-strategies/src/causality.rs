//! Causal order of messages, as reduction needs it: which messages must be received before another, if delivery is causal.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::events::{Events, Offered, Touch};
use raddle_engine::trace::{Class, Role};

use crate::time_left::TimeLeft;

/// True if the message `earlier` causally precedes the message `later`. Only messages and creations of tasks carry causality here. Once the
/// time is over, the answer means nothing.
pub(crate) fn causally_precedes(events: &Events, time: &TimeLeft, earlier: usize, later: usize) -> bool {
    let (first, last) = (events.offered()[earlier], events.offered()[later]);
    let mut tasks: Vec<TaskId> = vec![first.task];
    let mut carriers: Vec<ObjectId> = Vec::new();
    let sent_with = |sent: &&Offered| sent.event == first.event && sent.task == first.task;
    carriers.extend(events.offered()[earlier..].iter().filter(sent_with).map(|sent| sent.message));
    let Some(end) = last.event else { return tasks.contains(&last.task) };
    for at in first.event.map_or(0, |event| event + 1)..=end {
        if time.is_over() {
            break;
        }
        let task = events.get(at).task;
        let tells = |touch: &&Touch| touch.role == Role::Takes && carriers.contains(&touch.object);
        if !tasks.contains(&task) && events.touches(at).iter().any(|touch| tells(&touch)) {
            tasks.push(task);
        }
        if tasks.contains(&task) {
            let sends = events.get(at).class == Class::Send;
            let given = events
                .touches(at)
                .iter()
                .filter(|touch| touch.role == Role::Gives && (sends || carries_causality(touch)));
            carriers.extend(given.map(|touch| touch.object));
        }
    }
    tasks.contains(&last.task)
}

/// True if receiving this carries causality from the giver.
fn carries_causality(touch: &Touch) -> bool {
    touch.object.as_message().is_some() || touch.is_birth()
}
