//! What becomes of an execution that is dropped.
//!
//! An execution that has failed is run on: each task that can go on does so in turn, within a bound, and what it does counts no
//! more. Then actors that wait for messages end, and the values of `static`s are dropped. What can never go on (tasks in a
//! deadlock, threads left waiting) is abandoned as the end of a process would abandon it: its destructors do not run, and its stack
//! is used again. Nothing is ever unwound, so no destructor finds [`std::thread::panicking`] true in a program that has not
//! panicked, and frames that cannot be unwound do no harm.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Choice, System, Variant};
use raddle_engine::trace::Trace;

use super::{At, Running};
use crate::addresses::any_is_static;
use crate::coroutine::{Job, current};
use crate::execution::{Newborn, Object, Status};
use crate::thread;

/// Steps that tasks may take after their execution is over. A process would end at some moment, too.
const MOST_LAST_STEPS: u32 = 1_000;

/// Tasks that may be started after their execution is over.
const MOST_LAST_TASKS: usize = 100;

/// How often actors that wait for messages are ended: their destructors may start others.
const MOST_ROUNDS: u32 = 10;

impl Running {
    /// Lets what is left of the execution end, and abandons what cannot.
    pub(super) fn finish(&mut self) {
        if !self.has_anything_left() {
            return;
        }
        let mut trace = self.worker.unseen.take().unwrap_or_default();
        trace.count_only();
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

    /// Whether tasks may be in the middle of something that they can bring to its end. Where a task was cut off, the process would have
    /// ended at that moment.
    fn may_go_on(&self) -> bool {
        match &self.at {
            At::End(Outcome::Completed) => false,
            At::End(Outcome::Failed(failure)) => {
                !matches!(**failure, Failure::StackOverflow { .. } | Failure::Abort { .. })
            }
            At::Action | At::Mail | At::Data { .. } => true,
        }
    }

    /// Lets tasks go on in turn, without decisions, until nobody can or they have gone on for long.
    fn run_on(&mut self, trace: &mut Trace) {
        let mut latest = TaskId::MAIN;
        for _ in 0..MOST_LAST_STEPS {
            let Some(choice) = self.next_in_turn(&mut latest, trace) else { return };
            self.step(choice, trace);
        }
    }

    /// The next thing to happen, by the next task that can go on; `None` if nobody can.
    fn next_in_turn(&mut self, latest: &mut TaskId, trace: &mut Trace) -> Option<Choice> {
        // Each task may end with a failure of its own, which ends the execution anew.
        while matches!(self.at, At::End(_)) {
            if !self.go_on_after_end(trace) {
                return None;
            }
        }
        self.survey();
        if matches!(self.at, At::Data { .. }) {
            return Some(Choice(0));
        }
        let key = |at: &usize| {
            let action = &self.actions[*at];
            (action.variant == Variant::TimedOut || action.variant == Variant::Spurious, action.task <= *latest)
        };
        let next = (0..self.actions.len()).min_by_key(key)?;
        *latest = self.actions[next].task;
        Some(Choice(u32::try_from(next).expect("raddle bug: more than 2^32 actions")))
    }

    /// Comes to the next point although the execution has ended; false if nobody can go on.
    fn go_on_after_end(&mut self, trace: &mut Trace) -> bool {
        let worker = self.worker.clone();
        let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return false };
        // How the execution ended has been told: what happens now is no outcome.
        state.outcome = None;
        std::mem::swap(trace, &mut state.trace);
        drop(state);
        self.at = At::Action;
        current::enter(&worker.execution, || {
            self.settle();
            self.reach_point(None, trace);
        });
        let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return false };
        if state.data.is_some() || !state.newborn.is_empty() && state.tasks.len() <= state.most_tasks {
            return true;
        }
        state.end_supply();
        state.list_actions(&mut self.actions);
        !self.actions.is_empty()
    }

    /// Actors that wait for messages get no more, and end; what their destructors do happens.
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
                // What one does at its end may let others go on.
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

    /// Whether tasks that are left hold locks that outlive the execution: they would be held for ever.
    fn holds_what_outlives(&self) -> bool {
        let Ok(state) = self.worker.execution.state.try_borrow() else { return false };
        !state.alive.is_empty() && {
            let mut held = state.objects.iter().filter_map(Object::held_at).peekable();
            held.peek().is_some() && any_is_static(held)
        }
    }

    /// Unwinds the tasks that are left. Those that wait again in a destructor are abandoned where they are.
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

    /// Values of `static`s belong to the execution; their destructors may take operations, so they run as a task. The latest
    /// goes first, since it may refer to earlier ones.
    fn drop_statics(&mut self, trace: &mut Trace) {
        let worker = self.worker.clone();
        let stack_bytes = match worker.execution.state.try_borrow() {
            Ok(state) if !state.statics.is_empty() => state.settings.stack_bytes,
            _ => return,
        };
        let job: Job = Box::new(|| thread::run_task(drop_kept_values));
        self.let_run(trace, |running| running.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes }));
        self.at = At::End(Outcome::Completed);
        self.run_on(trace);
    }

    /// Lets a task run to its next operation or its end; its steps go to `trace`.
    fn let_run(&mut self, trace: &mut Trace, run: impl FnOnce(&mut Self)) {
        let worker = self.worker.clone();
        std::mem::swap(trace, &mut worker.execution.state.borrow_mut().trace);
        current::enter(&worker.execution, || run(self));
        match worker.execution.state.try_borrow_mut() {
            Ok(mut state) => std::mem::swap(trace, &mut state.trace),
            // A task was cut off in the middle of an operation: the worker is not used any more.
            Err(_) => worker.sound.set(false),
        }
    }

    /// Abandons tasks that have not ended; says how many there were. Nobody runs any more who could use what lies on their stacks.
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

    /// What abandoned tasks have left in the tables is not dropped: destructors would run without a task to run on.
    pub(super) fn forget_values(&mut self) {
        let Ok(mut state) = self.worker.execution.state.try_borrow_mut() else { return };
        state.newborn.drain(..).for_each(|newborn| std::mem::forget(newborn.job));
        state.statics.drain(..).for_each(std::mem::forget);
        state.tasks.iter_mut().for_each(|task| std::mem::forget(std::mem::take(&mut task.locals)));
    }
}

/// Drops what the `static`s of the running execution hold; memory is freed only when all of it is dropped.
fn drop_kept_values() {
    let mut dropped = Vec::new();
    while let Some(mut kept) = current::with(|execution| execution.state.borrow_mut().take_last_static()).flatten() {
        // In a process of its own nobody would ever drop a `static`: what its destructor panics about is no failure.
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| kept.drop_value())) {
            std::mem::forget(payload);
        }
        dropped.push(kept);
    }
}
