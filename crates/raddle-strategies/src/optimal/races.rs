//! Finds the races of an execution, and hands out the pieces that reverse them.
//!
//! The second step `d` of a race has taken place, or is pending at the end. The first step `e` of another task is
//! - directly before `d` on an object of both: they are dependent, and nothing lies between them; or
//! - any access to an object that `d` waits for, if `d` could have come before it. It does not matter whether `d` got the object later, third
//!   in line, or never.
//!
//! If `d` waits for one object and touches others too, each set of steps on the others that may come before `d` gives a piece of its own.
//!
//! What lets `d` go on is no race: a message before its receive, the end of a task before its join.

use std::ops::Range;
use std::sync::Arc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::before::{Touched, could_do_without, looked_at_held};
use raddle_engine::order::events::{Event, Label, Touch};
use raddle_engine::strategy::Run;
use raddle_engine::system::{Pending as PendingStep, Variant};
use raddle_engine::trace::{Access, Class, Effect, Role, Trace};
use smallvec::SmallVec;

use super::execution::{Execution, Past};
use super::names::Renumbered;
use super::piece::{Head, Mark, Planned};
use super::{Child, Mistake, Optimal, receives};

/// The later step of a race.
#[derive(Clone, Debug)]
pub(super) struct Second {
    pub task: TaskId,
    /// The first event of its group, and the one after the last; both are the number of events if it is pending.
    pub event: usize,
    pub end: usize,
    pub class: Class,
    /// How it went on; `None` if it is pending.
    pub label: Option<Label>,
    /// It is to take another message than it did, and what follows from that is not known.
    pub takes_message: bool,
    /// It needed no decision.
    is_look: bool,
    pub touches: SmallVec<[Touch; 4]>,
    /// The objects that it waits for.
    pub waits_for: SmallVec<[ObjectId; 2]>,
    /// The latest event of its task before it.
    pub previous: Option<usize>,
    /// The earlier accesses that are directly before it.
    pub direct: SmallVec<[Direct; 4]>,
    /// It receives, and this object decides which message is first.
    queue: Option<ObjectId>,
    /// If it asks for values: what it touches up to the first question, then up to the second, and so on.
    parts: Vec<SmallVec<[Touch; 2]>>,
}

/// An access directly before another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct {
    pub event: usize,
    pub object: ObjectId,
    /// The later step could not have come first: it was let go on by this access, or this access looked at something that was held.
    pub cause: bool,
    /// The later step waits for the object.
    pub waited_for: bool,
}

impl Second {
    /// A step that took place.
    pub fn happened(run: &Execution, event: usize, trace: &Trace) -> Self {
        if run.is_look(event) {
            return Self::looked(run, event);
        }
        let group = run.group(event);
        let parts = if group.len() > 1 {
            group.clone().map(|event| run.own_touches(event, trace)).collect()
        } else {
            Vec::new()
        };
        let Event { task, label, class, object, .. } = *run.events.get(event);
        let mut touches: SmallVec<[Touch; 4]> = run.events.touches(event).into();
        let mut waits_for = SmallVec::new();
        let own = touches.iter().find(|touch| touch.object == object).copied();
        let clock = touches.iter().find(|touch| touch.role == Role::Timed).map(|touch| touch.object);
        match clock {
            // A timeout waits until earlier ones are over. A wait that has a timeout is never blocked otherwise.
            Some(clock) => waits_for.extend((label == Label::Way(Variant::TimedOut)).then_some(clock)),
            None if own.is_some_and(|own| matches!(own.role, Role::Takes | Role::Waits)) => waits_for.push(object),
            None => {}
        }
        if class == Class::Receive && (clock.is_some() || own.is_some_and(|own| own.role == Role::Waits)) {
            // It took the oldest message. In another place, that may be another one, or none.
            let is_message = |touch: &Touch| touch.role == Role::Takes && touch.object != object;
            touches.retain(|touch| !is_message(touch) || touch.is_birth() || touch.effect == Effect::Read);
        }
        let previous = run.before.previous(task, event);
        let mut second = Self {
            task,
            event: group.start,
            end: group.end,
            class,
            label: Some(label),
            takes_message: false,
            is_look: false,
            touches,
            waits_for,
            previous,
            direct: SmallVec::new(),
            queue: queue_of(run, event, trace),
            parts,
        };
        second.find_direct(run);
        second
    }

