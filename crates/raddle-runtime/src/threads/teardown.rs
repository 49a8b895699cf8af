//! The end of an execution: what has not ended is unwound, and what was kept for it is dropped.

use std::panic::{self, AssertUnwindSafe};

use raddle_engine::ids::TaskId;

use super::Running;
use crate::coroutine::{Job, current};
use crate::execution::Newborn;
use crate::thread;

/// How often tasks that have not ended are resumed: destructors may start others without end.
const MOST_ROUNDS: u32 = 1_000;

impl Running {
    /// Unwinds what has not ended. Destructors run as they would; those that wait for each other are left behind.
    pub(super) fn tear_down(&mut self) {
        let execution = &self.worker.execution;
        {
            let Ok(mut state) = execution.state.try_borrow_mut() else {
                return self.leave_behind();
            };
            if state.alive.is_empty() && state.statics.is_empty() && state.newborn.is_empty() {
                return;
            }
            state.tearing_down = true;
            execution.over.set(true);
        }
        self.unwind_all();
        self.leave_behind();
        self.drop_statics();
        self.forget_newborn();
    }

    /// Resumes what is left until nothing of it goes on any more.
    fn unwind_all(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let begun = self.end_newborn();
            let left = self.fibers.iter().flatten().count();
            for task in 0..self.fibers.len() {
                if self.fibers[task].is_some() && self.worker.sound.get() {
                    let task = TaskId::next_of(task);
                    self.worker.execution.state.borrow_mut().current = task;
                    self.resume(task);
                }
            }
            let still = self.fibers.iter().flatten().count();
            let born = self.worker.execution.state.try_borrow().is_ok_and(|state| !state.newborn.is_empty());
            if !self.worker.sound.get() || !born && (still == 0 || still == left && !begun) {
                break;
            }
        }
    }

    /// Ends tasks that have not begun, also those that destructors start; says whether there were any. Their jobs are not run, but what
    /// they captured is dropped, on fibers because that may take operations.
    fn end_newborn(&mut self) -> bool {
        let newborn = match self.worker.execution.state.try_borrow_mut() {
            Ok(mut state) => std::mem::take(&mut state.newborn),
            Err(_) => return false,
        };
        let any = !newborn.is_empty();
        for Newborn { task, job, stack_bytes } in newborn {
            self.begin_task(Newborn { task, job: Box::new(move || thread::run_task(move || drop(job))), stack_bytes });
        }
        any
    }

    /// What destructors start again and again is left behind, as it must not be dropped outside the execution.
    fn forget_newborn(&mut self) {
        if let Ok(mut state) = self.worker.execution.state.try_borrow_mut() {
            state.newborn.drain(..).for_each(|newborn| std::mem::forget(newborn.job));
        }
    }

    /// Values of `static`s belong to the execution; their destructors may take operations, so they run on a fiber. The latest
    /// goes first, since it may refer to earlier ones.
    fn drop_statics(&mut self) {
        let Ok(state) = self.worker.execution.state.try_borrow() else {
            return;
        };
        if state.statics.is_empty() {
            return;
        }
        let stack_bytes = state.settings.stack_bytes;
        drop(state);
        let job: Job = Box::new(|| thread::run_task(drop_kept_values));
        self.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes });
        self.unwind_all();
        self.leave_behind();
        if let Ok(mut state) = self.worker.execution.state.try_borrow_mut() {
            state.statics.clear();
        }
    }

    pub(super) fn leave_behind(&mut self) {
        let parked = self.parked.drain(..).map(|parked| parked.1);
        for fiber in self.fibers.iter_mut().filter_map(Option::take).chain(parked) {
            fiber.abandon();
        }
    }
}

/// Drops what the `static`s of the running execution hold; memory is freed only when all of it is dropped.
fn drop_kept_values() {
    let mut dropped = Vec::new();
    while let Some(mut kept) = current::with(|execution| execution.state.borrow_mut().last_kept()).flatten() {
        // In a process of its own nobody would ever drop a `static`: what its destructor panics about is no failure.
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| kept.drop_value())) {
            std::mem::forget(payload);
        }
        dropped.push(kept);
    }
}
