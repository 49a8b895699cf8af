//! The tasks that matter to what happens next, as far as is known.
//!
//! Take an enabled task. A task matters to it if it may later do something that conflicts with the first one's next step; then
//! take the tasks that matter to these, and so on. The result is the smallest closed set of tasks. If what was learned is right, no task outside
//! can affect the next steps of the tasks inside (it is a persistent set; Godefroid 1996, chapter 4), so every trace continues with
//! one of them. Of all such sets we use the smallest.

use std::iter;

use raddle_engine::ids::TaskId;
use raddle_engine::system::Action;
use raddle_engine::trace::Trace;

use super::Weights;
use crate::probing::futures::{FutureTouches, declared_touch};
use crate::probing::lengths::StepCounts;

/// How near tasks are to what happens next.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConflictSet {
    /// The task from which the set was computed.
    focus: Tasks,
    /// The tasks that matter to it directly.
    direct: Tasks,
    /// All tasks of the set.
    inside: Tasks,
    /// The weight of each task outside.
    outside: f64,
}

/// A set of tasks, by their numbers. In programs with more tasks, all of them are inside.
type Tasks = u64;

/// The ratio of the weights of the focus and the direct tasks, and of the direct tasks and the others inside.
const STEP: f64 = 2.0;

/// The approximate weight of all tasks outside together. Never 0, because what was learned may be wrong.
const OUTSIDE: f64 = 1.0 / 16.0;

impl ConflictSet {
    /// The set of all tasks.
    pub fn all() -> Self {
        Self { focus: 0, direct: 0, inside: Tasks::MAX, outside: 1.0 }
    }

    /// Computes the set for a point with these enabled actions.
    pub fn find(actions: &[Action], so_far: &Trace, futures: &FutureTouches, taken: &StepCounts) -> Self {
        let most = futures.tasks().chain(actions.iter().map(|action| action.task)).map(TaskId::index).max();
        if actions.len() < 2 || most.is_none_or(|most| most >= Tasks::BITS as usize) {
            return Self::all();
        }
        let latest = so_far.last().map(|step| step.task);
        let matters = |task: TaskId| matters_to(task, actions, futures, taken);
        // Among equals, the latest task comes first: then disjoint sets are run one after another.
        let first = actions.iter().map(|action| action.task).find(|&task| Some(task) == latest);
        let foci = first.into_iter().chain(actions.iter().map(|action| action.task));
        let mut known: [Option<Tasks>; Tasks::BITS as usize] = [None; Tasks::BITS as usize];
        let mut best = Self::all();
        for focus in foci {
            let (mut inside, mut open) = (bit(focus), bit(focus));
            while open != 0 && inside.count_ones() < best.inside.count_ones() {
                let next = open.trailing_zeros() as usize;
                let more = *known[next].get_or_insert_with(|| matters(TaskId::next_of(next)));
                open = (open | (more & !inside)) & !(1 << next);
                inside |= more;
            }
            if inside.count_ones() < best.inside.count_ones() {
                let direct = known[focus.index()].unwrap_or_default() & !bit(focus);
                best = Self { focus: bit(focus), direct, inside, outside: OUTSIDE / actions.len() as f64 };
            }
        }
        best
    }

    /// The weights of `task`.
    pub fn weights(&self, task: TaskId) -> Weights {
        if self.inside == Tasks::MAX {
            return [1.0; 2];
        }
        let among = |tasks: Tasks| tasks & bit(task) != 0;
        match () {
            () if !among(self.inside) => [self.outside; 2],
            () if among(self.focus) => [STEP * STEP, 1.0],
            () if among(self.direct) => [STEP, 1.0],
            () => [1.0; 2],
        }
    }
}

fn bit(task: TaskId) -> Tasks {
    1 << task.index()
}

/// The tasks that may do something that conflicts with the next step of `task`; all if that step is not known.
fn matters_to(task: TaskId, actions: &[Action], futures: &FutureTouches, taken: &StepCounts) -> Tasks {
    let Some(seen) = futures.next(task, taken.by(task)) else { return Tasks::MAX };
    let own = actions.iter().filter(|action| action.task == task);
    let next = || seen.iter().copied().chain(own.clone().filter_map(declared_touch));
    let conflicts = |other: &TaskId| next().any(|touch| futures.conflicts(*other, taken.by(*other), touch));
    iter::once(task).chain(futures.tasks().filter(conflicts)).fold(0, |tasks, task| tasks | bit(task))
}