    /// A look that needed no decision. In another place it is a step of its own.
    pub fn looked(run: &Execution, event: usize) -> Self {
        let Event { task, label, class, object, .. } = *run.events.get(event);
        let mut second = Self {
            task,
            event,
            end: event + 1,
            class,
            label: Some(label),
            takes_message: false,
            is_look: true,
            touches: run.events.touches(event).into(),
            waits_for: std::iter::once(object).filter(|_| class == Class::Acquire).collect(),
            previous: run.before.previous(task, event),
            direct: SmallVec::new(),
            queue: None,
            parts: Vec::new(),
        };
        second.find_direct(run);
        second
    }

    /// A step that is pending at the end.
    pub fn pending(run: &Execution, pending: &PendingStep) -> Self {
        let action = &pending.action;
        let len = run.events.len();
        let mut touches: SmallVec<[Touch; 4]> = run.events.handed(action.task).into();
        let mut waits_for: SmallVec<[ObjectId; 2]> = SmallVec::new();
        if action.object.is_some() && !action.role.orders_nothing() {
            touches.retain(|touch| touch.object != action.object);
            touches.push(Touch { object: action.object, effect: action.effect, role: action.role });
            waits_for.push(action.object);
        }
        if pending.clock.is_some() && pending.clock != action.object {
            touches.push(Touch { object: pending.clock, effect: Effect::Change, role: Role::Timed });
            waits_for.push(pending.clock);
        }
        let previous = run.before.previous(action.task, len);
        let mut second = Self {
            task: action.task,
            event: len,
            end: len,
            class: action.op.class,
            label: None,
            takes_message: false,
            is_look: false,
            touches,
            waits_for,
            previous,
            direct: SmallVec::new(),
            queue: None,
            parts: Vec::new(),
        };
        second.find_direct(run);
        second
    }

    /// How many of its events are the same in the place of an event that it races with: up to the first part in which they conflict.
    pub fn same_before(&self, run: &Execution, first: usize, waits: bool) -> usize {
        let theirs = run.events.touches(first);
        let conflicts =
            |part: &SmallVec<[Touch; 2]>| part.iter().any(|mine| theirs.iter().any(|it| it.conflicts(*mine)));
        let part = if waits { Some(0) } else { self.parts.iter().position(conflicts) };
        part.map_or(self.end - self.event, |part| part + 1).min(self.end - self.event)
    }

    /// The same receive with another message. What its task does with that message is not known.
    pub fn taking_another(&self, place: ObjectId, label: Option<Label>) -> Self {
        let mut other = Self { label, takes_message: true, ..self.clone() };
        let stays = |touch: &Touch| touch.object == place || touch.role == Role::Takes && touch.effect == Effect::Read;
        other.touches.retain(|touch| stays(touch));
        other.waits_for = std::iter::once(place).collect();
        let touches = &other.touches;
        other.direct.retain(|direct| direct.object != place && touches.iter().any(|it| it.object == direct.object));
        other
    }

    fn is_timed(&self) -> bool {
        self.touches.iter().any(|touch| touch.role == Role::Timed)
    }

    fn find_direct(&mut self, run: &Execution) {
        for touch in &self.touches {
            let table = run.before.accesses(touch.slot(), self.event);
            let waited_for = self.waits_for.contains(&touch.object);
            for (at, earlier) in table.iter().enumerate().rev() {
                if touch.effect == Effect::Read && earlier.effect == Effect::Read {
                    continue;
                }
                let may_block = touch.role == Role::Timed || !self.is_timed();
                let cause = may_block && touch.takes() && (earlier.gives() || looked_at_held(&table[..at], *earlier));
                // What a value leads to counts for the step that asked for it.
                let event = run.group(earlier.event()).start;
                let known = |direct: &Direct| (direct.event, direct.object) == (event, touch.object);
                match self.direct.iter_mut().find(|direct| known(direct)) {
                    Some(direct) => direct.cause |= cause,
                    None => self.direct.push(Direct { event, object: touch.object, cause, waited_for }),
                }
                if earlier.effect == Effect::Change {
                    break;
                }
            }
        }
    }
}

