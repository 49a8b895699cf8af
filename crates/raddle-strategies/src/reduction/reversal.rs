//! How a race is reversed: the sequence `v` that, run where the race's first event was, lets the second come first.
//!
//! `v` is everything after the first event `e` that does not happen after it, over the whole rest of the execution, and then
//! the second event `e'` (`v = notdep(e, E) · e'` in the papers).

use std::collections::HashSet;

use super::path::Node;
use raddle_engine::ids::ObjectId;
use raddle_engine::order::before::{Before, Race};
use raddle_engine::order::events::{Event, Events, Label, Touch};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Role};

/// The second event of a race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub event: usize,
    /// The latest event of its task before it.
    pub previous: Option<usize>,
}

const TIMED_OUT: Label = Label::Way(Variant::TimedOut);

/// The latest event without which the end of a wait would have been one by time, if that is so for any.
pub(super) fn kept_from_timing_out(events: &Events, before: &Before, nodes: &[Node], ended: Second) -> Option<usize> {
    let Event { task, label, object, .. } = *events.get(ended.event);
    let changes = |touch: &Touch| touch.object == object && touch.effect == Effect::Change;
    let rivals = (0..ended.event.min(before.len())).rev().filter(|&at| events.touches(at).iter().any(changes));
    let free = |at: &usize| {
        events.get(*at).task != task && !ended.previous.is_some_and(|previous| before.ordered(events, *at, previous))
    };
    // Where the task had not come to the wait yet, its next step was another one.
    let waits = |at: usize| ended.previous.is_none_or(|previous| previous < at);
    rivals.take_while(free).find(|&at| !waits(at) || !nodes[at].has(task, label))
}

/// Supposes that a wait, instead of as it did, ends by time.
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

/// The point from which a race can be reversed, if it can: the first event's, or, as a task is given a value at once, that of
/// the step that asked for it.
pub(super) fn origin(events: &Events, before: &Before, nodes: &[Node], race: &Race, second: Second) -> Option<usize> {
    let mut first = race.first;
    while matches!(events.get(first).label, Label::Value(_)) {
        first = first.checked_sub(1)?;
    }
    if first != race.first && second.previous.is_some_and(|previous| before.ordered(events, first, previous)) {
        return None;
    }
    // If the second event's task was there already, it is known whether it could have gone first.
    let there = second.previous.is_none_or(|previous| previous < first);
    let Event { task, label, .. } = *events.get(second.event);
    let ready = there && nodes[first].has(task, label);
    // It may need what another value, before the one that it is in a race with, has given.
    if first != race.first && !ready && takes_from(events, second.event, after(events, before, first, second.event)) {
        return None;
    }
    let takes_turns = !race.changed && events.touches(second.event).iter().any(|touch| touch.role == Role::Takes);
    if race.gives && !(if there { nodes[first].has(task, label) } else { race.spare }) {
        return None;
    }
    let possible = !there || ready || takes_turns || let_go_later(events, race, (first, second.event));
    possible.then_some(first)
}

/// An event, and those that happen after it, up to another.
fn after<'a>(
    events: &'a Events,
    before: &'a Before,
    event: usize,
    upto: usize,
) -> impl Iterator<Item = usize> + use<'a> {
    (event..upto.min(before.len())).filter(move |&at| before.ordered(events, event, at))
}

/// Whether an event takes a message, or a life, that one of these gave: nobody else can have given it.
fn takes_from(events: &Events, taker: usize, mut givers: impl Iterator<Item = usize>) -> bool {
    let sole = |touch: &&Touch| touch.role == Role::Takes && (touch.is_birth() || touch.object.as_message().is_some());
    let taken = || events.touches(taker).iter().filter(sole);
    let gives = |touch: &Touch| touch.role == Role::Gives && taken().any(|mine| mine.object == touch.object);
    givers.any(|at| events.touches(at).iter().any(gives))
}

