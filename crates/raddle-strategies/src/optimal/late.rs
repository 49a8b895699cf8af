//! What a head turned out to depend on after it had been put before another step.
//!
//! A schedule contains what happens before its head in the execution that handed it out. In its new place the head may find something else
//! and touch other objects. A later step that conflicts with it on such an object could also have come before it. Then the schedule is run
//! again with this step, and all that happens before it, as further members.

use std::ops::Range;

use raddle_engine::ids::ObjectId;
use raddle_engine::order::events::{Label, Touch};
use raddle_engine::trace::Effect;

use super::piece::Mark;
use super::schedule::Schedule;
use super::second::{Direct, Second};
use super::{Child, Mistake, Optimal};

impl Optimal {
    /// True if the head that is directly before the second step turned out to touch what nobody foresaw when it was put there.
    pub(super) fn may_extend(&self, second: &Second, direct: Direct) -> bool {
        let run = &self.run;
        let Some(last) = run.head_in(run.group(direct.event)) else { return false };
        let Some(head) = run.entries[last].mark.head() else { return false };
        let touch = second.touches.iter().find(|touch| touch.object == direct.object);
        let foreseen = |touch: &Touch| head.foreseen.iter().any(|foreseen| is_foreseen(*foreseen, touch));
        second.label.is_some() && !self.makes(Mistake::NeverLate) && touch.is_some_and(|touch| !foreseen(touch))
    }

    /// Hands out the piece in which the second step becomes a member of the schedule whose head is directly before it.
    pub(super) fn extend(&mut self, second: &Second, direct: Direct, children: &mut Vec<Child>) {
        let run = &self.run;
        let group = run.group(direct.event);
        let Some(last) = run.head_in(group.clone()) else { return };
        let start = run.schedule_start(group.start);
        if !self.is_parsimonious(last, second, false) || self.comes_out_of_order(start..group.start, second) {
            return;
        }
        let same = second.event + second.same_before(run, group.start, false);
        let mut later_values = run.entries[same..second.end].iter().filter(|entry| entry.mark != Mark::Look);
        if later_values.any(|entry| entry.label != Label::Value(0)) {
            return;
        }
        let mut schedule = Schedule::leaving(run, start);
        (start..group.start).for_each(|event| schedule.take(event, run.entries[event].mark.clone()));
        schedule.take_past_of(second, group.end, &self.past);
        (second.event..same).for_each(|event| schedule.take(event, Mark::LateMember));
        (group.start..=last).for_each(|event| schedule.take(event, run.entries[event].mark.clone()));
        children.push(schedule.into_child(start));
    }

    /// Late members that are concurrent come in the order of their tasks' names.
    fn comes_out_of_order(&self, schedule: Range<usize>, second: &Second) -> bool {
        let run = &self.run;
        let name = |event: usize| run.names.of(run.entries[event].task);
        let late = schedule.rev().filter(|&event| run.entries[event].mark == Mark::LateMember);
        let depends = |event: usize| self.past.has(run, event) || run.events.dependent(event, second.event);
        late.take_while(|&event| !depends(event)).any(|event| name(event) > run.names.of(second.task))
    }
}

/// True if other executions find out by this object that the step can come before the head.
fn is_foreseen((object, changed): (ObjectId, bool), touch: &Touch) -> bool {
    object == touch.object && (changed || touch.effect == Effect::Change)
}
