//! How an execution ended, and which tasks were still waiting, for whom.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome, Waiting};
use raddle_engine::trace::{Class, Hold, Site, Trace};

use crate::execution::state::State;
use crate::execution::task::Status;
use crate::execution::{Ask, LeakedThreads};

impl State {
    /// The outcome of the execution, once no action is enabled. Actors without messages are done. Any other task that waits can never go
    /// on: this is a deadlock, also after the test's function has returned. But if the settings
    /// [allow](super::LeakedThreads::Allow) it, threads may be left waiting for a message or a notification, as when a process ends.
    pub(crate) fn conclude(&mut self) -> Outcome {
        if self.livelock {
            return Failure::Livelock { spinning: self.unfinished(&self.trace) }.into();
        }
        let waiting: Vec<TaskId> = self.alive.iter().copied().filter(|&task| !self.waits_for_mail(task)).collect();
        if waiting.is_empty() {
            return Outcome::Completed;
        }
        let main_ended = self.tasks[TaskId::MAIN.index()].status == Status::Finished;
        let may_be_left = main_ended && self.settings.leaked_threads == LeakedThreads::Allow;
        if may_be_left && !waiting.iter().any(|&task| self.waits_for_a_task(task)) {
            self.caveats.left_waiting = self.unfinished(&self.trace);
            return Outcome::Completed;
        }
        if let Some(panic) = waiting.iter().find_map(|&task| self.panic_that_unwinds(task)) {
            return panic;
        }
        Failure::Deadlock { waiting: self.unfinished(&self.trace) }.into()
    }

    /// Whether a task waits for an action of a certain task (to release a lock, to end, to reply), and not for any message or notification.
    fn waits_for_a_task(&self, task: TaskId) -> bool {
        let waits =
            |ask: &Ask| matches!(ask.op.class, Class::Acquire | Class::Join | Class::Send) || ask.asked.is_some();
        self.tasks[task.index()].asks.as_ref().is_none_or(waits)
    }

    /// The panic that a task is unwinding from while it waits for ever. The outcome is then this panic and not the deadlock.
    fn panic_that_unwinds(&self, task: TaskId) -> Option<Outcome> {
        let (message, place) = self.tasks[task.index()].panics.last().filter(|_| self.unwinding.contains(&task))?;
        Some(Failure::Panic { task, message: message.clone(), place: place.clone() }.into())
    }

    /// The next operation of every task that has not ended, with the tasks that hold its object according to `trace`.
    pub(crate) fn unfinished(&self, trace: &Trace) -> Vec<Waiting> {
        let holds = held(trace);
        let waiting = |&task: &TaskId| {
            let ask = self.tasks[task.index()].asks?;
            // An actor without messages has nothing to do.
            if ask.mail.is_some() && !self.is_ready(&ask) {
                return None;
            }
            let mut held_by: Vec<_> = holds.iter().filter(|h| h.0 == ask.object).map(|h| (h.1, h.2)).collect();
            if ask.op.class == Class::Join {
                let ends = |t: &&TaskId| self.tasks[t.index()].end == ask.object;
                held_by.extend(self.alive.iter().find(ends).map(|&t| (t, ask.site)));
            }
            held_by.extend(ask.asked.map(|asked| (asked, ask.site)));
            Some(Waiting { task, op: ask.op, object: ask.object, site: ask.site, held_by })
        };
        self.alive.iter().filter_map(waiting).collect()
    }
}

/// The objects that are held at the end of `trace`: by which task, taken where.
fn held(trace: &Trace) -> Vec<(ObjectId, TaskId, Site)> {
    let mut holds = Vec::new();
    for step in trace.steps() {
        let object = step.access.object;
        match step.hold {
            Hold::Unchanged => {}
            Hold::Taken => holds.push((object, step.task, step.site)),
            Hold::Given => {
                let latest = holds.iter().rposition(|&(o, task, _)| o == object && task == step.task);
                latest.map(|at| holds.remove(at));
            }
        }
    }
    holds
}
