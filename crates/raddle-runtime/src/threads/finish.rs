//! What happens to the remaining tasks when an execution is dropped.
//!
//! If the execution has failed, or was dropped in its middle and the search has not run it on already, its enabled tasks go on in turn, for a limited number of steps. What they do has no effect on the outcome. Then
//! actors that wait for messages end, and the values of `static`s are dropped. Tasks that can never go on (in a deadlock, or left waiting) are
//! abandoned, as at the end of a process: their destructors do not run, and their stacks are used again. These tasks are not unwound, so no
//! destructor finds [`std::thread::panicking`] true in a program that has not panicked. The one exception: if a task holds a lock that outlives
//! the execution, the remaining tasks are unwound, because nothing else can release the lock.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::search::{MOST_LAST_STEPS, Turns};
use raddle_engine::system::{Choice, System};
use raddle_engine::trace::Trace;

use super::{At, Running};
use crate::addresses::any_is_static;
use crate::coroutine::{Job, current};
use crate::execution::{Newborn, Object, Status};
use crate::thread;

/// How many tasks may be started after their execution has ended.
const MOST_LAST_TASKS: usize = 100;

/// How often the remaining tasks are ended. More than once, because their destructors may start or enable others.
const MOST_ROUNDS: u32 = 10;

impl Running {
    /// Lets the remaining tasks end, and abandons those that cannot.
    pub(super) fn finish(&mut self) {
        if !self.has_anything_left() {
            return;
        }
        let mut trace = self.worker.unseen.take().unwrap_or_default();
        trace.discard_steps();
        if let Ok(mut state) = self.worker.execution.state.try_borrow_mut() {
            state.finishing = true;
            state.most_tasks = state.tasks.len() + MOST_LAST_TASKS;
        }
        if self.may_go_on() {
            self.run_on(&mut trace);
        }
        self.end_actors(&mut trace);
        if self.holds_what_outlives() {
            self.unwind_all(&mut trace);
        }
        if self.abandon_all() == 0 {
            self.drop_statics(&mut trace);
            self.abandon_all();
        }
        self.forget_values();
        self.worker.unseen.set(Some(trace));
    }

    fn has_anything_left(&self) -> bool {
        let state = self.worker.execution.state.try_borrow();
        state.is_ok_and(|s| !s.alive.is_empty() || !s.statics.is_empty() || !s.newborn.is_empty())
    }

    /// Whether tasks may go on after the end of the execution. Not after a stack overflow or an abort, which would have ended the process.
    fn may_go_on(&self) -> bool {
        match &self.at {
            At::End(Outcome::Completed) => false,
            At::End(Outcome::Failed(failure)) => {
                !matches!(**failure, Failure::StackOverflow { .. } | Failure::Abort { .. })
            }
            // What the search has run on for long enough does not end.
            At::Action | At::Mail | At::Data { .. } => !self.was_run_on,
        }
    }

    /// Lets tasks go on in turn, without decisions, until none is enabled or they have taken too many steps.
    fn run_on(&mut self, trace: &mut Trace) {
        let mut turns = Turns::after(TaskId::MAIN);
        for _ in 0..MOST_LAST_STEPS {
            let Some(choice) = self.next_in_turn(&mut turns, trace) else { return };
            self.step(choice, trace);
        }
    }

    /// The next action, by the next enabled task in turn. `None` if no task is enabled.
    fn next_in_turn(&mut self, turns: &mut Turns, trace: &mut Trace) -> Option<Choice> {
        // A task may fail, which ends the execution once more.
        while matches!(self.at, At::End(_)) {
            if !self.go_on_after_end(trace) {
                return None;
            }
        }
        self.compute_enabled();
        if matches!(self.at, At::Data { .. }) {
            return Some(Choice(0));
        }
        turns.next(&self.actions)
    }

