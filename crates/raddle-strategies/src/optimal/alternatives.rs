//! Other values and other ways of one task, which no race leads to.
//!
//! Each of them is the head of a schedule without an undone step. An execution hands them out for a step if no head comes after the step.

use std::sync::Arc;

use raddle_engine::order::events::Label;
use raddle_engine::trace::Trace;

use super::piece::{Head, Mark, Planned};
use super::{Child, Optimal};

impl Optimal {
    /// Hands out the other values and ways of the steps that are new and free.
    pub(super) fn list_alternatives(&self, trace: &Trace, children: &mut Vec<Child>) {
        let first = self.last_head().map_or(0, |head| head + 1).max(self.first_new());
        for event in first..self.run.entries.len() {
            if matches!(self.run.entries[event].label, Label::Value(_)) {
                let values = trace.steps()[self.run.events.step(event).index()].alternatives;
                let own = self.run.entries[event].label;
                (0..values).map(Label::Value).filter(|&value| value != own).for_each(|value| {
                    self.take_instead(event, value, children);
                });
            }
        }
        self.list_late_values(trace, children);
        for &(event, label) in self.ways.iter().filter(|way| way.0 >= first && way.0 < self.run.entries.len()) {
            self.take_instead(event, label, children);
        }
    }

    /// Hands out the other values that steps of the last schedule asked for and the piece did not give.
    fn list_late_values(&self, trace: &Trace, children: &mut Vec<Child>) {
        let run = &self.run;
        let Some(head) = self.last_head().filter(|_| !self.piece.schedule.is_empty()) else { return };
        let start = run.schedule_start(run.group(head).start);
        for event in (start..head).filter(|&event| run.entries[event].mark == Mark::LateValue) {
            let values = trace.steps()[run.events.step(event).index()].alternatives;
            let rest = run.group(event).end;
            for value in 1..values {
                let as_it_was = |at: usize| {
                    let entry = &run.entries[at];
                    let mark = if entry.mark == Mark::LateValue { Mark::LateMember } else { entry.mark.clone() };
                    Planned { task: entry.task, label: Some(entry.label), mark }
                };
                let decided = |at: &usize| run.entries[*at].mark != Mark::Look;
                let mut schedule: Vec<Planned> = (start..event).filter(decided).map(as_it_was).collect();
                let (task, label) = (run.entries[event].task, Some(Label::Value(value)));
                schedule.push(Planned { task, label, mark: Mark::LateMember });
                let given = |at: &usize| decided(at) && run.entries[*at].mark != Mark::LateValue;
                schedule.extend((rest..=head).filter(given).map(as_it_was));
                children.push(Child { from_base: start, schedule });
            }
        }
    }

    /// Hands out the piece in which a task goes on in another way than at this event.
    fn take_instead(&self, event: usize, label: Label, children: &mut Vec<Child>) {
        let run = &self.run;
        let group = run.group(event);
        // A value may be asked for by the head of a schedule, which stays one.
        let old = run.entries[group.clone()].iter().find_map(|entry| entry.mark.head());
        let start = if old.is_some() { run.schedule_start(group.start) } else { group.start };
        let mut foreseen = run.foreseen(run.events.touches(group.start), start);
        foreseen.extend(old.iter().flat_map(|head| head.foreseen.iter().copied()));
        let head = Head { foreseen, ..old.map(|head| (**head).clone()).unwrap_or_default() };
        let mut schedule: Vec<Planned> = (start..event)
            .filter(|&at| run.entries[at].mark != Mark::Look)
            .map(|at| {
                let entry = &run.entries[at];
                let mark = if entry.mark == Mark::LateMember { Mark::LateMember } else { Mark::Member };
                Planned { task: entry.task, label: Some(entry.label), mark }
            })
            .collect();
        let task = run.entries[event].task;
        schedule.push(Planned { task, label: Some(label), mark: Mark::Head(Arc::new(head)) });
        children.push(Child { from_base: start, schedule });
    }
}
