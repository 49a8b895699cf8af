//! Which tasks matter to what happens next, as far as was learnt.
//!
//! Take one task that can go on. Whoever may later do something that conflicts with what it does next matters to it, and so on for
//! these: the smallest set of tasks that is closed in this way. As long as what was learnt is right, nobody outside can make a
//! difference to what those inside do next (it is a persistent set; Godefroid 1996, chapter 4), so each trace goes on with one
//! of them. Of all such sets we take the smallest.

use std::iter;

use crate::probing::futures::{Futures, announced};
use crate::probing::lengths::Taken;
use raddle_engine::ids::TaskId;
use raddle_engine::system::Action;
use raddle_engine::trace::Trace;

use super::Weights;

/// How near tasks are to what happens next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    /// The one that all goes out from.
    focus: Tasks,
    /// Those that matter to it directly.
    direct: Tasks,
    /// All that matter.
    inside: Tasks,
    /// What each of the others weighs.
    outside: f64,
}

/// A set of tasks, by their numbers. Programs with more have all of them inside.
type Tasks = u64;

/// What the focus weighs more than who matters directly, and those more than the others inside.
const STEP: f64 = 2.0;

/// The weight of all who are outside together, about. Never 0, for what was learnt may be wrong.
const OUTSIDE: f64 = 1.0 / 16.0;

impl Near {
    /// Everybody may matter.
    pub fn all() -> Self {
        Self { focus: 0, direct: 0, inside: Tasks::MAX, outside: 1.0 }
    }

    /// For a point where these actions are possible.
    pub fn find(actions: &[Action], so_far: &Trace, futures: &Futures, taken: &Taken) -> Self {
        let most = futures.tasks().chain(actions.iter().map(|action| action.task)).map(TaskId::index).max();
        if actions.len() < 2 || most.is_none_or(|most| most >= Tasks::BITS as usize) {
            return Self::all();
        }
        let latest = so_far.last().map(|step| step.task);
        let matters = |task: TaskId| matters_to(task, actions, futures, taken);
        // The task that went on last comes first among equals: then sets that do not meet are done one after another.
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

    /// What `task` weighs.
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

/// Who may do something that conflicts with what `task` does next; everybody if that is not known.
fn matters_to(task: TaskId, actions: &[Action], futures: &Futures, taken: &Taken) -> Tasks {
    let Some(seen) = futures.next(task, taken.by(task)) else { return Tasks::MAX };
    let own = actions.iter().filter(|action| action.task == task);
    let next = || seen.iter().copied().chain(own.clone().filter_map(announced));
    let conflicts = |other: &TaskId| next().any(|touch| futures.conflicts(*other, taken.by(*other), touch));
    iter::once(task).chain(futures.tasks().filter(conflicts)).fold(0, |tasks, task| tasks | bit(task))
}