/// Whether the second event's task was let go on after the first event by something that the race is not about: it was created,
/// what it waited to end has ended, its message was sent, or a wait was over whose time came before its own.
fn let_go_later(events: &Events, race: &Race, (first, second): (usize, usize)) -> bool {
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

/// Leaves in `sequence` the events that reverse the race, which ends with `e'` as it would be then; it may be an event that is
/// added to `events` for this, and the caller forgets it again if [`Events::len`] has grown.
pub(super) fn sequence(
    events: &mut Events,
    before: &Before,
    (first, second): (usize, usize),
    upto: usize,
    sequence: &mut Vec<u32>,
) {
    sequence.clear();
    let rivals = rivals(events, before, first, second);
    let index = |at: usize| u32::try_from(at).expect("raddle bug: more than 2^32 events in one execution");
    let after = before.after(events, first);
    for at in first + 1..upto {
        if at != second && !after(at) && !rivals.iter().any(|&rival| before.ordered(events, rival, at)) {
            sequence.push(index(at));
        }
    }
    let task = events.get(second).task;
    let is_value = matches!(events.get(second).label, Label::Value(_));
    let revised = revise(events, first, second);
    if is_value {
        // Nothing comes between a task that asks for a value and the value.
        let asked = sequence.iter().rposition(|&at| events.get(at as usize).task == task).map_or(0, |at| at + 1);
        sequence.insert(asked, index(revised));
    } else {
        sequence.push(index(revised));
    }
}

/// Those who take the same thing together with the first event, so that the second would have to wait for them as well
/// (readers of a lock that somebody wants to write).
fn rivals(events: &Events, before: &Before, first: usize, second: usize) -> Vec<usize> {
    let Some(met) = taken_together(events, first, second) else { return Vec::new() };
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

/// What the first event takes together with others and the second wants alone.
fn taken_together(events: &Events, first: usize, second: usize) -> Option<Touch> {
    let shared = |touch: &&Touch| touch.role == Role::Takes && touch.effect == Effect::Read;
    let wanted = |touch: &&Touch| {
        let wants =
            |mine: &Touch| mine.role == Role::Takes && mine.effect == Effect::Change && mine.object == touch.object;
        events.touches(second).iter().any(wants)
    };
    events.touches(first).iter().filter(shared).find(wanted).copied()
}

/// Whether it depends on the rest of the execution which of the events between the two are part of the sequence.
pub(super) fn may_have_rivals(events: &Events, first: usize, second: usize) -> bool {
    taken_together(events, first, second).is_some()
}

/// The second event as it would be in the first one's place: what it does may depend on what it finds, and tasks are numbered as
/// they are created.
fn revise(events: &mut Events, first: usize, second: usize) -> usize {
    let revised = revise_effect(events, first, second);
    match (first_born(events, first), first_born(events, revised)) {
        (Some(mine), Some(later)) if mine < later => suppose_born(events, revised, (later, mine)),
        _ => revised,
    }
}

/// The first event of a race as it would be after the sequence that reverses it.
pub(super) fn postpone(events: &mut Events, first: usize, sequence: &[u32]) -> usize {
    let Some(mine) = first_born(events, first) else { return first };
    let touches = sequence.iter().flat_map(|&event| events.touches(event as usize));
    let others = touches.filter(|touch| is_born(touch)).map(|touch| touch.object).collect::<HashSet<_>>().len();
    if others == 0 {
        return first;
    }
    let others = u32::try_from(others).expect("raddle bug: more than 2^32 tasks");
    suppose_born(events, first, (mine, mine + others))
}

fn is_born(touch: &Touch) -> bool {
    touch.is_birth() && touch.role == Role::Gives
}

/// The first of those whom an event creates.
fn first_born(events: &Events, event: usize) -> Option<u32> {
    events.touches(event).iter().filter(|touch| is_born(touch)).map(|touch| touch.object.number()).min()
}

/// Supposes that those whom an event creates are numbered from another number on.
fn suppose_born(events: &mut Events, event: usize, (from, to): (u32, u32)) -> usize {
    let mut touches = events.touches(event).to_vec();
    for touch in touches.iter_mut().filter(|touch| is_born(touch)) {
        touch.object = ObjectId::new(touch.object.number() - from + to);
    }
    events.suppose(*events.get(event), touches)
}

fn revise_effect(events: &mut Events, first: usize, second: usize) -> usize {
    let (e, later) = (*events.get(first), *events.get(second));
    let takes_oldest = later.class == Class::Receive && later.label == Label::Way(Variant::Ready);
    if takes_oldest && takes_from(events, second, std::iter::once(first)) {
        // Where it can do without that message, it takes one that was overtaken, and does with it nobody knows what.
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
        let is_main = |touch: &Touch| touch.object == later.object && touch.role == Role::Plain;
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
