//! Makes an order of receives one that can come about: who waits for a reply gets it first, and messages that come in the order of
//! sending do.

use super::Base;
use raddle_engine::coverage::bits::Bits;

/// What is missing for an order to be possible is put in, as far as that is known; where it is not, the order is cut off.
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
    /// What cannot be put in.
    doubtful: Bits,
    arrival: bool,
}

impl Completion<'_> {
    /// Whether it could be placed, after all that has to come before.
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
            self.doubt(event);
        }
        self.placed.insert(event);
        self.out.push(event);
        true
    }

    /// What is put in comes before others of its task that it came after: what these lead to may not come about any more.
    fn doubt(&mut self, event: usize) {
        let (base, task) = (self.base, self.base.recorded.events[event].task);
        let passed = |&earlier: &usize| base.recorded.events[earlier].task == task && !self.placed.contains(earlier);
        let passed: Vec<_> = (0..event).filter(passed).collect();
        if !passed.is_empty() {
            passed.into_iter().chain([event]).for_each(|event| self.doubtful.add(base.must.after(event)));
        }
    }

    /// Whether all that was sent before it to the same receiver has been received.
    fn is_next(&self, event: usize) -> bool {
        let events = &self.base.recorded.events;
        let own = &events[event];
        if !own.mailbox || own.delivery.is_some() {
            return true;
        }
        let place = |event: Option<usize>| event.map(|cause| self.out.iter().position(|&other| other == cause));
        let comes_first = |other: usize| match (place(events[other].cause), place(own.cause)) {
            // It is not sent yet.
            (Some(None), _) => false,
            (Some(theirs), Some(own_place)) => (theirs, events[other].sent) < (own_place, own.sent),
            // Who is no actor sends as it did.
            _ => events[other].sent < own.sent,
        };
        let others = &self.base.of_receiver[&self.base.places[event].receiver];
        place(own.cause) != Some(None)
            && others.iter().all(|&other| other == event || self.placed.contains(other) || !comes_first(other))
    }
}
