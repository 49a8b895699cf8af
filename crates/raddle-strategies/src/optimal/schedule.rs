//! Builds the schedule of a new piece from steps of the execution that hands it out.

use std::ops::Range;

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::Label;

use super::Child;
use super::execution::{Execution, Past};
use super::names::Renumbered;
use super::piece::{Mark, Planned};
use super::second::Second;

/// A schedule that takes steps of this execution.
pub(super) struct Schedule<'a> {
    run: &'a Execution,
    tasks: Renumbered<'a>,
    steps: Vec<Planned>,
}

impl<'a> Schedule<'a> {
    /// An empty one, in an execution that leaves this one at an event.
    pub fn leaving(run: &'a Execution, event: usize) -> Self {
        Self { run, tasks: run.names.renumbered_from(run.events.step(event)), steps: Vec::new() }
    }

    /// Takes this event, unless it is a look, which will follow by itself.
    pub fn take(&mut self, event: usize, mark: Mark) {
        let entry = &self.run.entries[event];
        if entry.mark != Mark::Look {
            self.steps.push(Planned { task: self.tasks.of(entry.task), label: Some(entry.label), mark });
        }
        self.tasks.take(self.run.steps(event));
    }

    /// Takes the groups in this range that are in the past, as members.
    pub fn take_past(&mut self, range: Range<usize>, past: &Past) {
        let mut event = range.start;
        while event < range.end {
            let group = self.run.group(event);
            if past.has(self.run, event) {
                group.clone().for_each(|member| self.take(member, Mark::Member));
            }
            event = group.end;
        }
    }

    /// Takes the groups from `after` on that are in the past of the second step. If that is a look in the middle of a group, what comes after it
    /// in the group is not in its past.
    pub fn take_past_of(&mut self, second: &Second, after: usize, past: &Past) {
        let start = if second.is_look { self.run.group(second.event).start } else { second.event };
        self.take_past(after..start, past);
        (start..second.event).for_each(|member| self.take(member, Mark::Member));
    }

    /// Lets a task go on. What it does is not known of this execution.
    pub fn let_go_on(&mut self, task: TaskId, label: Option<Label>, mark: Mark) {
        self.steps.push(Planned { task: self.tasks.of(task), label, mark });
    }

    pub fn into_child(self, from_base: usize) -> Child {
        Child { from_base, schedule: self.steps }
    }
}
