//! Must-happen-before: which receives cannot be exchanged, as far as one execution shows.
//!
//! It is the transitive closure of causality and of the guarantees of the delivery order. It has one row of bits for each receive: 20,000
//! receives take 150 MB.

use std::collections::HashMap;

use crate::coverage::bits::{Bits, Rows};
use crate::coverage::recorded::{ReceiveEvent, Recorded};
use crate::ids::TaskId;
use crate::trace::Delivery;

/// The relation on the receives of one execution, by their index.
#[derive(Clone, Debug)]
pub struct Must {
    before: Rows,
    after: Rows,
}

/// Why a receive must come before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its handler, or that of a later receive of the same receiver, sent the message or created its receiver.
    Cause,
    /// Their messages come in the order in which they were sent.
    Order,
}

impl Must {
    /// The relation for `recorded`.
    #[must_use]
    pub fn of(recorded: &Recorded) -> Self {
        let events = &recorded.events;
        let mut before = Rows::default();
        // By receive: itself, those before it of the same task, and all that must come before any of these.
        let mut prefix = Rows::default();
        let mut of_receiver: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut of_task: HashMap<TaskId, usize> = HashMap::new();
        for (number, event) in events.iter().enumerate() {
            let mut row = Bits::default();
            event.causes.iter().for_each(|&cause| row.add(prefix.row(cause)));
            let earlier = of_receiver.entry(event.name.receiver).or_default();
            let ordered: Vec<_> = earlier.iter().copied().filter(|&e| is_ordered(&events[e], event, &row)).collect();
            for earlier in ordered.into_iter().rev() {
                if row.insert(earlier) {
                    row.add(before.row(earlier));
                }
            }
            let mut own = row.clone();
            own.insert(number);
            if let Some(previous) = of_task.insert(event.task, number) {
                own.add(prefix.row(previous));
            }
            earlier.push(number);
            *before.row_mut(number) = row;
            *prefix.row_mut(number) = own;
        }
        let after = before.transposed(events.len());
        Self { before, after }
    }

    /// Whether `first` must come before `second`.
    #[must_use]
    pub fn holds(&self, first: usize, second: usize) -> bool {
        self.before.contains(second, first)
    }

    /// The receives that must come before this one.
    pub fn before(&self, event: usize) -> &Bits {
        self.before.row(event)
    }

    /// The receives that must come after this one.
    pub fn after(&self, event: usize) -> &Bits {
        self.after.row(event)
    }

    /// Why `first` must come before `second`: the receives from one to the other, each with the reason why it must come after the previous
    /// one. Empty if it need not.
    #[must_use]
    pub fn chain(&self, recorded: &Recorded, first: usize, second: usize) -> Vec<(usize, Why)> {
        let mut chain = Vec::new();
        let mut at = second;
        while at != first && self.holds(first, at) {
            let (previous, why) = self.step_back(recorded, first, at);
            chain.push((at, why));
            at = previous;
        }
        chain.reverse();
        chain
    }

    fn step_back(&self, recorded: &Recorded, first: usize, at: usize) -> (usize, Why) {
        let events = &recorded.events;
        let leads = |&event: &usize| event == first || self.holds(first, event);
        for &cause in &events[at].causes {
            let task = events[cause].task;
            let prefix = (0..=cause).rev().filter(|&event| events[event].task == task);
            if let Some(event) = prefix.into_iter().find(leads) {
                return (event, Why::Cause);
            }
        }
        let same = |&event: &usize| events[event].name.receiver == events[at].name.receiver && self.holds(event, at);
        let event = (0..at).rev().filter(same).find(leads);
        (event.expect("raddle bug: a must-happen-before without a reason"), Why::Order)
    }
}

/// Whether, by the delivery order, `event` can be received only after `earlier`. All of `known` must come before `event`.
fn is_ordered(earlier: &ReceiveEvent, event: &ReceiveEvent, known: &Bits) -> bool {
    let same_sender = earlier.name.sender == event.name.sender;
    let was_known = || match earlier.cause {
        Some(cause) => known.contains(cause),
        // A task that is no actor sends independently of its receives.
        None => event.mailbox,
    };
    match event.delivery {
        Some(Delivery::Unordered) => false,
        Some(Delivery::PerSender) => same_sender,
        Some(Delivery::Causal) | None => earlier.sent < event.sent && (same_sender || was_known()),
    }
}
