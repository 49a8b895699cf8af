//! The execution that is being run, or was run last: its entries, events and clocks.
//!
//! A step that asks for a value and the values that it is given form a group: nothing can happen between them. A group is moved as a whole,
//! and what it touches is known of its first event.

use std::ops::Range;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Events, Label, Touch};
use raddle_engine::trace::{Class, Effect, Hold, Trace};
use smallvec::SmallVec;

use super::names::TaskNames;
use super::piece::{Entry, Mark};

#[derive(Debug)]
pub(super) struct Execution {
    /// One for each event.
    pub entries: Vec<Entry>,
    pub events: Events,
    pub before: Before,
    pub names: TaskNames,
    /// By event: whether its task holds what it touched from then on.
    pub holds: Vec<bool>,
    /// By event: more than the numbers of all objects that were touched so far, without messages and births.
    touched: Vec<u32>,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            events: Events::default(),
            before: Before::anonymous(),
            names: TaskNames::default(),
            holds: Vec::new(),
            touched: Vec::new(),
        }
    }
}

impl Execution {
    /// Goes back to the first entries, which the next execution begins with, and sets their marks as these say.
    pub fn return_to(&mut self, entries: &[Entry]) {
        let same = |(mine, next): &(&Entry, &Entry)| (mine.task, mine.label) == (next.task, next.label);
        let known = self.entries.len().min(self.before.len()).min(self.events.len());
        let mut common = self.entries[..known].iter().zip(entries).take_while(same).count();
        // What is done with a value counts for the step that asked for it, so a group is taken in anew as a whole.
        while common > 0 && (common == known || matches!(self.events.get(common).label, Label::Value(_))) {
            common -= 1;
        }
        self.forget_events(common);
        self.entries.clear();
        self.entries.extend_from_slice(entries);
    }

    fn forget_events(&mut self, len: usize) {
        self.holds.truncate(len);
        self.touched.truncate(len);
        if len == 0 {
            self.events.clear();
            self.before.clear();
            self.names.truncate(0);
            return;
        }
        self.events.truncate(len);
        self.before.truncate(len);
        self.names.truncate(self.events.followed());
    }

    /// Takes in the new steps.
    pub fn follow(&mut self, trace: &Trace) {
        // A program that Raddle does not control completely may have taken fewer steps than in the previous execution.
        if trace.len() < self.events.followed() {
            self.forget_events(0);
        }
        self.events.follow(trace);
        self.before.follow(&self.events);
        self.names.follow(trace);
        for event in self.holds.len()..self.events.len() {
            self.holds.push(trace.steps()[self.events.step(event).index()].hold == Hold::Taken);
            let touches = self.events.touches(event).iter().filter(|touch| is_ordinary(touch));
            let most = touches.map(|touch| touch.object.number() + 1).max().unwrap_or(0);
            self.touched.push(most.max(self.touched.last().copied().unwrap_or(0)));
        }
    }

    /// The group of an event.
    pub fn group(&self, event: usize) -> Range<usize> {
        let is_value = |at: usize| matches!(self.events.get(at).label, Label::Value(_));
        let mut start = event;
        while start > 0 && is_value(start) {
            start -= 1;
        }
        let mut end = event + 1;
        while end < self.events.len() && is_value(end) {
            end += 1;
        }
        start..end
    }

    pub fn is_free(&self, group: Range<usize>) -> bool {
        self.entries[group].iter().all(|entry| entry.mark.is_free())
    }

    /// The entry of a group that is the head of a schedule. Values that the head has asked for may come after it.
    pub fn head_in(&self, group: Range<usize>) -> Option<usize> {
        group.rev().find(|&at| self.entries[at].mark.head().is_some())
    }

    /// Where the schedule begins whose head's group begins here.
    pub fn schedule_start(&self, head: usize) -> usize {
        let is_member =
            |at: &usize| matches!(self.entries[*at].mark, Mark::Member | Mark::LateMember | Mark::LateValue);
        head - (0..head).rev().take_while(is_member).count()
    }

    /// The heads of the schedules that were put before the step of a task which comes next after the first `len` entries, latest first. As the
    /// first events of their groups.
    pub fn heads_put_before(&self, len: usize, task: TaskId) -> impl Iterator<Item = usize> + '_ {
        let others = (0..len).rev().take_while(move |&at| self.entries[at].task != task);
        let heads =
            others.filter(move |&at| self.entries[at].mark.head().is_some_and(|head| head.undone == Some(task)));
        heads.map(|head| self.group(head).start)
    }

    /// The steps of an event in the trace.
    pub fn steps(&self, event: usize) -> Range<usize> {
        let end =
            if event + 1 < self.events.len() { self.events.step(event + 1).index() } else { self.events.followed() };
        self.events.step(event).index()..end
    }

    /// What an event touches itself, without what is done with values that it asks for.
    pub fn own_touches(&self, event: usize, trace: &Trace) -> SmallVec<[Touch; 2]> {
        let steps = self.steps(event).filter(|&step| trace.steps()[step].op.class != Class::Cell);
        let accesses = steps.flat_map(|step| trace.accesses(StepIx::next_of(step)));
        let ordering = accesses.filter(|access| !access.role.orders_nothing());
        ordering.map(|access| Touch { object: access.object, effect: access.effect, role: access.role }).collect()
    }

    /// What an event touches, as far as the objects are the same in executions that begin with the entries before `from`.
    pub fn foreseen(&self, touches: &[Touch], from: usize) -> SmallVec<[(ObjectId, bool); 2]> {
        let asked_for = self.entries.get(from).map_or(0, |entry| entry.known_objects);
        let known = from.checked_sub(1).map_or(0, |last| self.touched[last]).max(asked_for);
        // The objects of messages are named by who sends them. Their numbers stay the same if no task is created from there on.
        let same_tasks = from >= self.events.len() || !self.names.creates_from(self.events.step(from));
        let is_known = |touch: &&Touch| match touch.object.as_message() {
            Some(_) => same_tasks,
            None => touch.object.number() < known,
        };
        let touches = touches.iter().filter(is_known);
        touches.map(|touch| (touch.object, touch.effect == Effect::Change)).collect()
    }
}

/// True unless the object is a message or the birth of a task, which have large numbers.
fn is_ordinary(touch: &Touch) -> bool {
    touch.object.as_message().is_none() && !touch.is_birth()
}

/// What happens before some events: by task, how many of its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Past(Vec<u32>);

impl Past {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The event and all that happens before it belong to the past.
    pub fn add(&mut self, run: &Execution, event: usize) {
        let row = run.before.row(event);
        if self.0.len() < row.len() {
            self.0.resize(row.len(), 0);
        }
        self.0.iter_mut().zip(row).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    pub fn has(&self, run: &Execution, event: usize) -> bool {
        let task = run.events.get(event).task.index();
        self.0.get(task).is_some_and(|&known| known >= run.before.count(&run.events, event))
    }
}
