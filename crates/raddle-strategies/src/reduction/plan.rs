//! A plan for a node, as data. A guided search makes plans for the ancestors of its subtree, which it cannot change itself.

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::Label;
use serde::{Deserialize, Serialize};

use super::path::Node;

/// What is to be run at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// See [`Node::add_one_of`].
    OneOf(Vec<(TaskId, Label)>),
    /// See [`Node::add`].
    Also(TaskId, Label),
}

impl Plan {
    /// True if the node, which may be out of date, already covers the plan.
    pub(super) fn is_known(&self, node: &Node) -> bool {
        match self {
            Self::OneOf(options) => !node.would_add_one_of(options),
            Self::Also(task, label) => !node.would_add((*task, *label)),
        }
    }

    /// Adds the plan to a node.
    pub(super) fn enter(&self, node: &mut Node) {
        match self {
            Self::OneOf(options) => node.add_one_of(options),
            Self::Also(task, label) => node.add((*task, *label)),
        }
    }
}