impl Optimal {
    /// Hands out the reversals of all races that are new in the execution. A `cut` one failed, and will be run on without the failing task.
    pub(super) fn reverse_races(&mut self, run: &Run<'_>, cut: bool, children: &mut Vec<Child>) {
        let mut event = self.first_new();
        while event < self.run.events.len() {
            if !self.run.may_race(event) {
                event += 1;
                continue;
            }
            let second = Second::happened(&self.run, event, run.trace);
            for look in event + 1..second.end {
                if self.run.is_look(look) {
                    self.reverse(&Second::looked(&self.run, look), children);
                }
            }
            event = second.end;
            self.reverse(&second, children);
        }
        if cut {
            return;
        }
        for pending in run.pending {
            // A step that is held back counts as done.
            if !pending.ready && !self.held.contains(&pending.action.task) {
                self.reverse(&Second::pending(&self.run, pending), children);
            }
        }
    }

    fn reverse(&mut self, second: &Second, children: &mut Vec<Child>) {
        let mut offered: SmallVec<[usize; 4]> = SmallVec::new();
        for direct in &second.direct {
            let look = || self.is_look(second, direct) && self.was_enabled(second, direct.event) != Some(false);
            let waits = || self.waits_for_step(second, direct.event);
            let may_race = || if direct.waited_for { look() } else { !waits() };
            let races = !direct.cause && !offered.contains(&direct.event) && may_race();
            if races && self.reverse_direct(second, *direct, children) {
                offered.push(direct.event);
            }
        }
        if self.makes(Mistake::IgnoresWaits) {
            return;
        }
        if second.class == Class::Receive {
            self.take_only_message(second, children);
        }
        for &object in &second.waits_for {
            let touch = second.touches.iter().find(|touch| touch.object == object);
            let slot = touch.map_or(0, |touch| touch.slot());
            let Some(touch) = touch.copied() else { continue };
            if receives::chooses_at(&self.run, second, object) {
                continue;
            }
            let table_len = self.run.before.accesses(slot, second.event).len();
            for at in (0..table_len).rev() {
                let earlier = self.run.before.accesses_to(slot)[at];
                let known = |previous| self.run.before.ordered(&self.run.events, earlier.event(), previous);
                if earlier.effect == Effect::Change && second.previous.is_some_and(known) {
                    // So does every earlier access.
                    break;
                }
                let takes = matches!(earlier.role, Role::Takes | Role::Timed) || self.run.holds[earlier.event()];
                let relevant = earlier.effect == Effect::Change || takes || second.is_timed();
                let conflict = touch.effect == Effect::Change || earlier.effect == Effect::Change || second.is_timed();
                let event = self.run.group(earlier.event()).start;
                if relevant && conflict && !offered.contains(&event) {
                    let before = &self.run.before.accesses_to(slot)[..at];
                    if self.could_go_before(second, earlier, before) {
                        offered.push(event);
                        self.reverse_wait(second, event, children);
                    }
                }
            }
        }
    }

    /// True if the access only looks at the object, and takes nothing.
    fn is_look(&self, second: &Second, direct: &Direct) -> bool {
        let touches = self.run.events.touches(direct.event);
        let look = |touch: &Touch| touch.effect == Effect::Read && touch.role == Role::Plain;
        !second.is_timed()
            && !self.run.holds[direct.event]
            && touches.iter().any(|touch| touch.object == direct.object && look(touch))
    }

    /// True if a step that is directly before changes or takes something that the second step waits for.
    fn waits_for_step(&self, second: &Second, first: usize) -> bool {
        let waited_for = |direct: &&Direct| direct.event == first && direct.waited_for;
        !second.is_timed() && second.direct.iter().filter(waited_for).any(|direct| !self.is_look(second, direct))
    }

