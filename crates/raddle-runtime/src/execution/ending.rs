//! How an execution ended, and who was left waiting for whom.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome, Waiting};
use raddle_engine::trace::{Class, Hold, Site, Trace};

use crate::execution::Ask;
use crate::execution::state::State;
use crate::execution::task::Status;

impl State {
    /// How the execution ended, given that nothing can happen any more. After `main` has ended, tasks that wait to be given
    /// something are left behind as they are when a process ends; tasks that wait for one another are not.
    pub(crate) fn conclude(&self, trace: &Trace) -> Outcome {
        if self.livelock {
            return Failure::Livelock { spinning: self.unfinished(trace) }.into();
        }
        let main_ended = self.tasks[TaskId::MAIN.index()].status == Status::Finished;
        let stuck = |task: &TaskId| {
            let asks = self.tasks[task.index()].asks.as_ref();
            let waits = |ask: &Ask| matches!(ask.op.class, Class::Acquire | Class::Join | Class::Send);
            asks.is_none_or(|ask| waits(ask) || ask.asked.is_some())
        };
        if self.alive.is_empty() || main_ended && !self.alive.iter().any(stuck) {
            return Outcome::Completed;
        }
        Failure::Deadlock { waiting: self.unfinished(trace) }.into()
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
