//! How often each task touches each object.
//!
//! Tasks go by how they came to be, so that they are the same whoever is created first. Objects go by their number: one that is
//! first touched by different tasks in different executions may change its number with another, and then the counts are off.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::lineage::Lineage;
use crate::ids::ObjectId;
use crate::trace::{Class, Effect, Step, Trace};

/// Means over some executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    executions: u64,
    /// By object and task: how often it, and those that come from it, touched that in all executions together.
    touched: BTreeMap<(u32, u64), u64>,
    /// Objects that several tasks touched in one execution, and changed.
    shared: Vec<u32>,
}

/// What is known of how often objects are touched, to be written down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In so many executions.
    pub executions: u64,
    /// Object, name of a task, and how often it or those that come from it touched the object in all of them.
    pub touched: Vec<(u32, u64, u64)>,
    /// Objects that are shared.
    pub shared: Vec<u32>,
}

/// Whether the order of this step among others on its object may matter. What is given back was taken before, and who is
/// created, ends or is joined makes no choice of it.
pub(super) fn matters(class: Class) -> bool {
    !matches!(
        class,
        Class::Release | Class::Spawn | Class::Join | Class::Finish | Class::Fence | Class::Yield | Class::Time
    )
}

/// Whether the step is one that was decided, and matters.
pub(super) fn counts(step: &Step) -> bool {
    step.alternatives > 0 && step.access.object.is_some() && matters(step.op.class)
}

impl Profile {
    /// Takes in an execution.
    pub(super) fn learn(&mut self, trace: &Trace) {
        self.executions += 1;
        let mut lineage = Lineage::default();
        let mut tasks: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
        let mut shared: BTreeSet<u32> = self.shared.iter().copied().collect();
        for step in trace.steps() {
            lineage.follow(step);
            if !counts(step) {
                continue;
            }
            let (object, task) = (step.access.object.number(), step.task.number());
            for name in lineage.line(step.task) {
                *self.touched.entry((object, name)).or_default() += 1;
            }
            let changes = step.access.effect == Effect::Change;
            let (first, changed) = tasks.entry(object).or_insert((task, changes));
            *changed |= changes;
            if *first != task {
                // A number that no task has: several have touched it.
                *first = u32::MAX;
            }
            if *first == u32::MAX && *changed {
                shared.insert(object);
            }
        }
        self.shared = shared.into_iter().collect();
    }

    /// The objects among which to draw.
    pub(super) fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// How often a task, with those that come from it, is expected to touch an object in one execution.
    pub(super) fn expected(&self, object: ObjectId, task: u64) -> i64 {
        let touched = self.touched.get(&(object.number(), task)).copied().unwrap_or(0);
        i64::try_from(touched.div_ceil(self.executions.max(1))).unwrap_or(i64::MAX)
    }

    /// As data.
    pub(super) fn to_counts(&self) -> Counts {
        let touched = self.touched.iter().map(|(&(object, task), &times)| (object, task, times)).collect();
        Counts { executions: self.executions, touched, shared: self.shared.clone() }
    }

    /// From data.
    pub(super) fn of_counts(counts: &Counts) -> Self {
        let touched = counts.touched.iter().map(|&(object, task, times)| ((object, task), times)).collect();
        Self { executions: counts.executions, touched, shared: counts.shared.clone() }
    }
}
