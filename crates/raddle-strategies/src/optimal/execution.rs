//! The execution that is being run, or was run last: its entries, events and clocks.
//!
//! A step that asks for a value and the values that it is given form a group: nothing can happen between them. A group is moved as a whole,
//! and what it touches is known of its first event.
//!
//! A look at something that cannot change any more is an event that nobody decided. It is never moved by itself: it follows wherever the
//! object cannot change any more.

use std::ops::Range;
use std::sync::Arc;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::order::before::Before;
use raddle_engine::order::events::{Did, Event, Events, Label, Touch};
use raddle_engine::trace::{Class, Effect, Hold, Trace};
use smallvec::SmallVec;

use super::names::TaskNames;
use super::piece::{Entry, Mark, TaskSet};
use crate::time_left::TimeLeft;

#[derive(Debug)]
pub(super) struct Execution {
    /// One for each event.
    pub entries: Vec<Entry>,
    /// The entries that are heads of schedules.
    pub heads: Vec<usize>,
    /// Those of them whose undone task has not stepped since.
    pub waiting: SmallVec<[usize; 2]>,
    /// The tasks that have failed in an earlier execution. The others are run as if the failing steps had been done.
    pub held: SmallVec<[TaskId; 1]>,
    /// Executions that this one begins like, the oldest first, and in how many entries.
    lineage: Vec<(Arc<[Entry]>, usize)>,
    pub events: Events,
    pub before: Before,
    pub names: TaskNames,
    /// By event: whether its task holds what it touched from then on.
    pub holds: Vec<bool>,
    /// By event: more than the numbers of all objects that were touched so far, without messages and births.
    touched: Vec<u32>,
    /// How long its races may be looked for.
    pub time: TimeLeft,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            heads: Vec::new(),
            waiting: SmallVec::new(),
            held: SmallVec::new(),
            lineage: Vec::new(),
            events: Events::with_looks(),
            before: Before::anonymous(),
            names: TaskNames::default(),
            holds: Vec::new(),
            touched: Vec::new(),
            time: TimeLeft::default(),
        }
    }
}

impl Execution {
    /// Goes back to the first `len` entries of `base`, which the next execution begins with. Events that are the same are kept.
    pub fn return_to(&mut self, base: &Arc<[Entry]>, len: usize) {
        while self.lineage.pop_if(|(other, _)| !Arc::ptr_eq(other, base)).is_some() {}
        match self.lineage.last() {
            Some(&(_, shared)) if shared >= len => self.forget_events(self.known_events().min(len)),
            _ => self.replace(base, len),
        }
        self.keep_entries(len);
    }

    /// Takes the entries of `base`.
    fn replace(&mut self, base: &Arc<[Entry]>, len: usize) {
        let same = |(mine, next): &(&Entry, &Entry)| {
            (mine.task, mine.label, mine.mark.failed()) == (next.task, next.label, next.mark.failed())
        };
        let common = self.entries[..self.known_events()].iter().zip(&base[..len]).take_while(same).count();
        self.forget_events(common);
        self.entries.clear();
        self.entries.extend_from_slice(&base[..len]);
        self.lineage.clear();
        self.lineage.push((Arc::clone(base), len));
        let marks = || self.entries.iter().enumerate();
        self.heads = marks().filter(|(_, entry)| entry.mark.head().is_some()).map(|(at, _)| at).collect();
    }

    /// The first `len` entries, for pieces that begin with them.
    pub fn share(&mut self, len: usize) -> Arc<[Entry]> {
        let base: Arc<[Entry]> = self.entries[..len].into();
        self.lineage.push((Arc::clone(&base), len));
        base
    }

    /// Drops the entries that have no event, because the execution ended before.
    pub fn drop_entries_without_event(&mut self) {
        if self.entries.len() > self.events.len() {
            self.keep_entries(self.events.len());
        }
    }

