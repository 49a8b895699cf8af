//! The coverage of a search.

use std::collections::HashMap;

use crate::coverage::criterion::Criterion;
use crate::coverage::forecast::{Growth, forecast};
use crate::coverage::goal_counts::{GoalCounts, GoalTotals};
use crate::coverage::receive_index::{ReceiveId, ReceiveIndex, orders};
use crate::coverage::recorded::Recorded;
use crate::ids::TaskId;
use crate::trace::Trace;

/// The goals that executions have achieved, with any strategy.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub(super) index: ReceiveIndex,
    pub(super) receivers: Vec<Receiver>,
    executions: u64,
    left_out: u64,
    growth: [Growth; 3],
    /// Executions with receives that no earlier execution had.
    pub(super) novel: Vec<Recorded>,
    /// Receives in these.
    novel_receives: usize,
}

/// A receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    pub(super) label: String,
    /// Its messages and their senders, as text.
    pub(super) messages: Vec<String>,
    /// How often the same text was used.
    pub(super) said: HashMap<String, u32>,
    pub(super) goals_by_criterion: [GoalCounts; 3],
}

/// The coverage by one criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Achieved {
    /// Goals: one receive came before another, in the way that counts.
    pub goals: u64,
    /// Pairs that were received in both orders.
    pub pairs: u64,
    /// The expected number of new goals in the next thousand executions, if they are like those so far.
    pub expected: f64,
}

/// The largest number of receives in `novel`, from which the impossible goals are computed.
const MOST_NOVEL_RECEIVES: usize = 100_000;

impl Coverage {
    /// Adds an execution; `who` has the names of its tasks.
    pub fn observe(&mut self, trace: &Trace, who: impl FnOnce() -> Vec<String>) {
        let recorded = Recorded::of(trace);
        let known = self.index.receives();
        let places = self.index.add_all(&recorded);
        if self.index.receives() > known {
            self.name_all(&recorded, &places, &who());
        }
        let own = orders(places.iter().copied().zip(recorded.events.iter().map(|event| event.changes)));
        for (receiver, order) in &own {
            for criterion in Criterion::ALL {
                self.receivers[*receiver].goals_by_criterion[criterion.index()].take_in(criterion, order);
            }
        }
        self.executions += 1;
        self.left_out += recorded.left_out;
        for criterion in Criterion::ALL {
            let goals = self.counts(criterion).goals;
            self.growth[criterion.index()].note(self.executions, goals);
        }
        if self.index.receives() > known
            && self.novel_receives + recorded.events.len() <= MOST_NOVEL_RECEIVES.max(recorded.events.len())
        {
            self.novel_receives += recorded.events.len();
            self.novel.push(recorded);
        }
    }

    /// Names the receives that are new.
    fn name_all(&mut self, recorded: &Recorded, places: &[ReceiveId], who: &[String]) {
        let called = |task: TaskId| who.get(task.index()).map_or("?", String::as_str);
        for (event, place) in recorded.events.iter().zip(places) {
            if self.receivers.len() <= place.receiver {
                let label = called(event.task);
                let label = if event.mailbox { label.to_owned() } else { format!("{label}, at a channel,") };
                self.receivers.push(Receiver { label, ..Receiver::default() });
            }
            let receiver = &mut self.receivers[place.receiver];
            if receiver.messages.len() <= place.event {
                let text = format!("{} from {}", short(event.label), called(event.sender));
                let count = receiver.said.entry(text.clone()).or_insert(0);
                *count += 1;
                receiver.messages.push(if *count == 1 { text } else { format!("{text} (no. {count})") });
            }
        }
    }

    fn counts(&self, criterion: Criterion) -> GoalTotals {
        let mut counts = GoalTotals::default();
        self.receivers.iter().for_each(|receiver| counts.add(receiver.goals_by_criterion[criterion.index()].counts));
        counts
    }

    /// The number of executions.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How many receives were ignored because one execution had too many.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of different receives.
    #[must_use]
    pub fn receives(&self) -> usize {
        self.index.receives()
    }

    /// The coverage in all.
    #[must_use]
    pub fn achieved(&self, criterion: Criterion) -> Achieved {
        self.tell(self.counts(criterion))
    }

    fn tell(&self, GoalTotals { goals, pairs, singles, doubles }: GoalTotals) -> Achieved {
        Achieved { goals, pairs, expected: forecast(self.executions, singles, doubles, 1_000) }
    }

    /// The coverage by receiver: its name, its number of receives, and its counts.
    pub fn by_receiver(&self, criterion: Criterion) -> impl Iterator<Item = (&str, usize, Achieved)> {
        self.receivers.iter().map(move |receiver| {
            let achieved = self.tell(receiver.goals_by_criterion[criterion.index()].counts);
            (receiver.label.as_str(), receiver.messages.len(), achieved)
        })
    }

    /// How the number of goals has grown.
    #[must_use]
    pub fn growth(&self, criterion: Criterion) -> &Growth {
        &self.growth[criterion.index()]
    }
}

/// The last part of a path.
pub fn short(label: &str) -> &str {
    label.rsplit("::").next().unwrap_or(label)
}
