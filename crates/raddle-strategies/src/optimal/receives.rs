//! Receives that choose among messages.
//!
//! Sends to one mailbox do not depend on each other there: the receive decides which message it takes. So a receive hands out one piece for each other
//! message that it could have taken, if necessary after the message was sent. This takes the place of reversing races with sends.
//!
//! If several tasks receive from one mailbox, their receives race. Which of the first one's messages is undone makes no difference to the
//! second, so only the first message that leaves the second its own is reversed.

use std::ops::Range;
use std::sync::Arc;

use raddle_engine::ids::ObjectId;
use raddle_engine::order::events::{Label, Offered};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Delivery};
use smallvec::SmallVec;

use super::execution::{Execution, Past};
use super::piece::{Head, Mark};
use super::schedule::Schedule;
use super::second::Second;
use super::{Child, Optimal};
use crate::causality::causally_precedes;

/// True if an event is a receive that chose its message.
fn chose(run: &Execution, event: usize) -> bool {
    let event = run.events.get(event);
    event.class == Class::Receive && matches!(event.label, Label::Way(Variant::Message(_)))
}

/// True if a group is a receive of another message than the first, and not part of a schedule otherwise.
pub(super) fn is_alternative(run: &Execution, group: Range<usize>) -> bool {
    let entries = &run.entries[group.clone()];
    let head = entries[0].mark.head().is_some_and(|head| head.undone.is_none());
    let alone = run.schedule_start(group.start) == group.start && entries[1..].iter().all(|entry| entry.mark.is_free());
    chose(run, group.start) && head && alone
}

/// True if the two steps receive from one mailbox and choose their messages.
pub(super) fn are_rivals(run: &Execution, first: usize, second: &Second) -> bool {
    let place = run.events.get(first).object;
    let at_place = second.touches.iter().any(|touch| touch.object == place);
    chose(run, first) && second.class == Class::Receive && at_place
}

/// True unless the two steps receive from one mailbox, and the first should have taken another message.
pub(super) fn is_first_alternative(run: &Execution, first: usize, second: &Second, past: &Past) -> bool {
    let place = run.events.get(first).object;
    if !are_rivals(run, first, second) {
        return run.entries[first].mark.is_free();
    }
    let own = second.label;
    let wanted = |sent: &Offered| sent.place == place && Some(label(sent)) == own;
    let happens = |event: usize| event < first || past.has(run, event);
    if own.is_some()
        && !run.events.offered().iter().rposition(wanted).is_some_and(|it| can_take(run, first, it, &happens))
    {
        return false;
    }
    let mut others = available(run, first).filter(|&label| Some(label) != own);
    others.next().is_none_or(|label| label == run.entries[first].label)
}

/// The messages that could be received in the place of a receive.
fn available(run: &Execution, receive: usize) -> impl Iterator<Item = Label> + '_ {
    let place = run.events.get(receive).object;
    let here = move |message: &usize| run.events.offered()[*message].place == place;
    let messages = (0..run.events.offered().len()).filter(here);
    let can = move |&message: &usize| can_take(run, receive, message, &|event| event < receive);
    let mut labels: Vec<Label> = messages.filter(can).map(|message| label(&run.events.offered()[message])).collect();
    labels.sort_unstable();
    labels.into_iter()
}

fn label(sent: &Offered) -> Label {
    Label::Way(Variant::Message(sent.offer.message))
}

/// True if a message could be received in the place of `receive`, after the events for which `happens` holds. Once the time is over, the
/// answer means nothing.
fn can_take(run: &Execution, receive: usize, message: usize, happens: &dyn Fn(usize) -> bool) -> bool {
    let offered = run.events.offered();
    let wanted = &offered[message];
    let sent = |other: &Offered| other.event.is_none_or(happens);
    if !sent(wanted) || was_taken(run, wanted, receive) {
        return false;
    }
    if wanted.offer.delivery == Delivery::Unordered {
        return true;
    }
    let waits = |other: &Offered| {
        other.place == wanted.place && !other.offer.late && sent(other) && !was_taken(run, other, receive)
    };
    let comes_first = |earlier: usize| match wanted.offer.delivery {
        Delivery::PerSender => offered[earlier].task == wanted.task,
        _ => causally_precedes(&run.events, &run.time, earlier, message),
    };
    !(0..message).any(|earlier| run.time.is_over() || waits(&offered[earlier]) && comes_first(earlier))
}