    /// Reverses a race with a step that is directly before. Returns false if something lies between the two.
    fn reverse_direct(&mut self, second: &Second, direct: Direct, children: &mut Vec<Child>) -> bool {
        let first = direct.event;
        if self.run.events.get(first).task == second.task {
            return false;
        }
        let happens = |earlier: usize, later: usize| self.run.before.ordered(&self.run.events, earlier, later);
        // A receive that is put before a send to its queue may take another message, so it does not need the one it took.
        let other_message = second.queue == Some(direct.object);
        let is_message = |other: &Direct| other_message && other.cause && other.object.as_message().is_some();
        let needed = || second.direct.iter().filter(|other| !is_message(other));
        let others = || needed().filter(|other| other.event != first).map(|other| other.event);
        let same_but_cause = needed().any(|other| other.event == first && other.cause);
        if same_but_cause || others().chain(second.previous).any(|other| happens(first, other)) {
            return false;
        }
        let mut past = std::mem::take(&mut self.past);
        past.clear();
        others().chain(second.previous).for_each(|event| past.add(&self.run, event));
        self.past = past;
        if self.is_settled_by_head(second, first) {
            self.extend(second, direct, children);
        } else {
            self.offer(second, first, false, children);
        }
        true
    }

    /// True if the earlier step is the head of a schedule, and not merely another message that its task receives.
    fn is_settled_by_head(&self, second: &Second, first: usize) -> bool {
        let group = self.run.group(first);
        let rival =
            receives::are_rivals(&self.run, group.start, second) && receives::is_alternative(&self.run, group.clone());
        self.run.head_in(group).is_some() && !rival
    }

    /// Reverses a race with a step on an object that the second step waits for.
    pub(super) fn reverse_wait(&mut self, second: &Second, first: usize, children: &mut Vec<Child>) {
        let happens = |earlier: usize, later: usize| self.run.before.ordered(&self.run.events, earlier, later);
        let after = |event: usize| happens(first, event);
        if self.run.events.get(first).task == second.task || second.previous.is_some_and(after) {
            return;
        }
        let others = || second.direct.iter().filter(|direct| !direct.waited_for);
        if others().any(|other| other.cause && after(other.event)) {
            return;
        }
        let mut past = std::mem::take(&mut self.past);
        past.clear();
        second.previous.iter().for_each(|&event| past.add(&self.run, event));
        let needed = others().filter(|other| other.cause || second.is_timed());
        needed.filter(|other| !after(other.event)).for_each(|other| past.add(&self.run, other.event));
        self.past = past;
        if second.is_timed() && self.is_settled_by_head(second, first) {
            let clock = second.waits_for.iter().copied().next();
            let direct = clock.map(|object| Direct { event: first, object, cause: false, waited_for: true });
            direct.into_iter().for_each(|direct| self.extend(second, direct, children));
            return;
        }
        let shared = self.shared_with(second, first);
        self.offer_with(second, first, &shared, children);
    }

    /// The steps after `first`, and not because of it, that may come before the second step or not, oldest first. They are on an object that
    /// the second step waits for and that `first` takes or looks at together with others; or they are on an object that the second step touches
    /// without waiting for it.
    fn shared_with(&self, second: &Second, first: usize) -> Vec<usize> {
        let run = &self.run;
        if second.is_timed() {
            return Vec::new();
        }
        let taken_together = |touch: &Touch| {
            let reads = |it: &Touch| it.object == touch.object && it.effect == Effect::Read;
            run.events.touches(first).iter().any(reads)
        };
        let concurrent = |event: usize| {
            event > first && run.events.get(event).task != second.task && !run.before.ordered(&run.events, first, event)
        };
        let mut shared = Vec::new();
        for touch in &second.touches {
            let waited_for = second.waits_for.contains(&touch.object);
            if waited_for && !taken_together(touch) {
                continue;
            }
            let accesses = run.before.accesses(touch.slot(), second.event).iter();
            let conflicts =
                |earlier: &&Touched| waited_for || touch.effect == Effect::Change || earlier.effect == Effect::Change;
            shared.extend(accesses.filter(conflicts).map(|earlier| earlier.event()).filter(|&event| concurrent(event)));
        }
        shared.sort_unstable();
        shared.dedup();
        shared
    }

