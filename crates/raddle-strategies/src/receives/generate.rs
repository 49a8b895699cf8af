//! Generates schedules that achieve new goals from the receives of one execution: algorithms 1 to 3 of Tasharofi et al.
//!
//! `Base` is the paper's recorded schedule `s`; `Base::must` is `mustHB`; `achieved` is `O`; `schedule` is the function of that name, with
//! `Tail` as its tail.
//!
//! Differences from the paper: The recursion of `schedule` and `scheduletail` is a loop, because the schedule only grows and the tail only
//! shrinks. Two things are handled that the paper does not mention: a task that waits for a reply receives nothing before the reply; and
//! where messages arrive in the order of sending, their order is changed by changing the order of the sends. A schedule that cannot be
//! completed in this way is cut off, and dropped if it then misses its goal: see [`complete`](mod@complete).

mod complete;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use raddle_engine::coverage::bits::Bits;
use raddle_engine::coverage::receive_index::{Goals, ReceiveId, orders};
use raddle_engine::coverage::{Criterion, Must, Recorded};

use self::complete::complete;

/// An execution from whose receives schedules are generated.
pub(super) struct Base {
    pub(super) recorded: Recorded,
    pub(super) must: Must,
    places: Vec<ReceiveId>,
    /// By receiver: its receives, by their index in the execution.
    of_receiver: HashMap<usize, Vec<usize>>,
    /// By receive: its index among those of its receiver.
    ranks: Vec<usize>,
}

/// The progress of the iteration over the pairs of a base.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    first: usize,
    /// The index among the later receives of the same receiver.
    second: usize,
    swapped: bool,
}

/// A schedule: indices of receives in the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedSchedule {
    pub(super) order: Vec<usize>,
    /// Its goal: the first is to come before the second.
    pub(super) goal: (usize, usize),
}

/// The receives that are not scheduled yet: one that comes first, and the others in the order of the execution.
struct Tail {
    front: Option<usize>,
    rest: Bits,
}

impl Tail {
    /// Removes and returns the receives before `event` that are `wanted`.
    fn take_before(&mut self, event: usize, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut taken = Vec::new();
        if let Some(front) = self.front.filter(|&front| front != event && wanted(front)) {
            self.front = None;
            taken.push(front);
        }
        // Nothing comes before the front one.
        if self.front != Some(event) {
            taken.extend(self.rest.iter().take_while(|&other| other < event).filter(|&other| wanted(other)));
        }
        taken.iter().for_each(|&event| self.rest.remove(event));
        taken
    }

    fn remove(&mut self, event: usize) {
        if self.front == Some(event) {
            self.front = None;
        }
        self.rest.remove(event);
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.front.into_iter().chain(self.rest.iter())
    }
}

impl Base {
    pub(super) fn new(recorded: Recorded, places: Vec<ReceiveId>) -> Self {
        let must = Must::of(&recorded);
        let mut of_receiver: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut ranks = Vec::with_capacity(places.len());
        for (event, place) in places.iter().enumerate() {
            let own = of_receiver.entry(place.receiver).or_default();
            ranks.push(own.len());
            own.push(event);
        }
        Self { recorded, must, places, of_receiver, ranks }
    }

    /// The next schedule that achieves a goal outside `achieved`. Goals in `tried` are skipped.
    pub(super) fn next(
        &self,
        criterion: Criterion,
        achieved: &Goals,
        tried: &Goals,
        cursor: &mut Cursor,
    ) -> Option<PlannedSchedule> {
        while cursor.first < self.places.len() {
            let first = cursor.first;
            let later = &self.of_receiver[&self.places[first].receiver][self.ranks[first] + 1..];
            while let Some(&second) = later.get(cursor.second) {
                let swapped = cursor.swapped;
                cursor.second += usize::from(swapped);
                cursor.swapped = !swapped;
                let (one, other) = if swapped { (second, first) } else { (first, second) };
                let open = self.is_pair(first, second, criterion) && !self.is_in(achieved, one, other);
                if open
                    && !self.is_in(tried, one, other)
                    && let Some(order) = self.schedule(first, second, swapped, criterion, achieved)
                {
                    return Some(PlannedSchedule { order, goal: (one, other) });
                }
            }
            *cursor = Cursor { first: first + 1, ..Cursor::default() };
        }
        None
    }

