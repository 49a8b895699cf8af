//! Which pairs were received in one order only, and why.

use std::collections::{HashMap, HashSet};

use crate::coverage::criterion::Criterion;
use crate::coverage::must::{Must, Why};
use crate::coverage::receive_index::ReceiveId;
use crate::coverage::recorded::Recorded;
use crate::coverage::seen::{Coverage, Receiver};

/// Pairs of receives that were seen in one order only.
#[derive(Clone, Debug, Default)]
pub struct Uncovered {
    /// Pairs that were seen together in one of the recorded executions.
    pub pairs: u64,
    /// Those that came in both orders.
    pub covered: u64,
    /// Those that cannot come in the other order, as far as one execution tells.
    pub ordered: u64,
    /// Those whose other order did not happen.
    pub open: u64,
    /// Some of them, as text.
    pub examples: Vec<Example>,
}

/// A goal that was not achieved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The receiver.
    pub receiver: String,
    /// The message that would have to be first, and the other one.
    pub goal: (String, String),
    /// Why it is impossible: a chain of receives from the second message to the first, each a consequence of the one before. Empty if it is
    /// possible and did not happen.
    pub chain: Vec<(String, Why)>,
}

impl Coverage {
    /// The goals that were not achieved, with so many examples of each kind.
    #[must_use]
    pub fn uncovered(&self, criterion: Criterion, examples: usize) -> Uncovered {
        let mut uncovered = Uncovered::default();
        let mut left = [examples; 2];
        let mut looked_at = HashSet::new();
        for recorded in &self.novel {
            let must = Must::of(recorded);
            for (first, second) in pairs(recorded, criterion) {
                let names = (recorded.events[first].name, recorded.events[second].name);
                if !looked_at.insert((names.0.min(names.1), names.0.max(names.1))) {
                    continue;
                }
                uncovered.pairs += 1;
                let Some((one, other)) = self.missing(recorded, criterion, (first, second)) else {
                    uncovered.covered += 1;
                    continue;
                };
                let ordered = must.holds(other, one);
                *(if ordered { &mut uncovered.ordered } else { &mut uncovered.open }) += 1;
                let left = &mut left[usize::from(ordered)];
                if *left > 0 {
                    *left -= 1;
                    uncovered.examples.push(self.example(recorded, &must, (one, other)));
                }
            }
        }
        uncovered
    }

    /// The goal of a pair that was not achieved, if there is one.
    fn missing(&self, recorded: &Recorded, criterion: Criterion, pair: (usize, usize)) -> Option<(usize, usize)> {
        let (one, other) = (self.place(recorded, pair.0), self.place(recorded, pair.1));
        let goals_by_criterion = &self.receivers[one.receiver].goals_by_criterion[criterion.index()];
        match (goals_by_criterion.contains(one.event, other.event), goals_by_criterion.contains(other.event, one.event))
        {
            (true, true) => None,
            (_, false) => Some((pair.1, pair.0)),
            (false, true) => Some(pair),
        }
    }

    fn place(&self, recorded: &Recorded, event: usize) -> ReceiveId {
        self.index.place(&recorded.events[event].name).expect("raddle bug: a receive that was not recorded")
    }

    fn example(&self, recorded: &Recorded, must: &Must, (first, second): (usize, usize)) -> Example {
        let say = |event: usize| {
            let place = self.place(recorded, event);
            let Receiver { label, messages, said, .. } = &self.receivers[place.receiver];
            let message = &messages[place.event];
            let first_of_many = said.get(message).is_some_and(|times| *times > 1);
            (label.clone(), if first_of_many { format!("{message} (no. 1)") } else { message.clone() })
        };
        let chain = must.chain(recorded, second, first);
        let chain = chain.into_iter().map(|(event, why)| {
            let (receiver, message) = say(event);
            (format!("{receiver} receives {message}"), why)
        });
        Example { receiver: say(first).0, goal: (say(first).1, say(second).1), chain: chain.collect() }
    }
}

/// The pairs of an execution that can be goals, each in the order in which they happened.
fn pairs(recorded: &Recorded, criterion: Criterion) -> impl Iterator<Item = (usize, usize)> {
    let mut of_receiver: HashMap<u64, Vec<usize>> = HashMap::new();
    recorded
        .events
        .iter()
        .enumerate()
        .for_each(|(at, event)| of_receiver.entry(event.name.receiver).or_default().push(at));
    let changes = |event: usize| recorded.events[event].changes;
    let mut own: Vec<_> = of_receiver.into_values().collect();
    own.sort_unstable();
    own.into_iter().flat_map(move |own| {
        let all = (0..own.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let pairs =
            all.map(|(i, j)| (own[i], own[j])).filter(|pair| criterion.relates(changes(pair.0), changes(pair.1)));
        pairs.collect::<Vec<_>>()
    })
}