    fn keep_entries(&mut self, len: usize) {
        self.entries.truncate(len);
        self.lineage.iter_mut().for_each(|(_, shared)| *shared = len.min(*shared));
        while self.heads.pop_if(|head| *head >= len).is_some() {}
        let entries = &self.entries;
        let waits = |&head: &usize| {
            let undone = entries[head].mark.head().and_then(|head| head.undone);
            undone.is_some_and(|task| entries[head + 1..].iter().all(|entry| entry.task != task))
        };
        self.waiting = self.heads.iter().copied().filter(waits).collect();
        let failed = entries.iter().filter(|entry| entry.mark.failed().is_some());
        self.held = failed.map(|entry| entry.task).collect();
    }

    /// Adds the entry of the next event.
    pub fn push(&mut self, entry: Entry) {
        if !self.waiting.is_empty() {
            let entries = &self.entries;
            self.waiting.retain(|head| entries[*head].mark.head().is_some_and(|it| it.undone != Some(entry.task)));
        }
        if let Some(head) = entry.mark.head() {
            self.heads.push(self.entries.len());
            self.waiting.extend(head.undone.map(|_| self.entries.len()));
        }
        self.entries.push(entry);
    }

    /// How many events were taken in whole.
    fn known_events(&self) -> usize {
        self.entries.len().min(self.before.len()).min(self.events.len())
    }

    /// Keeps at most the first `len` events. What is done with a value counts for the step that asked for it, so a group is taken in anew as a
    /// whole.
    fn forget_events(&mut self, len: usize) {
        let mut len = len;
        while len > 0 && (len == self.known_events() || self.continues(len)) {
            len -= 1;
        }
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
        self.list_events(trace);
        self.before.follow(&self.events);
        self.names.follow(trace);
        for event in self.holds.len()..self.events.len() {
            let steps = &trace.steps()[self.steps(event)];
            self.holds.push(steps.first().is_some_and(|step| step.hold == Hold::Taken));
            let touches = self.events.touches(event).iter().filter(|touch| is_ordinary(touch));
            let most = touches.map(|touch| touch.object.number() + 1).max().unwrap_or(0);
            self.touched.push(most.max(self.touched.last().copied().unwrap_or(0)));
        }
    }

