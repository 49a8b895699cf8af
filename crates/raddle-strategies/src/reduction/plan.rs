//! A plan for a node, as data. A worker makes plans for the ancestors of its subtree, which it cannot change itself.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::events::{Event, Events, Label};
use raddle_engine::trace::Class;
use serde::{Deserialize, Serialize};

use super::interned::{Interned, Interner};
use super::optimal::{self, Coverage};
use super::path::Node;
use super::wakeup::RaceFirst;

/// What is to be run at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// Run this sequence, unless the node covers an equivalent one.
    Sequence { items: Vec<Interned>, race_first: RaceFirst },
    /// See [`Node::add_one_of`].
    OneOf { options: Vec<(TaskId, Label)>, all_if_asleep: bool },
    /// Run this alternative.
    Also(TaskId, Label),
}

impl Plan {
    pub(super) fn sequence(events: &Events, interner: &mut Interner, sequence: &[u32], race_first: RaceFirst) -> Self {
        Self::Sequence {
            items: sequence.iter().map(|&event| interner.of(events, event as usize)).collect(),
            race_first,
        }
    }

    /// True if the node, which may be out of date, already covers the plan. For sequences see [`optimal::is_planned`].
    pub(super) fn is_known(&self, node: &Node) -> bool {
        match self {
            Self::Sequence { .. } => false,
            Self::OneOf { options, all_if_asleep } => !node.would_add_one_of(options, *all_if_asleep),
            Self::Also(task, label) => !node.would_add((*task, *label)),
        }
    }

    /// Adds the plan to a node. Returns whether the node has changed.
    pub(super) fn enter(&self, node: &mut Node) -> bool {
        match self {
            Self::Sequence { items, race_first } => {
                let mut events = Events::default();
                let mut sequence = Vec::new();
                for item in items {
                    let event = Event::pending(item.task, item.label, Class::Update, ObjectId::NONE);
                    let index = match &item.touches {
                        Some(touches) => events.suppose(event, touches.iter().copied()),
                        None => events.suppose_vague(event),
                    };
                    sequence.push(u32::try_from(index).expect("raddle bug: more than 2^32 events in one execution"));
                }
                let slept = optimal::covered_by_sleep(&events, node, &sequence, *race_first, true);
                matches!(slept, Coverage::No) && {
                    let item = &mut |event| items[event as usize].clone();
                    optimal::plan(&events, node, None, &mut sequence, (*race_first, true), item)
                }
            }
            Self::OneOf { options, all_if_asleep } => node.add_one_of(options, *all_if_asleep),
            Self::Also(task, label) => node.add((*task, *label)),
        }
    }
}
