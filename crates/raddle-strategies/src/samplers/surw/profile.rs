//! How often each task touches each object, by names that are the same in every execution.

use std::collections::{BTreeMap, BTreeSet};

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Step, Trace};
use serde::{Deserialize, Serialize};

use super::lineage::Lineage;
use super::object_names::{Name, ObjectNames};

/// How often objects are touched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchCounts {
    /// The number of executions.
    pub executions: u64,
    /// By a task's name for an object: what that task did to it.
    pub touched: BTreeMap<u64, Touched>,
}

/// What a task did to an object, in all executions together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The names of the task and its ancestors.
    pub line: Vec<u64>,
    /// How often the task touched the object.
    pub times: u64,
    /// Whether the task ever changed the object.
    pub changed: bool,
    /// The smallest of all names for the same object.
    pub object: u64,
}

/// True if the order of such steps on their object may matter. A release follows its acquire, and creating, ending or joining a task is no
/// decision.
pub(super) fn matters(class: Class) -> bool {
    !matches!(
        class,
        Class::Release | Class::Spawn | Class::Join | Class::Finish | Class::Fence | Class::Yield | Class::Time
    )
}

/// True if the step was decided, and its order matters.
pub(super) fn counts(step: &Step) -> bool {
    step.alternatives > 0 && step.access.object.is_some() && matters(step.op.class)
}

impl TouchCounts {
    /// Learns from an execution.
    pub(super) fn learn(&mut self, trace: &Trace) {
        self.executions += 1;
        let (mut lineage, mut object_names) = (Lineage::default(), ObjectNames::default());
        let mut names: BTreeMap<ObjectId, BTreeSet<Name>> = BTreeMap::new();
        for step in trace.steps() {
            lineage.follow(step);
            if !counts(step) {
                continue;
            }
            let object = step.access.object;
            let name = object_names.name(&mut lineage, step.task, object);
            object_names.touch(step.task, object);
            names.entry(object).or_default().insert(name);
            let touched = self.touched.entry(name).or_insert_with(|| Touched {
                line: lineage.line(step.task),
                times: 0,
                changed: false,
                object: name,
            });
            touched.times += 1;
            touched.changed |= step.access.effect == Effect::Change;
        }
        names.values().for_each(|names| self.unite(names));
    }

    /// Records that these are names for one object.
    fn unite(&mut self, names: &BTreeSet<Name>) {
        let objects: BTreeSet<u64> = names.iter().filter_map(|name| self.object(*name)).collect();
        let Some(&first) = objects.first() else { return };
        if objects.len() > 1 {
            self.touched.values_mut().filter(|it| objects.contains(&it.object)).for_each(|it| it.object = first);
        }
    }

    /// The object that has this name.
    pub(super) fn object(&self, name: Name) -> Option<u64> {
        self.touched.get(&name).map(|touched| touched.object)
    }

    /// The objects that several tasks touch, and at least one changes.
    pub(super) fn shared(&self) -> Vec<u64> {
        let mut tasks: BTreeMap<u64, (u32, bool)> = BTreeMap::new();
        for touched in self.touched.values() {
            let (tasks, changed) = tasks.entry(touched.object).or_default();
            *tasks += 1;
            *changed |= touched.changed;
        }
        tasks.into_iter().filter(|(_, (tasks, changed))| *tasks > 1 && *changed).map(|(object, _)| object).collect()
    }

    /// By task: how often it and its descendants are expected to touch an object in one execution.
    pub(super) fn expected(&self, object: u64) -> BTreeMap<u64, i64> {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        for touched in self.touched.values().filter(|touched| touched.object == object) {
            touched.line.iter().for_each(|&task| *sums.entry(task).or_default() += touched.times);
        }
        let mean = |times: u64| i64::try_from(times.div_ceil(self.executions.max(1))).unwrap_or(i64::MAX);
        sums.into_iter().map(|(task, times)| (task, mean(times))).collect()
    }
}
