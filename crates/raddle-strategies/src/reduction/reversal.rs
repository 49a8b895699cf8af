//! How a race is reversed: computes the sequence `v` that is run at the node of the race's first event.
//!
//! `v` consists of all events between the first event `e` and the second event `e'` that do not happen after `e`, and then of `e'`
//! (`v = notdep(e, E) · e'` in Abdulla et al.).

use raddle_engine::ids::ObjectId;
use raddle_engine::order::before::{Before, Race};
use raddle_engine::order::events::{Event, Events, Label, Touch};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Role};

use super::path::Node;

/// The second event of a race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub event: usize,
    /// The latest event of its task before it.
    pub previous: Option<usize>,
}

const TIMED_OUT: Label = Label::Way(Variant::TimedOut);

/// The latest event without which the wait would have ended by timeout, if there is one.
pub(super) fn prevented_timeout(events: &Events, before: &Before, nodes: &[Node], ended: Second) -> Option<usize> {
    let Event { task, label, object, .. } = *events.get(ended.event);
    let changes = |touch: &Touch| touch.object == object && touch.effect == Effect::Change;
    let rivals = (0..ended.event.min(before.len())).rev().filter(|&at| events.touches(at).iter().any(changes));
    let free = |at: &usize| {
        events.get(*at).task != task && !ended.previous.is_some_and(|previous| before.ordered(events, *at, previous))
    };
    // If the task had not reached the wait at `at`, its next step there was another one.
    let waits = |at: usize| ended.previous.is_none_or(|previous| previous < at);
    rivals.take_while(free).find(|&at| !waits(at) || !nodes[at].has(task, label))
}

/// Adds a supposed event: a wait that ended otherwise ends by timeout.
pub(super) fn suppose_timed_out(events: &mut Events, ended: usize) -> usize {
    let Event { task, class, object, timed, .. } = *events.get(ended);
    let mut touches = events.touches(ended).to_vec();
    for touch in &mut touches {
        if touch.object == timed {
            *touch = Touch { effect: Effect::Change, role: Role::Timed, ..*touch };
        } else if touch.object == object {
            *touch = Touch { effect: Effect::Read, role: Role::Plain, ..*touch };
        }
    }
    events.suppose(Event::pending(task, TIMED_OUT, class, object), touches)
}

/// The node at which a race can be reversed, if it can. It is the first event's node or, if that event is a value, the node of the step
/// that asked for it.
pub(super) fn origin(events: &Events, before: &Before, nodes: &[Node], race: &Race, second: Second) -> Option<usize> {
    let mut first = race.first;
    while matches!(events.get(first).label, Label::Value(_)) {
        first = first.checked_sub(1)?;
    }
    if first != race.first && second.previous.is_some_and(|previous| before.ordered(events, first, previous)) {
        return None;
    }
    // If the second event's step was already pending there, the node shows whether it was enabled.
    let there = second.previous.is_none_or(|previous| previous < first);
    let Event { task, label, .. } = *events.get(second.event);
    let ready = there && nodes[first].has(task, label);
    // It may need what an earlier value of the same step has sent or released.
    if first != race.first && !ready && takes_from(events, second.event, after(events, before, first, second.event)) {
        return None;
    }
    let takes_turns = !race.changed && events.touches(second.event).iter().any(|touch| touch.role == Role::Takes);
    if race.gives && !(if there { nodes[first].has(task, label) } else { race.spare }) {
        return None;
    }
    let possible = !there || ready || takes_turns || enabled_by_other(events, race, (first, second.event));
    possible.then_some(first)
}

/// An event and those that happen after it, up to another.
fn after<'a>(
    events: &'a Events,
    before: &'a Before,
    event: usize,
    upto: usize,
) -> impl Iterator<Item = usize> + use<'a> {
    (event..upto.min(before.len())).filter(move |&at| before.ordered(events, event, at))
}

/// True if an event receives a message, or starts a task, that one of these events has sent or created. Nothing else can enable it.
fn takes_from(events: &Events, taker: usize, mut givers: impl Iterator<Item = usize>) -> bool {
    let sole = |touch: &&Touch| touch.role == Role::Takes && (touch.is_birth() || touch.object.as_message().is_some());
    let taken = || events.touches(taker).iter().filter(sole);
    let gives = |touch: &Touch| touch.role == Role::Gives && taken().any(|mine| mine.object == touch.object);
    givers.any(|at| events.touches(at).iter().any(gives))
}

/// True if, between the two events, something that the race is not about has enabled the second event: its task was created, a joined task
/// has ended, its message was sent, or a wait with an earlier deadline was over.
fn enabled_by_other(events: &Events, race: &Race, (first, second): (usize, usize)) -> bool {
    if events.get(second).label == TIMED_OUT {
        let held_back = |at: usize| events.get(at).timed.is_some() || events.get(at).label == TIMED_OUT;
        return (first + 1..second.min(events.len())).any(held_back);
    }
    let gave = |object| {
        let gives = |touch: &Touch| touch.object == object && touch.role == Role::Gives;
        (first + 1..second.min(events.len())).any(|at| events.touches(at).iter().any(gives))
    };
    let mut taken = events.touches(second).iter().filter(|touch| touch.role == Role::Takes && !race.is_about(touch));
    taken.any(|touch| gave(touch.object))
}

