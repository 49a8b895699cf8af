//! How often each task touches each object, by names that are the same in every execution.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::lineage::Lineage;
use super::places::{Name, Places};
use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Step, Trace};

/// What is known of how often objects are touched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In so many executions.
    pub executions: u64,
    /// By a task's name for an object: what that task did to it.
    pub touched: BTreeMap<u64, Touched>,
}

/// What a task did to an object, in all executions together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The name of the task, and of those that it comes from.
    pub line: Vec<u64>,
    /// How often it touched it.
    pub times: u64,
    /// Whether it ever changed it.
    pub changed: bool,
    /// The smallest of all names for the same object.
    pub object: u64,
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

impl Counts {
    /// Takes in an execution.
    pub(super) fn learn(&mut self, trace: &Trace) {
        self.executions += 1;
        let (mut lineage, mut places) = (Lineage::default(), Places::default());
        let mut names: BTreeMap<ObjectId, BTreeSet<Name>> = BTreeMap::new();
        for step in trace.steps() {
            lineage.follow(step);
            if !counts(step) {
                continue;
            }
            let object = step.access.object;
            let name = places.name(&mut lineage, step.task, object);
            places.touch(step.task, object);
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

    /// These are names for one object.
    fn unite(&mut self, names: &BTreeSet<Name>) {
        let objects: BTreeSet<u64> = names.iter().filter_map(|name| self.object(*name)).collect();
        let Some(&first) = objects.first() else { return };
        if objects.len() > 1 {
            self.touched.values_mut().filter(|it| objects.contains(&it.object)).for_each(|it| it.object = first);
        }
    }

    /// Which object it is that a task calls so.
    pub(super) fn object(&self, name: Name) -> Option<u64> {
        self.touched.get(&name).map(|touched| touched.object)
    }

    /// The objects that several tasks touch, and change.
    pub(super) fn shared(&self) -> Vec<u64> {
        let mut tasks: BTreeMap<u64, (u32, bool)> = BTreeMap::new();
        for touched in self.touched.values() {
            let (tasks, changed) = tasks.entry(touched.object).or_default();
            *tasks += 1;
            *changed |= touched.changed;
        }
        tasks.into_iter().filter(|(_, (tasks, changed))| *tasks > 1 && *changed).map(|(object, _)| object).collect()
    }

    /// By task: how often it, with those that come from it, is expected to touch an object in one execution.
    pub(super) fn expected(&self, object: u64) -> BTreeMap<u64, i64> {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        for touched in self.touched.values().filter(|touched| touched.object == object) {
            touched.line.iter().for_each(|&task| *sums.entry(task).or_default() += touched.times);
        }
        let mean = |times: u64| i64::try_from(times.div_ceil(self.executions.max(1))).unwrap_or(i64::MAX);
        sums.into_iter().map(|(task, times)| (task, mean(times))).collect()
    }
}
