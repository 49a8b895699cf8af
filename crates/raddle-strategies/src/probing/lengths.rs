//! How many steps each task takes, as learned from executions.
//!
//! Executions are spread unevenly over a tree of decisions. If one task has many steps left and the others have few, nearly all executions
//! begin with that task. For independent tasks, the fraction of the executions that begin with a task is exactly the task's fraction of
//! the remaining steps. So random walks choose by it.

use raddle_engine::ids::TaskId;
use raddle_engine::trace::Trace;

/// What is known of the lengths of tasks, in steps that needed a decision.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    tasks: Vec<Length>,
}

/// Entry `n` is about the executions in which the task took more than `n` steps.
#[derive(Clone, Debug, Default)]
struct Length {
    /// The number of these executions.
    longer: Vec<u64>,
    /// The total number of steps that the task took in them beyond the first `n`.
    remaining: Vec<u64>,
}

impl Lengths {
    /// Learns from an execution in which tasks took these numbers of steps.
    pub fn learn(&mut self, steps: &StepCounts) {
        if self.tasks.len() < steps.by_task.len() {
            self.tasks.resize_with(steps.by_task.len(), Length::default);
        }
        for (length, &taken) in self.tasks.iter_mut().zip(&steps.by_task) {
            let taken = taken as usize;
            if length.longer.len() < taken {
                length.longer.resize(taken, 0);
                length.remaining.resize(taken, 0);
            }
            for (n, (longer, remaining)) in length.longer.iter_mut().zip(&mut length.remaining).take(taken).enumerate()
            {
                *longer += 1;
                *remaining += (taken - n) as u64;
            }
        }
    }

    /// The mean number of steps that `task` still takes, including the next one, after it has taken `taken`; at least one.
    #[must_use]
    pub fn left(&self, task: TaskId, taken: u32) -> f64 {
        let known = self.tasks.get(task.index());
        let at = taken as usize;
        known.and_then(|it| Some(*it.remaining.get(at)? as f64 / it.longer[at] as f64)).unwrap_or(1.0)
    }
}

/// How many steps with a decision each task has taken in the current execution.
#[derive(Clone, Debug, Default)]
pub struct StepCounts {
    by_task: Vec<u32>,
    followed: usize,
}

impl StepCounts {
    /// Sets all counts to 0.
    pub fn clear(&mut self) {
        self.by_task.clear();
        self.followed = 0;
    }

    /// Counts the new steps of `trace`.
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

    /// The steps of this task.
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
            lengths.learn(&StepCounts { by_task: vec![steps], followed: 0 });
        }
        let left: Vec<_> = (0..6).map(|taken| lengths.left(task, taken)).collect();
        assert_eq!(left, [3.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(lengths.left(TaskId::new(7), 0), 1.0, "nothing is known of this one");
    }
}
