//! Receives that choose among messages, and the messages they could have taken instead.
//!
//! Two receives from one mailbox race. In the reversed order, the second receive takes the message that the first one took, or its own
//! message if that can be delivered first. A receive could also have waited for a message that was sent later. The reversing sequence
//! `v` then consists of all events that do not happen after the receive, and of a receive of that message by the same task.

use raddle_engine::ids::ObjectId;
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Event, Events, Label, Offered, Touch};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Delivery, Effect, Role};

use crate::causality::causally_precedes;
use crate::time_left::TimeLeft;

/// True if an event is a receive that chose its message.
pub(super) fn chose(events: &Events, event: usize) -> bool {
    let Event { class, label, .. } = *events.get(event);
    class == Class::Receive && matches!(label, Label::Way(Variant::Message(_)))
}

/// The receives before `send` that could have taken one of its messages instead.
pub(super) fn could_have_waited(
    events: &Events,
    before: &Before,
    time: &TimeLeft,
    send: usize,
    message: usize,
) -> Vec<usize> {
    let place = events.offered()[message].place;
    let receives = |at: usize| chose(events, at) && events.get(at).object == place;
    let waits = |&at: &usize| receives(at) && can_take(events, before, time, at, message);
    (0..send).filter(waits).collect()
}

/// True if a message could be received in the place of `receive`, after all events that do not happen after `receive`. Once the time is
/// over, the answer means nothing.
pub(super) fn can_take(events: &Events, before: &Before, time: &TimeLeft, receive: usize, message: usize) -> bool {
    let happens = |sent: &Offered| sent.event.is_none_or(|at| at < receive || !before.ordered(events, receive, at));
    let wanted = &events.offered()[message];
    if !happens(wanted) {
        return false;
    }
    if wanted.offer.delivery == Delivery::Unordered {
        return true;
    }
    let waits = |sent: &Offered| {
        let is_ahead = sent.place == wanted.place && !sent.offer.late && happens(sent);
        is_ahead && !was_taken(events, wanted.place, sent, receive)
    };
    let comes_first = |earlier: usize| match wanted.offer.delivery {
        Delivery::PerSender => events.offered()[earlier].task == wanted.task,
        _ => causally_precedes(events, time, earlier, message),
    };
    !(0..message).any(|earlier| time.is_over() || waits(&events.offered()[earlier]) && comes_first(earlier))
}

/// True if a message was received before event `upto`.
fn was_taken(events: &Events, place: ObjectId, sent: &Offered, upto: usize) -> bool {
    let label = Label::Way(Variant::Message(sent.offer.message));
    (0..upto).any(|at| {
        events.get(at).class == Class::Receive && events.get(at).object == place && events.get(at).label == label
    })
}

/// Adds a supposed event: the task of `receiver` receives a message from the same mailbox.
pub(super) fn suppose_receive(events: &mut Events, receiver: usize, message: usize) -> Option<usize> {
    let Offered { place, offer, message, .. } = *events.offered().get(message)?;
    Some(suppose(events, receiver, place, message, Label::Way(Variant::Message(offer.message))))
}

/// Adds a supposed event: the task of `receiver` receives the message that `taker` took.
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

/// The message that `receive` took.
pub(super) fn taken(events: &Events, receive: usize) -> Option<usize> {
    let Label::Way(Variant::Message(message)) = events.get(receive).label else { return None };
    let place = events.get(receive).object;
    let is_it = |sent: &Offered| sent.place == place && sent.offer.message == message;
    let before = |sent: &Offered| sent.event.is_none_or(|event| event < receive);
    events.offered().iter().rposition(|sent| before(sent) && is_it(sent))
}