    /// Takes in the new events, but not what happens before them. Adds entries for looks that followed from the latest entry.
    pub fn list_events(&mut self, trace: &Trace) {
        loop {
            let rest = &self.entries[self.events.len().min(self.entries.len())..];
            let failed =
                |(at, entry): (usize, &'_ Entry)| Some((at, entry.task, entry.label, entry.mark.failed().cloned()?));
            let Some((next, task, label, did)) = rest.iter().enumerate().find_map(failed) else { break };
            let next = self.events.len() + next;
            self.events.follow_to(trace, next);
            if self.events.len() != next {
                // Fewer steps than in the execution that the piece comes from: the program is not deterministic.
                return;
            }
            self.events.assume(task, label, &did);
        }
        self.events.follow(trace);
        while let Some(last) = self.entries.last()
            && self.entries.len() < self.events.len()
        {
            let Event { task, label, look, .. } = *self.events.get(self.entries.len());
            if !look {
                break;
            }
            let known_objects = last.known_objects;
            let enabled = TaskSet::default();
            self.push(Entry { task, label, mark: Mark::Look, choice: None, enabled, known_objects });
        }
    }

    /// The entries up to an event that failed, which counts as done in the next execution.
    pub fn with_failed(&self, event: usize) -> Arc<[Entry]> {
        let touches = self.events.touches(event).iter().copied().filter(|touch| self.is_known(touch, event));
        let Event { class, object, .. } = *self.events.get(event);
        let mark = Mark::Failed(Arc::new(Did { class, object, touches: touches.collect() }));
        let failed = Entry { mark, choice: None, ..self.entries[event].clone() };
        self.entries[..event].iter().cloned().chain([failed]).collect()
    }

    fn is_value(&self, event: usize) -> bool {
        matches!(self.events.get(event).label, Label::Value(_))
    }

    pub fn is_look(&self, event: usize) -> bool {
        self.events.get(event).look
    }

    /// True if nothing can happen between an event and the one before it.
    #[inline]
    fn continues(&self, event: usize) -> bool {
        self.is_value(event) || self.is_look(event)
    }

    /// The group of an event. A look belongs to the group before it if a value follows.
    #[inline]
    pub fn group(&self, event: usize) -> Range<usize> {
        let is_last = event + 1 >= self.events.len() || !self.continues(event + 1);
        if is_last && !self.continues(event) { event..event + 1 } else { self.group_of_several(event) }
    }

    fn group_of_several(&self, event: usize) -> Range<usize> {
        let len = self.events.len();
        let next_decided = |at: usize| (at..len).find(|&at| !self.is_look(at));
        let next_value = |at: usize| next_decided(at).filter(|&at| self.is_value(at));
        let mut start = event;
        while start > 0 && (self.is_value(start) || self.is_look(start) && next_value(start).is_some()) {
            start -= 1;
        }
        let mut end = event + 1;
        while let Some(value) = next_value(end) {
            end = value + 1;
        }
        start..end
    }

    /// False if no step of another task is in a race with an event: whatever conflicts with it happens before what its task did earlier.
    pub fn may_race(&self, event: usize) -> bool {
        if self.events.get(event).class == Class::Receive || self.group(event).len() > 1 {
            return true;
        }
        let task = self.events.get(event).task;
        let previous = self.before.previous(task, event);
        let known =
            |earlier: usize| previous.is_some_and(|previous| self.before.ordered(&self.events, earlier, previous));
        self.events.touches(event).iter().any(|touch| {
            let accesses = self.before.accesses(touch.slot(), event);
            // Whatever comes before a change happens before it.
            let latest = accesses.iter().rposition(|earlier| earlier.effect == Effect::Change).unwrap_or(0);
            accesses[latest..].iter().any(|earlier| !known(earlier.event()))
        })
    }

    /// True if the policy chose all of a group.
    pub fn is_free(&self, group: Range<usize>) -> bool {
        self.entries[group].iter().all(|entry| entry.mark.is_free() || entry.mark == Mark::Look)
    }

    /// The entry of a group that is the head of a schedule. Values that the head has asked for may come after it.
    pub fn head_in(&self, group: Range<usize>) -> Option<usize> {
        group.rev().find(|&at| self.entries[at].mark.head().is_some())
    }

    /// Where the schedule begins whose head's group begins here.
    pub fn schedule_start(&self, head: usize) -> usize {
        let is_member = |at: &usize| {
            matches!(self.entries[*at].mark, Mark::Member | Mark::LateMember | Mark::LateValue | Mark::Look)
        };
        head - (0..head).rev().take_while(is_member).count()
    }

    /// The heads of the schedules that were put before the step of a task which comes next after the first `len` entries, latest first. As the
    /// first events of their groups.
    pub fn heads_put_before(&self, len: usize, task: TaskId) -> SmallVec<[usize; 8]> {
        let mut found = SmallVec::new();
        let mut end = len;
        for &head in self.heads.iter().rev().filter(|&&head| head < len) {
            if self.entries[head..end].iter().any(|entry| entry.task == task) {
                break;
            }
            end = head;
            if self.undone_by(head) == Some(task) {
                found.push(self.group(head).start);
            }
        }
        found
    }

    /// The task whose step the schedule with this head was put before.
    pub fn undone_by(&self, head: usize) -> Option<TaskId> {
        self.entries[head].mark.head().and_then(|head| head.undone)
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
        let touches = touches.iter().filter(|touch| self.is_known(touch, from));
        touches.map(|touch| (touch.object, touch.effect == Effect::Change)).collect()
    }

    /// True if the object has the same number in all executions that begin with the entries before `from`.
    fn is_known(&self, touch: &Touch, from: usize) -> bool {
        let asked_for = self.entries.get(from).map_or(0, |entry| entry.known_objects);
        let known = from.checked_sub(1).map_or(0, |last| self.touched[last]).max(asked_for);
        match touch.object.as_message() {
            // The objects of messages are named by who sends them. Their numbers stay the same if no task is created from there on.
            Some(_) => from >= self.events.len() || !self.names.creates_from(self.events.step(from)),
            None => touch.object.number() < known,
        }
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
        if self.0.is_empty() {
            return self.0.extend_from_slice(row);
        }
        self.0.iter_mut().zip(row).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    pub fn has(&self, run: &Execution, event: usize) -> bool {
        let task = run.events.get(event).task.index();
        self.0.get(task).is_some_and(|&known| known >= run.before.count(&run.events, event))
    }
}
