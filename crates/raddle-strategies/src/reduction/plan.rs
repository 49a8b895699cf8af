//! What a race makes necessary at a node, as data: for nodes above a worker's piece, which it cannot change itself.

use serde::{Deserialize, Serialize};

use super::kept::{Items, Kept};
use super::optimal::{self, Slept};
use super::path::Node;
use super::wakeup::Instead;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::events::{Event, Events, Label};
use raddle_engine::trace::Class;

/// To be done at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// Run this, unless something that was run or is to be run leads to the same.
    Sequence { items: Vec<Kept>, instead: Instead },
    /// See [`Node::add_one_of`].
    OneOf { options: Vec<(TaskId, Label)>, all_if_asleep: bool },
    /// Run this one.
    Also(TaskId, Label),
}

impl Plan {
    pub(super) fn sequence(events: &Events, kept: &mut Items, sequence: &[u32], instead: Instead) -> Self {
        Self::Sequence { items: sequence.iter().map(|&event| kept.of(events, event as usize)).collect(), instead }
    }

    /// Whether a node that may be out of date knows enough to do without the plan. For sequences see [`optimal::is_planned`].
    pub(super) fn is_known(&self, node: &Node) -> bool {
        match self {
            Self::Sequence { .. } => false,
            Self::OneOf { options, all_if_asleep } => !node.would_add_one_of(options, *all_if_asleep),
            Self::Also(task, label) => !node.would_add((*task, *label)),
        }
    }

    /// Takes the plan into a node; whether that has changed anything.
    pub(super) fn enter(&self, node: &mut Node) -> bool {
        match self {
            Self::Sequence { items, instead } => {
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
                let slept = optimal::slept_through(&events, node, &sequence, *instead, true);
                matches!(slept, Slept::No) && {
                    let item = &mut |event| items[event as usize].clone();
                    optimal::plan(&events, node, None, &mut sequence, (*instead, true), item)
                }
            }
            Self::OneOf { options, all_if_asleep } => node.add_one_of(options, *all_if_asleep),
            Self::Also(task, label) => node.add((*task, *label)),
        }
    }
}
