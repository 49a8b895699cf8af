//! How an execution ended, and who was left waiting for whom.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome, Waiting};
use raddle_engine::trace::{Class, Hold, Site, Trace};

use crate::execution::state::State;
use crate::execution::task::Status;
use crate::execution::{Ask, LeakedThreads};

impl State {
    /// How the execution ended, given that nothing can happen any more. Actors without messages are done. Whoever else waits can never
    /// go on, which is a deadlock, also after the test's function has returned; unless threads may be
    /// [left waiting](super::LeakedThreads::Allow) to be given something, as they are when a process ends.
    pub(crate) fn conclude(&mut self, trace: &Trace) -> Outcome {
        if self.livelock {
            return Failure::Livelock { spinning: self.unfinished(trace) }.into();
        }
        let waiting: Vec<TaskId> = self.alive.iter().copied().filter(|&task| !self.waits_for_mail(task)).collect();
        if waiting.is_empty() {
            return Outcome::Completed;
        }
        let main_ended = self.tasks[TaskId::MAIN.index()].status == Status::Finished;
        let may_be_left = main_ended && self.settings.leaked_threads == LeakedThreads::Allow;
        if may_be_left && !waiting.iter().any(|&task| self.waits_for_a_task(task)) {
            self.caveats.left_waiting = self.unfinished(trace);
            return Outcome::Completed;
        }
        if let Some(panic) = waiting.iter().find_map(|&task| self.panic_that_unwinds(task)) {
            return panic;
        }
        Failure::Deadlock { waiting: self.unfinished(trace) }.into()
    }

    /// Whether a task waits for what only another task can do, and not just to be given something.
    fn waits_for_a_task(&self, task: TaskId) -> bool {
        let waits =
            |ask: &Ask| matches!(ask.op.class, Class::Acquire | Class::Join | Class::Send) || ask.asked.is_some();
        self.tasks[task.index()].asks.as_ref().is_none_or(waits)
    }

    /// The panic in the middle of which a task waits for ever: that is what has to be told.
    fn panic_that_unwinds(&self, task: TaskId) -> Option<Outcome> {
        let (message, place) = self.tasks[task.index()].panics.last().filter(|_| self.unwinding.contains(&task))?;
        Some(Failure::Panic { task, message: message.clone(), place: place.clone() }.into())
    }

    /// What every task that has not ended is about to do, after what `trace` tells.
    pub(crate) fn unfinished(&self, trace: &Trace) -> Vec<Waiting> {
        let holds = held(trace);
        let waiting = |&task: &TaskId| {
            let ask = self.tasks[task.index()].asks?;
            // An actor without messages waits for nobody.
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

/// Which object is held by whom, taken where.
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