/// True if a message was received before an event.
fn was_taken(run: &Execution, sent: &Offered, upto: usize) -> bool {
    let takes = |at: usize| {
        let event = run.events.get(at);
        event.class == Class::Receive && event.object == sent.place && event.label == label(sent)
    };
    (sent.event.map_or(0, |event| event + 1)..upto).any(takes)
}

/// True if the second step is a receive that chooses among the messages there.
pub(super) fn chooses_at(run: &Execution, second: &Second, place: ObjectId) -> bool {
    second.class == Class::Receive && run.events.offered().iter().any(|sent| sent.place == place)
}

impl Optimal {
    /// A receive of another task could have taken the only message that this one found.
    pub(super) fn take_only_message(&mut self, second: &Second, children: &mut Vec<Child>) {
        let objects = second.touches.iter().map(|touch| touch.object);
        let places: SmallVec<[ObjectId; 2]> = objects.filter(|&place| chooses_at(&self.run, second, place)).collect();
        for place in places {
            for first in 0..second.event {
                if self.run.time.is_over() {
                    return;
                }
                let event = self.run.events.get(first);
                let rival = event.object == place && event.task != second.task && chose(&self.run, first);
                if rival && available(&self.run, first).nth(1).is_none() {
                    let label = Some(self.run.entries[first].label);
                    let instead = second.taking_another(place, label);
                    self.reverse_wait(&instead, first, children);
                }
            }
        }
    }

    /// Hands out the other messages that receives could have taken, as far as the receive or the send is new.
    pub(super) fn choose_other_messages(&mut self, children: &mut Vec<Child>) {
        if self.run.events.offered().is_empty() {
            return;
        }
        let first_new = self.first_new();
        let last_head = self.last_head();
        for receive in 0..self.run.events.len() {
            let group = self.run.group(receive);
            if group.start != receive || !chose(&self.run, receive) || !self.run.is_free(group) {
                continue;
            }
            for message in 0..self.run.events.offered().len() {
                if self.run.time.is_over() {
                    return;
                }
                let sent = self.run.events.offered()[message];
                let is_other = sent.place == self.run.events.get(receive).object
                    && label(&sent) != self.run.entries[receive].label;
                let is_new = receive >= first_new || sent.event.is_some_and(|event| event >= first_new);
                if is_other && is_new {
                    self.take_other(receive, message, last_head, children);
                }
            }
        }
    }

    fn take_other(&mut self, receive: usize, message: usize, last_head: Option<usize>, children: &mut Vec<Child>) {
        let run = &self.run;
        let sent = run.events.offered()[message];
        let later = sent.event.filter(|&event| event > receive);
        self.past.clear();
        if let Some(send) = later {
            if run.before.ordered(&run.events, receive, send) {
                return;
            }
            self.past.add(run, send);
        }
        let past = &self.past;
        let fits = |at: usize| run.entries[at].mark.head().is_none() || past.has(run, run.group(at).start);
        if last_head.is_some_and(|head| head > receive) && !(receive + 1..run.entries.len()).all(fits) {
            return;
        }
        let happens = |event: usize| event < receive || past.has(run, event);
        if !can_take(run, receive, message, &happens) {
            return;
        }
        let mut schedule = Schedule::leaving(run, receive);
        schedule.take_past(run.group(receive).end..later.map_or(0, |send| send + 1), past);
        let foreseen = run.foreseen(run.events.touches(receive), receive);
        let head = Head { foreseen, ..Head::default() };
        schedule.let_go_on(run.entries[receive].task, Some(label(&sent)), Mark::Head(Arc::new(head)));
        children.push(schedule.into_child(receive));
    }
}
