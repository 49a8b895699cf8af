//! How many steps each task takes, as learnt from executions.
//!
//! Orders are spread unevenly over a tree of decisions: where one task has many steps to go and the others few, nearly all
//! orders begin with that task. For tasks that have nothing to do with one another, the share of the orders that begin with
//! a task is exactly the task's share of the steps that are left, which is why random walks choose by it.

use raddle_engine::ids::TaskId;
use raddle_engine::trace::Trace;

/// What is known of the lengths of tasks, in steps that took a decision.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    tasks: Vec<Length>,
}

/// Entry `n` is about the executions in which the task took more than `n` steps.
#[derive(Clone, Debug, Default)]
struct Length {
    /// How many there were.
    longer: Vec<u64>,
    /// How many steps they took beyond the first `n`, in all.
    beyond: Vec<u64>,
}

impl Lengths {
    /// Takes in an execution in which tasks took these numbers of steps.
    pub fn learn(&mut self, steps: &Taken) {
        if self.tasks.len() < steps.by_task.len() {
            self.tasks.resize_with(steps.by_task.len(), Length::default);
        }
        for (length, &taken) in self.tasks.iter_mut().zip(&steps.by_task) {
            let taken = taken as usize;
            if length.longer.len() < taken {
                length.longer.resize(taken, 0);
                length.beyond.resize(taken, 0);
            }
            for (n, (longer, beyond)) in length.longer.iter_mut().zip(&mut length.beyond).take(taken).enumerate() {
                *longer += 1;
                *beyond += (taken - n) as u64;
            }
        }
    }

    /// How many more steps `task` takes on average, its next one included, after it has taken `taken`; at least one.
    #[must_use]
    pub fn left(&self, task: TaskId, taken: u32) -> f64 {
        let known = self.tasks.get(task.index());
        let at = taken as usize;
        known.and_then(|it| Some(*it.beyond.get(at)? as f64 / it.longer[at] as f64)).unwrap_or(1.0)
    }
}

/// How many steps that took a decision each task has taken in an execution so far.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    by_task: Vec<u32>,
    followed: usize,
}

impl Taken {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.by_task.clear();
        self.followed = 0;
    }

    /// Takes in what is new in `trace`.
    pub fn follow(&mut self, trace: &Trace) {
        for step in &trace.steps()[self.followed..] {
            if step.alternatives > 0 {
                if self.by_task.len() <= step.task.index() {
                    self.by_task.resize(step.task.index() + 1, 0);
                }
                self.by_task[step.task.index()] += 1;
            }
        }
        self.followed = trace.len();
    }

    /// By this task.
    #[must_use]
    pub fn by(&self, task: TaskId) -> u32 {
        self.by_task.get(task.index()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_mean_over_those_who_went_on() {
        let task = TaskId::new(0);
        let mut lengths = Lengths::default();
        assert_eq!(lengths.left(task, 0), 1.0, "nothing is known");
        for steps in [2, 4, 0] {
            lengths.learn(&Taken { by_task: vec![steps], followed: 0 });
        }
        let left: Vec<_> = (0..6).map(|taken| lengths.left(task, taken)).collect();
        assert_eq!(left, [3.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(lengths.left(TaskId::new(7), 0), 1.0, "nothing is known of this one");
    }
}