    /// Offers the reversal with each set of these steps in the past, if the second step is enabled after them.
    fn offer_with(&mut self, second: &Second, first: usize, shared: &[usize], children: &mut Vec<Child>) {
        let Some((&last, earlier)) = shared.split_last() else {
            if !self.is_held_in_past(second, first) {
                self.offer(second, first, true, children);
            }
            return;
        };
        if !self.past.has(&self.run, last) {
            self.offer_with(second, first, earlier, children);
            let without = self.past.clone();
            self.past.add(&self.run, last);
            self.offer_with(second, first, earlier, children);
            self.past = without;
        } else {
            self.offer_with(second, first, earlier, children);
        }
    }

    /// True if a step in the past, after `first`, takes what the second step waits for and does not give it back there.
    fn is_held_in_past(&self, second: &Second, first: usize) -> bool {
        let run = &self.run;
        second.touches.iter().filter(|touch| second.waits_for.contains(&touch.object)).any(|touch| {
            let accesses = run.before.accesses(touch.slot(), second.event).iter();
            let mut held: SmallVec<[TaskId; 4]> = SmallVec::new();
            for access in accesses.filter(|access| access.event() > first && self.past.has(run, access.event())) {
                let task = run.events.get(access.event()).task;
                if access.role == Role::Gives {
                    held.retain(|holder| *holder != task);
                } else if access.role == Role::Takes || run.holds[access.event()] {
                    held.push(task);
                }
            }
            touch.effect == Effect::Change && !second.is_timed() && !held.is_empty()
        })
    }

    /// False if the second step surely is not enabled in the place of `first`.
    fn could_go_before(&self, second: &Second, first: Touched, before: &[Touched]) -> bool {
        let event = self.run.group(first.event()).start;
        self.was_enabled(second, event).unwrap_or_else(|| match first.role {
            Role::Gives if !second.is_timed() => could_do_without(&self.run.events, before, first.event()),
            _ => true,
        })
    }

    /// Whether the second step was enabled in the place of an event; `None` if it had not come that far, or if it is not known.
    fn was_enabled(&self, second: &Second, event: usize) -> Option<bool> {
        let needs = second.direct.iter().filter(|direct| direct.cause && !direct.waited_for).map(|direct| direct.event);
        let came_so_far = needs.chain(second.previous).all(|needed| needed < event);
        self.run.entries[event].enabled.contains(second.task).filter(|_| came_so_far)
    }

    /// Hands out the piece in which the second step and the past come before `first`, if it is this execution's to hand out.
    fn offer(&mut self, second: &Second, first: usize, waits: bool, children: &mut Vec<Child>) {
        let run = &self.run;
        let group = run.group(first);
        if !run.is_free(group.clone()) && !receives::is_alternative(run, group.clone())
            || !receives::is_first_alternative(run, group.start, second, &self.past)
            || self.past.has(run, group.start)
            // A wait that has a time can end in any order, so it is in every execution that may hand this out.
            || !self.is_parsimonious(group.start, if waits && !second.is_timed() { 0..0 } else { second.event..second.end })
            || !self.makes(Mistake::IgnoresNames) && self.comes_too_late(group.start, second)
        {
            return;
        }
        let same = second.same_before(run, group.start, waits);
        let later_values = &run.entries[second.event..second.end][same..];
        if later_values.iter().any(|entry| entry.label != Label::Value(0)) {
            // What is asked for may differ there. The execution with the first values hands this out.
            return;
        }
        let undone = Some(run.entries[group.start].task);
        let touches = if waits { &[] } else { &second.touches[..] };
        let mut foreseen = run.foreseen(touches, group.start);
        if waits {
            foreseen.extend(second.waits_for.iter().map(|&object| (object, true)));
        }
        // Whatever touches what the two steps race on is ordered with the first of them, whether the second changes it here or not.
        let raced_on = |object: ObjectId| second.direct.iter().any(|it| it.event == first && it.object == object);
        foreseen.iter_mut().filter(|it| raced_on(it.0)).for_each(|it| it.1 = true);
        let head = Head { undone, foreseen };
        let shortened = Second { end: second.event + same, ..second.clone() };
        self.put_before(group.start, group.end, &shortened, head, children);
    }

