//! Makes an order of receives feasible: a task that waits for a reply gets the reply first, and messages that arrive in the order of sending
//! are received in that order.

use raddle_engine::coverage::bits::Bits;

use super::Base;

/// Inserts the receives that the order needs, as far as they are known. Where they are not, cuts the order off.
pub(super) fn complete(base: &Base, order: Vec<usize>, mut doubtful: Bits) -> Vec<usize> {
    let arrival = base.recorded.events.iter().any(|event| event.mailbox && event.delivery.is_none());
    if base.recorded.waits.is_empty() && !arrival {
        return order;
    }
    order.iter().for_each(|&event| doubtful.remove(event));
    let mut completion = Completion { base, out: Vec::new(), placed: Bits::default(), doubtful, arrival };
    for event in order {
        if !completion.place(event, 0) {
            break;
        }
    }
    completion.out
}

struct Completion<'b> {
    base: &'b Base,
    out: Vec<usize>,
    placed: Bits,
    /// Receives that cannot be inserted.
    doubtful: Bits,
    arrival: bool,
}

impl Completion<'_> {
    /// Places a receive, after all that have to come before it. Returns false if that is impossible.
    fn place(&mut self, event: usize, depth: usize) -> bool {
        let recorded = &self.base.recorded;
        if self.placed.contains(event) {
            return true;
        }
        if depth > recorded.waits.len() || self.doubtful.contains(event) {
            return false;
        }
        let receiver = recorded.events[event].name.receiver;
        for &(asker, replier) in &recorded.waits {
            let waits = self.placed.contains(asker) && recorded.events[asker].name.receiver == receiver;
            if waits && !self.placed.contains(replier) {
                let needed: Vec<_> = self.base.must.before(replier).iter().collect();
                if needed.contains(&event) || !needed.into_iter().all(|needed| self.place(needed, depth + 1)) {
                    return false;
                }
                if !self.place(replier, depth + 1) {
                    return false;
                }
            }
        }
        if self.arrival && !self.is_next(event) {
            return false;
        }
        if depth > 0 {
            self.mark_doubtful(event);
        }
        self.placed.insert(event);
        self.out.push(event);
        true
    }

    /// Marks receives as doubtful. An inserted receive comes before receives of its task that it came after in the recorded execution, so
    /// their consequences may not happen any more.
    fn mark_doubtful(&mut self, event: usize) {
        let (base, task) = (self.base, self.base.recorded.events[event].task);
        let overtaken = |&earlier: &usize| base.recorded.events[earlier].task == task && !self.placed.contains(earlier);
        let overtaken: Vec<_> = (0..event).filter(overtaken).collect();
        if !overtaken.is_empty() {
            overtaken.into_iter().chain([event]).for_each(|event| self.doubtful.add(base.must.after(event)));
        }
    }

    /// True if all messages sent before it to the same receiver were received.
    fn is_next(&self, event: usize) -> bool {
        let events = &self.base.recorded.events;
        let own = &events[event];
        if !own.mailbox || own.delivery.is_some() {
            return true;
        }
        let place = |event: Option<usize>| event.map(|cause| self.out.iter().position(|&other| other == cause));
        let comes_first = |other: usize| match (place(events[other].cause), place(own.cause)) {
            // The message was not sent yet.
            (Some(None), _) => false,
            (Some(theirs), Some(own_place)) => (theirs, events[other].sent) < (own_place, own.sent),
            // A sender that is no actor sends as in the recorded execution.
            _ => events[other].sent < own.sent,
        };
        let others = &self.base.of_receiver[&self.base.places[event].receiver];
        place(own.cause) != Some(None)
            && others.iter().all(|&other| other == event || self.placed.contains(other) || !comes_first(other))
    }
}