/// Computes the reversing sequence. Its last event is `e'` as it would be in the new order. That may be a supposed event, which this
/// function adds to `events`: the caller removes it if [`Events::len`] has grown.
pub(super) fn sequence(
    events: &mut Events,
    before: &Before,
    (first, second): (usize, usize),
    upto: usize,
    sequence: &mut Vec<u32>,
) {
    sequence.clear();
    let co_holders = co_holders(events, before, first, second);
    let index = |at: usize| u32::try_from(at).expect("raddle bug: more than 2^32 events in one execution");
    let after = before.after(events, first);
    for at in first + 1..upto {
        if at != second && !after(at) && !co_holders.iter().any(|&holder| before.ordered(events, holder, at)) {
            sequence.push(index(at));
        }
    }
    let task = events.get(second).task;
    let is_value = matches!(events.get(second).label, Label::Value(_));
    let revised = revise(events, first, second);
    if is_value {
        // Nothing comes between a step that asks for a value and the value.
        let asked = sequence.iter().rposition(|&at| events.get(at as usize).task == task).map_or(0, |at| at + 1);
        sequence.insert(asked, index(revised));
    } else {
        sequence.push(index(revised));
    }
}

/// Events that acquire the same object in shared mode, as the first event does, and do not release it. The second event would have to
/// wait for them as well (readers of a lock that a writer wants).
fn co_holders(events: &Events, before: &Before, first: usize, second: usize) -> Vec<usize> {
    let Some(met) = shared_acquire(events, first, second) else { return Vec::new() };
    let end = before.len().min(second);
    let does = |at: usize, role: Role| {
        let does = |touch: &Touch| touch.object == met.object && touch.role == role;
        events.touches(at).iter().any(does) && !before.ordered(events, first, at)
    };
    let gives_back = |at: usize| {
        (at + 1..before.len()).any(|then| events.get(then).task == events.get(at).task && does(then, Role::Gives))
    };
    (first + 1..end).filter(|&at| does(at, Role::Takes) && !gives_back(at)).collect()
}

/// The object that the first event acquires in shared mode, and the second event exclusively.
fn shared_acquire(events: &Events, first: usize, second: usize) -> Option<Touch> {
    let shared = |touch: &&Touch| touch.role == Role::Takes && touch.effect == Effect::Read;
    let wanted = |touch: &&Touch| {
        let wants =
            |mine: &Touch| mine.role == Role::Takes && mine.effect == Effect::Change && mine.object == touch.object;
        events.touches(second).iter().any(wants)
    };
    events.touches(first).iter().filter(shared).find(wanted).copied()
}

/// The second event as it would be in the first one's place. Its effect may depend on the value it reads, and tasks are numbered in the
/// order of their creation.
fn revise(events: &mut Events, first: usize, second: usize) -> usize {
    let revised = revise_effect(events, first, second);
    match (first_created(events, first), first_created(events, revised)) {
        (Some(mine), Some(later)) if mine < later => renumber_created(events, revised, (later, mine)),
        _ => revised,
    }
}

fn creates_task(touch: &Touch) -> bool {
    touch.is_birth() && touch.role == Role::Gives
}

/// The lowest number of the tasks that an event creates.
fn first_created(events: &Events, event: usize) -> Option<u32> {
    events.touches(event).iter().filter(|touch| creates_task(touch)).map(|touch| touch.object.number()).min()
}

/// Adds a supposed event: the tasks that an event creates are numbered from another number on.
fn renumber_created(events: &mut Events, event: usize, (from, to): (u32, u32)) -> usize {
    let mut touches = events.touches(event).to_vec();
    for touch in touches.iter_mut().filter(|touch| creates_task(touch)) {
        touch.object = ObjectId::new(touch.object.number() - from + to);
    }
    events.suppose(*events.get(event), touches)
}

fn revise_effect(events: &mut Events, first: usize, second: usize) -> usize {
    let (e, later) = (*events.get(first), *events.get(second));
    let takes_oldest = later.class == Class::Receive && later.label == Label::Way(Variant::Ready);
    if takes_oldest && takes_from(events, second, std::iter::once(first)) {
        // If it is enabled without that message, it takes another one. What it then does is unknown.
        return events.suppose_vague(later);
    }
    if e.object != later.object {
        return second;
    }
    if e.class == Class::Receive && later.class == Class::Receive {
        if later.label != e.label {
            return second;
        }
        // It takes the message that the first one took.
        let mut touches = events.touches(second).to_vec();
        touches.retain(|touch| touch.role != Role::Takes);
        touches.extend(events.touches(first).iter().filter(|touch| touch.role == Role::Takes));
        events.suppose(later, touches)
    } else {
        let is_main = |touch: &Touch| touch.object == later.object && matches!(touch.role, Role::Plain | Role::Waits);
        let Some(place) = events.touches(second).iter().position(is_main) else { return second };
        let main = events.touches(second)[place];
        let effect = match (later.wants, e.found) {
            (Some(wanted), Some(found)) if wanted == found => Effect::Change,
            (Some(_), Some(_)) => Effect::Read,
            _ if matches!(later.class, Class::Update | Class::Acquire | Class::Send | Class::Receive) => Effect::Change,
            _ => main.effect,
        };
        if effect == main.effect {
            return second;
        }
        let mut touches = events.touches(second).to_vec();
        touches[place].effect = effect;
        events.suppose(later, touches)
    }
}