    /// True if each head after `first` is one of the second step's events, or happens before it. A step that waits may never be done after
    /// `first`, so it counts as if it had not taken place.
    pub(super) fn is_parsimonious(&self, first: usize, second: Range<usize>) -> bool {
        // A value comes along with the step that asked for it.
        let fits = |&at: &usize| second.contains(&at) || self.past.has(&self.run, self.run.group(at).start);
        let mut after = self.heads.iter().rev().take_while(|&&head| head > first);
        self.makes(Mistake::NotParsimonious) || after.all(fits)
    }

    /// True if the same trace comes from another piece, in which schedules before the same step are in the order of their heads' names.
    fn comes_too_late(&self, first: usize, second: &Second) -> bool {
        let run = &self.run;
        for head in run.heads_put_before(first, run.entries[first].task) {
            if self.past.has(run, head) || self.may_depend(first, head, second) {
                return false;
            }
            if run.names.of(run.entries[head].task) > run.names.of(second.task) {
                return true;
            }
        }
        false
    }

    /// True if an earlier event may happen before the second step in the place of `first`. If the step in that place had to wait, other steps may
    /// lie between the event and it.
    fn may_depend(&self, first: usize, earlier: usize, second: &Second) -> bool {
        let run = &self.run;
        let conflicts = |touch: &Touch| {
            let effect = effect_before(run, first, second, touch);
            let wanted = Touch { effect, ..*touch };
            let follows = |event: usize| event == earlier || run.before.ordered(&run.events, earlier, event);
            (earlier..first)
                .any(|event| run.events.touches(event).iter().any(|it| it.conflicts(wanted)) && follows(event))
        };
        second.touches.iter().any(conflicts)
    }

    /// Adds the piece: entries up to `first`, the past without what is before that, and the second step.
    pub(super) fn put_before(
        &self,
        first: usize,
        after: usize,
        second: &Second,
        head: Head,
        children: &mut Vec<Child>,
    ) {
        let mut schedule = Schedule::leaving(&self.run, first);
        schedule.take_past(after..second.event, &self.past);
        let head = Mark::Head(Arc::new(head));
        // If the race is about what follows from a value, the wait ends as it did. Otherwise it may end in another way.
        let may_end_otherwise = second.is_timed() && second.end == second.event + 1;
        if second.label.is_none() || may_end_otherwise || second.takes_message || second.is_look {
            schedule.let_go_on(second.task, second.label.filter(|_| second.takes_message), head);
        } else {
            (second.event..second.end - 1).for_each(|event| schedule.take(event, Mark::Member));
            schedule.take(second.end - 1, head);
        }
        children.push(schedule.into_child(first));
    }
}

/// The object that decides which message a receive takes first, if it looks at one.
fn queue_of(run: &Execution, event: usize, trace: &Trace) -> Option<ObjectId> {
    let Event { class, label, object, .. } = *run.events.get(event);
    if class != Class::Receive || label != Label::Way(Variant::Ready) {
        return None;
    }
    let looks =
        |access: &Access| access.effect == Effect::Read && access.role == Role::Plain && access.object != object;
    trace.accesses(run.events.step(event)).find(looks).map(|access| access.object)
}

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

    /// Lets a task go on. What it does is not known of this execution.
    pub fn let_go_on(&mut self, task: TaskId, label: Option<Label>, mark: Mark) {
        self.steps.push(Planned { task: self.tasks.of(task), label, mark });
    }

    pub fn into_child(self, from_base: usize) -> Child {
        Child { from_base, schedule: self.steps }
    }
}

/// What the second step does to an object in the place of `first`, which finds it as it is there.
fn effect_before(run: &Execution, first: usize, second: &Second, touch: &Touch) -> Effect {
    let e = run.events.get(first);
    if e.object != touch.object || second.event >= run.events.len() {
        return touch.effect;
    }
    let d = run.events.get(second.event);
    match (d.wants, e.found) {
        (Some(wanted), Some(found)) if d.object == touch.object => {
            if wanted == found {
                Effect::Change
            } else {
                Effect::Read
            }
        }
        (Some(_), None) => Effect::Change,
        _ => touch.effect,
    }
}
