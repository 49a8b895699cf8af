//! Threads that run forward with known choices: the task that pauses draws the next action itself, so that most steps need no other stack than that
//! of their task.

use std::mem;

use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::TaskId;

use super::{At, Running, Worker};
use crate::crash;
use crate::execution::Drawing;

impl Running {
    /// Runs on as long as the choices say that the execution may go on.
    pub(super) fn draw_all(&mut self, worker: &Worker, choices: &mut ForwardChoices) {
        loop {
            let Ok(mut state) = worker.execution.state.try_borrow_mut() else { return };
            if !choices.go_on(state.trace.len()) {
                return;
            }
            let task = match self.at {
                At::Action => state.take_action(choices.draw(self.actions.len() as u32), &self.actions),
                At::Data { choices: values, .. } => state.take_value(choices.draw(values)),
                At::Mail => {
                    drop(state);
                    self.lend_draws(worker, choices);
                    self.draw_receive(|running| running.lend_draws(worker, choices));
                    continue;
                }
                At::End(_) => return,
            };
            state.draws = true;
            drop(state);
            crash::note_step();
            self.run_drawn(worker, choices, task);
            self.reach_point(worker);
        }
    }

    /// Runs a task whose operation has taken effect, and then those that are drawn by tasks that pause.
    fn run_drawn(&mut self, worker: &Worker, choices: &mut ForwardChoices, task: TaskId) {
        self.lend_draws(worker, choices);
        let mut next = Some(task);
        while let Some(task) = next {
            self.resume(task);
            next = worker.execution.next.take();
        }
        if let Ok(mut state) = worker.execution.state.try_borrow_mut() {
            state.draws = false;
        }
        self.lend_draws(worker, choices);
    }

    /// Lends the execution what tasks draw from, or takes it back.
    fn lend_draws(&mut self, worker: &Worker, choices: &mut ForwardChoices) {
        if let Ok(mut drawing) = worker.execution.drawing.try_borrow_mut() {
            let Drawing { choices: lent, actions } = &mut *drawing;
            mem::swap(choices, lent);
            mem::swap(&mut self.actions, actions);
        }
    }
}