    fn is_in(&self, goals: &Goals, first: usize, second: usize) -> bool {
        let (one, other) = (self.places[first], self.places[second]);
        goals.contains(one.receiver, one.event, other.event)
    }

    fn changes(&self, event: usize) -> bool {
        self.recorded.events[event].changes
    }

    /// True if two receives of one receiver can come in both orders, and the criterion relates them.
    fn is_pair(&self, first: usize, second: usize, criterion: Criterion) -> bool {
        criterion.relates(self.changes(first), self.changes(second)) && !self.must.holds(first, second)
    }

    #[cfg(test)]
    /// The orders of receives, by receiver.
    pub(super) fn orders(&self, order: &[usize]) -> Vec<(usize, Vec<(usize, bool)>)> {
        orders(order.iter().map(|&event| (self.places[event], self.changes(event))))
    }

    /// The same for a single goal.
    pub(super) fn only(&self, (first, second): (usize, usize)) -> Vec<(usize, Vec<(usize, bool)>)> {
        orders([first, second].into_iter().map(|event| (self.places[event], true)))
    }

    fn schedule(
        &self,
        first: usize,
        second: usize,
        swap: bool,
        criterion: Criterion,
        achieved: &Goals,
    ) -> Option<Vec<usize>> {
        let goal = if swap { (second, first) } else { (first, second) };
        let mut out = Vec::new();
        // Receives that may not happen any more, because something before them has changed.
        let mut doubtful = Bits::default();
        let mut tail = Tail { front: None, rest: Bits::below(self.places.len()) };
        let mut next = Some((first, second, swap));
        while let Some((first, second, swap)) = next {
            let delayed = if swap { self.sending_receive(first) } else { None };
            let is_delayed = |event: usize| {
                delayed.is_some_and(|cause| event == cause || self.must.holds(cause, event)) && event != second
            };
            out.extend(tail.take_before(first, |event| !is_delayed(event)));
            let late = tail.take_before(first, |_| true);
            tail.remove(first);
            out.extend(tail.take_before(second, |event| self.must.holds(event, second)));
            tail.remove(second);
            if swap {
                out.push(second);
                out.extend(late);
                out.push(first);
            } else {
                out.extend(late);
                out.extend([first, second]);
            }
            for event in [first, second].into_iter().chain(delayed) {
                tail.rest.subtract(self.must.after(event));
                doubtful.add(self.must.after(event));
            }
            if criterion == Criterion::Pairs {
                tail.front = out.pop();
            }
            next = self.first_open(&tail, criterion, achieved);
        }
        out.extend(tail.front);
        let out = complete(self, out, doubtful);
        self.achieves(&out, goal, criterion).then_some(out)
    }

    /// Where messages arrive in the order of sending, a message is delayed by delaying the receive that sends it. Returns that receive.
    fn sending_receive(&self, event: usize) -> Option<usize> {
        let event = &self.recorded.events[event];
        event.cause.filter(|_| event.mailbox && event.delivery.is_none())
    }

    /// The first pair of the tail that was not seen in both orders, and whether it is to be swapped.
    fn first_open(&self, tail: &Tail, criterion: Criterion, achieved: &Goals) -> Option<(usize, usize, bool)> {
        for first in tail.iter() {
            let all = &self.of_receiver[&self.places[first].receiver];
            let later = if tail.front == Some(first) { &all[..] } else { &all[self.ranks[first] + 1..] };
            for &second in later {
                if second == first || !tail.rest.contains(second) || !self.is_pair(first, second, criterion) {
                    continue;
                }
                if !self.is_in(achieved, first, second) {
                    return Some((first, second, false));
                }
                if !self.is_in(achieved, second, first) {
                    return Some((first, second, true));
                }
            }
        }
        None
    }

    /// True if an order achieves a goal.
    fn achieves(&self, order: &[usize], (first, second): (usize, usize), criterion: Criterion) -> bool {
        let at = |event| order.iter().position(|&other| other == event);
        let (Some(from), Some(to)) = (at(first), at(second)) else { return false };
        let receiver = self.places[first].receiver;
        let between = order.get(from + 1..to).into_iter().flatten();
        let mut between = between.filter(|&&event| self.places[event].receiver == receiver);
        from < to
            && match criterion {
                Criterion::Pairs => true,
                Criterion::Consecutive => between.next().is_none(),
                Criterion::BehaviourChanges => between.all(|&event| !self.changes(event)),
            }
    }
}
