//! Where a receive chooses among messages: what else it could have taken.
//!
//! Two receives at one place are in a race, and reversed the second may take the message that the first took, or its own if
//! that can come first. A receive could also have waited for a message that was sent later: `v` is then all that does not
//! happen after the receive, and the same task receiving that message.

use crate::ids::{ObjectId, TaskId};
use crate::order::before::Before;
use crate::order::events::{Event, Events, Label, Touch};
use crate::system::Variant;
use crate::trace::{Class, Delivery, Effect, Offer, Role};

/// Whether an event is a receive that chose its message.
pub(super) fn chose(events: &Events, event: usize) -> bool {
    let Event { class, label, .. } = *events.get(event);
    class == Class::Receive && matches!(label, Label::Way(Variant::Message(_)))
}

/// The receives before `send` that could have taken its message instead.
pub(super) fn could_have_waited(events: &Events, before: &Before, send: usize) -> Vec<usize> {
    let Some((place, _)) = events.get(send).offers else { return Vec::new() };
    let waits = |&at: &usize| chose(events, at) && events.get(at).object == place && can_take(events, before, at, send);
    (0..send).filter(waits).collect()
}

/// Whether the message of `send` could be received in the place of `receive`, once all has happened that does not happen after
/// that.
pub(super) fn can_take(events: &Events, before: &Before, receive: usize, send: usize) -> bool {
    let happens = |at: usize| at < receive || !before.ordered(events, receive, at);
    if !happens(send) {
        return false;
    }
    let Some((place, offer)) = events.get(send).offers else { return false };
    if offer.delivery == Delivery::Unordered {
        return true;
    }
    let comes_first = |at: usize| match offer.delivery {
        Delivery::PerSender => events.get(at).task == events.get(send).task,
        _ => is_known(events, at, send),
    };
    let waits = |at: &usize| {
        let offered = events.get(*at).offers.filter(|&(there, _)| there == place);
        offered.is_some_and(|(_, other)| happens(*at) && !was_taken(events, place, other, receive))
    };
    !(0..send).filter(waits).any(comes_first)
}

/// Whether a message was received before event `upto`.
fn was_taken(events: &Events, place: ObjectId, offer: Offer, upto: usize) -> bool {
    let label = Label::Way(Variant::Message(offer.message));
    (0..upto).any(|at| {
        events.get(at).class == Class::Receive && events.get(at).object == place && events.get(at).label == label
    })
}

/// Whether the sender of `later` knew, by messages alone, of the message that `earlier` sent.
fn is_known(events: &Events, earlier: usize, later: usize) -> bool {
    let mut tasks: Vec<TaskId> = vec![events.get(earlier).task];
    let mut messages: Vec<ObjectId> = Vec::new();
    for at in earlier..=later {
        let event = events.get(at);
        let message = || events.touches(at).iter().find(|touch| matches!(touch.role, Role::Gives | Role::Takes));
        match event.class {
            Class::Send if tasks.contains(&event.task) => messages.extend(message().map(|touch| touch.object)),
            Class::Receive if message().is_some_and(|touch| messages.contains(&touch.object)) => tasks.push(event.task),
            _ => {}
        }
    }
    tasks.contains(&events.get(later).task)
}

/// Supposes that the task of `receiver` receives the message of `send` at the same place.
pub(super) fn suppose_receive(events: &mut Events, receiver: usize, send: usize) -> Option<usize> {
    let (place, offer) = events.get(send).offers?;
    let message = events.touches(send).iter().find(|touch| touch.role == Role::Gives)?.object;
    Some(suppose(events, receiver, place, message, Label::Way(Variant::Message(offer.message))))
}

/// Supposes that the task of `receiver` receives the message that `taker` took.
pub(super) fn suppose_instead(events: &mut Events, receiver: usize, taker: usize) -> Option<usize> {
    let message = events.touches(taker).iter().find(|touch| touch.role == Role::Takes)?.object;
    let Event { object, label, .. } = *events.get(taker);
    Some(suppose(events, receiver, object, message, label))
}

fn suppose(events: &mut Events, receiver: usize, place: ObjectId, message: ObjectId, label: Label) -> usize {
    let event = Event::pending(events.get(receiver).task, label, Class::Receive, place);
    let head = Touch { object: place, effect: Effect::Change, role: Role::Plain };
    events.suppose(event, [head, Touch { object: message, effect: Effect::Change, role: Role::Takes }])
}

/// The event that sent the message that `receive` took.
pub(super) fn sender(events: &Events, receive: usize) -> Option<usize> {
    let Label::Way(Variant::Message(message)) = events.get(receive).label else { return None };
    let place = events.get(receive).object;
    let sent = |at: &usize| events.get(*at).offers.is_some_and(|(to, offer)| to == place && offer.message == message);
    (0..receive).rev().find(sent)
}
