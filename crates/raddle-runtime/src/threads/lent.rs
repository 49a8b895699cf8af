//! Untraced runs of actors: their handlers run one after another on one borrowed stack.
//!
//! A handler that asks for something in its middle keeps the stack until it has ended, and that of its task is parked meanwhile.

use raddle_engine::ids::TaskId;
use raddle_engine::random_choices::RandomChoices;
use raddle_engine::trace::Trace;

use super::{At, Running};
use crate::coroutine::{Fiber, Paused, Resumed, current};
use crate::crash;
use crate::execution::Execution;

impl Running {
    /// Runs handlers with random choices on the borrowed stack, as long as only receives are enabled.
    pub(super) fn draw_receive(&mut self, choices: &mut RandomChoices, trace: &mut Trace) {
        let _inside = crash::inside(Some(trace));
        let worker = self.worker.clone();
        let stack_bytes = worker.execution.state.borrow().settings.stack_bytes;
        let Ok(mut fiber) = worker.fiber(stack_bytes) else { return self.list_mail() };
        fiber.assign(Box::new(|| {
            current::with(Execution::draw_receive);
        }));
        std::mem::swap(trace, &mut worker.execution.state.borrow_mut().trace);
        std::mem::swap(choices, &mut worker.execution.choices.borrow_mut());
        current::enter(&worker.execution, || {
            let resumed = fiber.resume(&worker.execution.fiber);
            std::mem::swap(choices, &mut worker.execution.choices.borrow_mut());
            self.leave_lots(fiber, resumed, trace);
        });
    }

    /// Finds out where the execution stands, after choices were drawn.
    fn leave_lots(&mut self, fiber: Fiber, resumed: Resumed, trace: &mut Trace) {
        let worker = self.worker.clone();
        let task = worker.execution.handles.get();
        if resumed == Resumed::Paused(Paused::Idle) {
            worker.keep(fiber);
            let mut state = worker.execution.state.borrow_mut();
            let takes_over = state.has_to_take_over();
            if !takes_over && state.still_counts() {
                return std::mem::swap(trace, &mut state.trace);
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
        self.reach_point(None, trace);
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
