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

use std::sync::Arc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::before::{Touched, could_do_without};
use raddle_engine::order::events::{Label, Touch};
use raddle_engine::strategy::Run;
use raddle_engine::trace::{Class, Effect, Role};
use smallvec::SmallVec;

use super::execution::Execution;
use super::piece::{Head, Mark};
use super::schedule::Schedule;
use super::second::{Direct, Second};
use super::{Child, Mistake, Optimal, receives};

impl Optimal {
    /// Hands out the reversals of all races that are new in the execution. A `cut` one failed, and will be run on without the failing task.
    pub(super) fn reverse_races(&mut self, run: &Run<'_>, cut: bool, children: &mut Vec<Child>) {
        let mut event = self.first_new();
        while event < self.run.events.len() {
            if self.run.time.is_over() {
                return;
            }
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
            if !pending.ready && !self.run.held.contains(&pending.action.task) {
                self.reverse(&Second::pending(&self.run, pending), children);
            }
        }
    }

    fn reverse(&mut self, second: &Second, children: &mut Vec<Child>) {
        let mut offered: SmallVec<[usize; 4]> = SmallVec::new();
        let earliest = self.earliest_first(second);
        for direct in second.direct.iter().filter(|direct| direct.event >= earliest) {
            if !self.may_be_undone(direct.event) {
                continue;
            }
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
        // A wait without a time may never be over after the first step. If it is a head, it is not in the past of any such piece.
        let is_head = self.run.head_in(second.event..second.end).is_some();
        if is_head && !second.is_timed() && !self.makes(Mistake::NotParsimonious) {
            return;
        }
        for &object in &second.waits_for {
            let touch = second.touches.iter().find(|touch| touch.object == object);
            let slot = touch.map_or(0, |touch| touch.slot());
            let Some(touch) = touch.copied() else { continue };
            if receives::chooses_at(&self.run, second, object) {
                continue;
            }
            // What is read together with others may come before without being ordered with it.
            let earliest = if touch.effect == Effect::Change { earliest } else { 0 };
            let table_len = self.run.before.accesses(slot, second.event).len();
            for at in (0..table_len).rev() {
                let earlier = self.run.before.accesses_to(slot)[at];
                if earlier.event() < earliest {
                    break;
                }
                let known = |previous| self.run.before.ordered(&self.run.events, earlier.event(), previous);
                if earlier.effect == Effect::Change && second.previous.is_some_and(known) {
                    // So does every earlier access.
                    break;
                }
                let takes = matches!(earlier.role, Role::Takes | Role::Timed) || self.run.holds[earlier.event()];
                let relevant = earlier.effect == Effect::Change || takes || second.is_timed();
                let conflict = touch.effect == Effect::Change || earlier.effect == Effect::Change || second.is_timed();
                let event = self.run.group(earlier.event()).start;
                if relevant && conflict && self.may_be_undone(event) && !offered.contains(&event) {
                    let before = &self.run.before.accesses_to(slot)[..at];
                    if self.could_go_before(second, earlier, before) {
                        offered.push(event);
                        self.reverse_wait(second, event, children);
                    }
                }
            }
        }
    }

    /// The first event that may be undone for the second step: each head after it is part of the second step or happens before it. Earlier events are
    /// left to other executions.
    fn earliest_first(&self, second: &Second) -> usize {
        let run = &self.run;
        if second.label.is_none() || self.makes(Mistake::NotParsimonious) {
            return 0;
        }
        let mut heads = run.heads.iter().rev().filter(|&&head| head < second.event).map(|&head| run.group(head).start);
        heads.find(|&head| !run.before.ordered(&run.events, head, second.event)).unwrap_or(0)
    }

    /// False if a step belongs to a schedule without being its head: then its order is settled. The head may be a value that the step asks for.
    fn may_be_undone(&self, first: usize) -> bool {
        let is_member = matches!(self.run.entries[first].mark, Mark::Member | Mark::LateMember | Mark::LateValue);
        !is_member || self.run.head_in(self.run.group(first)).is_some()
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
        let settled = self.is_settled_by_head(second, first);
        let extends = settled && self.may_extend(second, direct);
        // If they share nothing else, and nothing is waited for, nobody asks whether something lies between.
        if settled && !extends && second.waits_for.is_empty() && second.meets_once(first) {
            return true;
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
        if settled && !extends {
            return true;
        }
        let mut past = std::mem::take(&mut self.past);
        past.clear();
        others().chain(second.previous).for_each(|event| past.add(&self.run, event));
        self.past = past;
        if settled {
            self.extend(second, direct, children);
        } else {
            self.offer(second, first, false, children);
        }
        true
    }

    /// True if the earlier step is the head of a schedule, and not merely another message that its task receives.
    fn is_settled_by_head(&self, second: &Second, first: usize) -> bool {
        let group = self.run.group(first);
        let rival = || {
            receives::are_rivals(&self.run, group.start, second) && receives::is_alternative(&self.run, group.clone())
        };
        self.run.head_in(group.clone()).is_some() && !rival()
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
            if let Some(direct) = direct.filter(|direct| self.may_extend(second, *direct)) {
                self.extend(second, direct, children);
            }
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
            || !self.is_parsimonious(group.start, second, waits && !second.is_timed())
            || !self.makes(Mistake::IgnoresNames) && self.comes_too_late(group.start, second)
        {
            return;
        }
        let same = second.same_before(run, group.start, waits);
        let rest = &run.entries[second.event..second.end][same..];
        let mut later_values = rest.iter().filter(|entry| entry.mark != Mark::Look);
        if later_values.any(|entry| entry.label != Label::Value(0)) {
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
    pub(super) fn is_parsimonious(&self, first: usize, second: &Second, waits: bool) -> bool {
        let own = if waits { 0..0 } else { second.event..second.end };
        // A value comes along with the step that asked for it, but not with a look that comes before the value.
        let may_precede = |at: usize| !second.is_look || at < second.event;
        let precedes = |at: usize| may_precede(at) && self.past.has(&self.run, self.run.group(at).start);
        let fits = |&at: &usize| own.contains(&at) || precedes(at);
        let mut after = self.run.heads.iter().rev().take_while(|&&head| head > first);
        self.makes(Mistake::NotParsimonious) || after.all(fits)
    }

    /// True if the same trace comes from another piece, in which schedules before the same step are in the order of their heads' names.
    fn comes_too_late(&self, first: usize, second: &Second) -> bool {
        let run = &self.run;
        let task = run.entries[first].task;
        let name = run.names.of(second.task);
        let is_later = |head: usize| run.names.of(run.entries[head].task) > name;
        if !run.heads.iter().any(|&head| head < first && run.undone_by(head) == Some(task) && is_later(head)) {
            return false;
        }
        let heads = run.heads_put_before(first, task);
        let Some(latest) = heads.iter().position(|&head| is_later(head)) else { return false };
        !heads[..=latest].iter().any(|&head| self.past.has(run, head) || self.may_depend(first, head, second))
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
        schedule.take_past_of(second, after, &self.past);
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
        // It found that it was too late, which it may not be in that place.
        _ if d.object == touch.object && d.class != Class::Read && !run.holds[second.event] => Effect::Change,
        _ => touch.effect,
    }
}