    /// Goes on to the next point although the execution has ended. Returns false if no task is enabled.
    fn go_on_after_end(&mut self, trace: &mut Trace) -> bool {
        let worker = self.worker.clone();
        let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return false };
        // The outcome of the execution is already known. Later failures are ignored.
        state.outcome = None;
        state.taken = None;
        std::mem::swap(trace, &mut state.trace);
        drop(state);
        self.at = At::Action;
        current::enter(&worker.execution, || {
            self.settle();
            self.reach_point(&worker);
        });
        worker.lend(trace);
        let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return false };
        if state.data.is_some() || !state.newborn.is_empty() && state.tasks.len() <= state.most_tasks {
            return true;
        }
        state.end_supply();
        state.list_actions(&mut self.actions);
        !self.actions.is_empty()
    }

    /// Ends the actors that wait for messages. Their destructors run.
    fn end_actors(&mut self, trace: &mut Trace) {
        let worker = self.worker.clone();
        for _ in 0..MOST_ROUNDS {
            let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return };
            state.over = true;
            state.end_supply();
            let idle: Vec<_> = state.alive.iter().copied().filter(|&task| state.waits_for_mail(task)).collect();
            drop(state);
            if idle.is_empty() || !worker.sound.get() {
                return;
            }
            for task in idle {
                // The end of one actor may enable another.
                let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return };
                if state.status(task) == Status::Finished || !state.waits_for_mail(task) {
                    continue;
                }
                state.stop_asking(task);
                drop(state);
                self.let_run(trace, |running| running.resume(task));
                self.at = At::End(Outcome::Completed);
                self.run_on(trace);
            }
        }
    }

    /// Whether a remaining task holds a lock that outlives the execution. It would be held for ever.
    fn holds_what_outlives(&self) -> bool {
        let Ok(state) = self.worker.execution.state.try_borrow() else { return false };
        !state.alive.is_empty() && {
            let mut held = state.objects.iter().filter_map(Object::held_at).peekable();
            held.peek().is_some() && any_is_static(held)
        }
    }

    /// Unwinds the remaining tasks. A task that blocks in a destructor is abandoned there.
    fn unwind_all(&mut self, trace: &mut Trace) {
        let worker = self.worker.clone();
        worker.execution.unwinds_all.set(true);
        for _ in 0..MOST_ROUNDS {
            let before = self.fibers.iter().flatten().count();
            for index in 0..self.fibers.len() {
                if self.fibers[index].is_none() || !worker.sound.get() {
                    continue;
                }
                let task = TaskId::next_of(index);
                if let Ok(mut state) = worker.execution.state.try_borrow_mut() {
                    state.current = task;
                    state.data = None;
                    state.tasks[index].asks = None;
                    state.tasks[index].act = None;
                }
                self.let_run(trace, |running| running.resume(task));
            }
            if self.fibers.iter().flatten().count() == before {
                break;
            }
        }
        worker.execution.unwinds_all.set(false);
    }

    /// Drops the values of `static`s that the execution owns. Their destructors may ask for operations, so they run as a task. The latest value
    /// is dropped first, since it may refer to earlier ones.
    fn drop_statics(&mut self, trace: &mut Trace) {
        let worker = self.worker.clone();
        let stack_bytes = match worker.execution.state.try_borrow() {
            Ok(state) if !state.statics.is_empty() => state.settings.stack_bytes,
            _ => return,
        };
        let job: Job = Box::new(|| thread::run_task(drop_static_values));
        self.let_run(trace, |running| running.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes }));
        self.at = At::End(Outcome::Completed);
        self.run_on(trace);
    }

    /// Lets a task run to its next operation or its end. `trace` records its steps.
    fn let_run(&mut self, trace: &mut Trace, run: impl FnOnce(&mut Self)) {
        let worker = self.worker.clone();
        worker.lend(trace);
        current::enter(&worker.execution, || run(self));
        worker.lend(trace);
    }

    /// Abandons the tasks that have not ended. Returns how many there were. No code runs afterwards that could use the values on their stacks.
    pub(super) fn abandon_all(&mut self) -> u32 {
        let parked = self.parked.drain(..).map(|parked| parked.1);
        let mut abandoned = 0;
        for fiber in self.fibers.iter_mut().filter_map(Option::take).chain(parked) {
            abandoned += 1;
            match fiber.reset() {
                Ok(fiber) => self.worker.keep(fiber),
                Err(_) => self.worker.sound.set(false),
            }
        }
        if abandoned > 0
            && let Ok(state) = self.worker.execution.state.try_borrow()
        {
            state.settings.abandoned.fetch_add(u64::from(abandoned), Ordering::Relaxed);
        }
        abandoned
    }

    /// Forgets the values that abandoned tasks have left in the tables. Their destructors would need a task to run on.
    pub(super) fn forget_values(&mut self) {
        let Ok(mut state) = self.worker.execution.state.try_borrow_mut() else { return };
        state.newborn.drain(..).for_each(|newborn| std::mem::forget(newborn.job));
        state.statics.drain(..).for_each(std::mem::forget);
        state.tasks.iter_mut().for_each(|task| std::mem::forget(std::mem::take(&mut task.locals)));
    }
}

/// Drops the values of `static`s that the running execution owns. Their memory is freed when all of them are dropped.
fn drop_static_values() {
    let mut dropped = Vec::new();
    while let Some(mut value) = current::with(|execution| execution.state.borrow_mut().take_last_static()).flatten() {
        // A process never drops a `static`, so a panic of its destructor is no failure of the program.
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| value.drop_value())) {
            std::mem::forget(payload);
        }
        dropped.push(value);
    }
}
