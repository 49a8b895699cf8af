//! Untraced runs of actors: their handlers run one after another on one borrowed stack.
//!
//! A handler that asks for something in its middle keeps the stack until it has ended, and that of its task is parked meanwhile.

use raddle_engine::ids::TaskId;

use super::{At, Running};
use crate::coroutine::{Fiber, Paused, Resumed, current};
use crate::execution::Execution;

impl Running {
    /// Runs handlers with random choices on the borrowed stack, as long as only receives are enabled.
    pub(super) fn draw_receive(&mut self, take_back: impl FnOnce(&mut Self)) {
        let worker = self.worker.clone();
        let stack_bytes = worker.execution.state.borrow().settings.stack_bytes;
        let Ok(mut fiber) = worker.fiber(stack_bytes) else {
            take_back(self);
            return self.list_mail();
        };
        fiber.assign(Box::new(|| {
            current::with(Execution::draw_receive);
        }));
        let resumed = fiber.resume(&worker.execution.fiber);
        take_back(self);
        self.leave_lots(fiber, resumed);
    }

    /// Finds out where the execution stands, after choices were drawn.
    fn leave_lots(&mut self, fiber: Fiber, resumed: Resumed) {
        let worker = self.worker.clone();
        let task = worker.execution.handles.get();
        if resumed == Resumed::Paused(Paused::Idle) {
            worker.keep(fiber);
            let mut state = worker.execution.state.borrow_mut();
            let takes_over = state.has_to_take_over();
            if !takes_over && state.still_counts() {
                return;
            }
            state.end_supply();
            drop(state);
            if takes_over {
                self.resume(task);
            }
        } else {
            // A handler keeps the stack.
            let own = self.fibers[task.index()].replace(fiber);
            self.parked.push((task, own.expect("raddle bug: an actor without a stack of its own")));
            if resumed == Resumed::CutOff {
                self.give_up(task);
            }
            if let Ok(mut state) = worker.execution.state.try_borrow_mut() {
                state.end_supply();
            }
        }
        if matches!(self.at, At::Mail) {
            self.at = At::Action;
        }
        if let Ok(mut state) = worker.execution.state.try_borrow_mut() {
            state.taken = None;
        }
        self.reach_point(&worker);
    }

    /// The point where mail is only counted, as one that is listed.
    #[cold]
    pub(super) fn list_mail(&mut self) {
        self.at = At::Action;
        let mut state = self.worker.execution.state.borrow_mut();
        state.end_supply();
        state.list_actions(&mut self.actions);
    }

    /// A task goes on on its own stack, if it was on another.
    #[cold]
    pub(super) fn take_over(&mut self, task: TaskId) {
        if let Some(at) = self.parked.iter().position(|parked| parked.0 == task) {
            self.fibers[task.index()] = Some(self.parked.swap_remove(at).1);
            self.resume(task);
        }
    }
}
