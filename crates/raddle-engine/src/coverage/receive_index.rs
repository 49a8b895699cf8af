//! All receives that a search has seen, by name and by receiver.

use std::collections::HashMap;

use crate::coverage::Criterion;
use crate::coverage::bits::Rows;
use crate::coverage::recorded::{Name, ReceiveEvent, Recorded};

/// The index of a receive: its receiver, and its number among the receives of that receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReceiveId {
    /// The receiver, by its number in the index.
    pub receiver: usize,
    /// Its number among the receives of the receiver.
    pub event: usize,
}

/// Numbers receivers and their receives in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct ReceiveIndex {
    places: HashMap<Name, ReceiveId>,
    receivers: HashMap<u64, usize>,
    /// By receiver, how many receives it has.
    counts: Vec<usize>,
}

impl ReceiveIndex {
    /// The index of a receive, which is added if it is new.
    pub fn add(&mut self, event: &ReceiveEvent) -> ReceiveId {
        if let Some(place) = self.places.get(&event.name) {
            return *place;
        }
        let next = self.counts.len();
        let receiver = *self.receivers.entry(event.name.receiver).or_insert(next);
        if receiver == next {
            self.counts.push(0);
        }
        let place = ReceiveId { receiver, event: self.counts[receiver] };
        self.counts[receiver] += 1;
        self.places.insert(event.name, place);
        place
    }

    /// The number of receives.
    pub fn receives(&self) -> usize {
        self.places.len()
    }

    /// The index of a receive, if it was added.
    pub fn place(&self, name: &Name) -> Option<ReceiveId> {
        self.places.get(name).copied()
    }

    /// The indices of the receives of an execution.
    pub fn add_all(&mut self, recorded: &Recorded) -> Vec<ReceiveId> {
        recorded.events.iter().map(|event| self.add(event)).collect()
    }
}

/// By receiver, its receives in order, each with whether it changes the behaviour.
pub fn orders(events: impl Iterator<Item = (ReceiveId, bool)>) -> Vec<(usize, Vec<(usize, bool)>)> {
    let mut by_receiver: HashMap<usize, usize> = HashMap::new();
    let mut orders: Vec<(usize, Vec<(usize, bool)>)> = Vec::new();
    for (place, changes) in events {
        let at = *by_receiver.entry(place.receiver).or_insert(orders.len());
        if at == orders.len() {
            orders.push((place.receiver, Vec::new()));
        }
        orders[at].1.push((place.event, changes));
    }
    orders
}

/// Which goals were achieved, for one criterion: by receiver, which receives came before which.
#[derive(Clone, Debug, Default)]
pub struct Goals {
    receivers: Vec<Rows>,
}

impl Goals {
    /// Whether the goal is achieved that the first comes before the second.
    pub fn contains(&self, receiver: usize, first: usize, second: usize) -> bool {
        self.receivers.get(receiver).is_some_and(|achieved| achieved.contains(first, second))
    }

    /// Adds the goals that an order of receives achieves. Returns how many are new.
    pub fn add(&mut self, criterion: Criterion, orders: &[(usize, Vec<(usize, bool)>)]) -> u64 {
        let mut new = 0;
        for (receiver, order) in orders {
            if self.receivers.len() <= *receiver {
                self.receivers.resize_with(receiver + 1, Rows::default);
            }
            let after = &mut self.receivers[*receiver];
            criterion.achieved(order, |first, later| {
                for at in 0..later.words() {
                    let fresh = later.word(at) & !after.row(first).word(at);
                    new += u64::from(fresh.count_ones());
                    after.row_mut(first).add_word(at, fresh);
                }
            });
        }
        new
    }
}
