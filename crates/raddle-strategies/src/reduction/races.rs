//! From races to plans: finds the races of each execution, and plans their reversals at the nodes of its path.
//!
//! Only the races of new events are processed. A step that asked for a value is new for each value: what is done with the value counts for
//! the step, and races with events before the step.

use std::mem;

use raddle_engine::ids::TaskId;
use raddle_engine::order::before::Race;
use raddle_engine::order::events::{Event, Label, Touch};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::strategy::Run;
use raddle_engine::system::{Action, Pending};
use raddle_engine::trace::{Class, Effect, Role};

use super::item::Item;
use super::plan::Plan;
use super::reversal::{self, Second};
use super::{Algorithm, Dpor, RaceGuide, classic, messages, source};

impl<G: RaceGuide> Dpor<G> {
    /// Plans an alternative at node `at`.
    pub(super) fn add(&mut self, at: usize, option: (TaskId, Label)) {
        if at < self.ancestors {
            self.send_plan(at, Plan::Also(option.0, option.1));
        } else {
            self.nodes[at].add(option);
        }
    }

    /// Records a plan for an ancestor of this subtree, unless the ancestor covers it.
    ///
    /// The copy of the ancestor here is as old as the subtree. Plans must not be added to the copy: if the shared tree drops such a plan,
    /// because another subtree covers it, the plan would still suppress other plans here.
    pub(super) fn send_plan(&mut self, at: usize, plan: Plan) {
        if !plan.is_known(&self.nodes[at]) && self.sent_plans.insert((at, plan.clone())) {
            self.plans.plans.push((at, plan));
        }
    }

    /// Plans the reversals of all new races of the execution that has just ended, without those of pending steps.
    pub(super) fn reverse_races(&mut self) {
        for event in self.changed()..self.events.len() {
            if self.time.is_over() {
                return;
            }
            self.reverse_races_with(event);
            for message in self.events.offers_of(event) {
                self.reverse_waits_for(event, message);
            }
        }
        for event in 0..self.events.len() {
            self.wake_other_messages(event);
        }
    }

    /// Plans the reversals of the races of event `index`, which may be a pending one.
    fn reverse_races_with(&mut self, index: usize) {
        let previous = self.before.previous(self.events.get(index).task, index);
        let second = Second { event: index, previous };
        if self.guide.is_some() {
            self.reverse_guided(second);
        } else {
            let mut races = mem::take(&mut self.races);
            match self.algorithm {
                Algorithm::Classic => self.before.rivals(&self.events, index, previous, &mut races),
                Algorithm::Source => self.before.races(&self.events, index, previous, &mut races),
            }
            races.iter().for_each(|race| self.reverse(race, second));
            self.races = races;
        }
        if self.events.get(index).timed.is_some() {
            self.reverse_timed_wait(second);
        }
    }

    /// Plans that a timed wait ends by timeout, because the event that enabled it comes too late.
    fn reverse_timed_wait(&mut self, ended: Second) {
        if let Some(first) = reversal::prevented_timeout(&self.events, &self.before, &self.nodes, ended) {
            let instead = reversal::suppose_timed_out(&mut self.events, ended.event);
            self.plan(first, Second { event: instead, ..ended }, ended.event);
            self.events.forget();
        }
    }

    /// Plans the reversal of a race.
    fn reverse(&mut self, race: &Race, second: Second) {
        let (e, later) = (self.events.get(race.first), self.events.get(second.event));
        let receives = later.class == Class::Receive && later.object == e.object;
        if receives && messages::chose(&self.events, race.first) {
            self.reverse_receives(race.first, second);
        } else if let Some(first) = reversal::origin(&self.events, &self.before, &self.nodes, race, second) {
            self.plan(first, second, second.event);
        }
    }

    /// Plans that the second of two receives comes first, with the other's message or, if that is possible, with its own.
    fn reverse_receives(&mut self, first: usize, second: Second) {
        let own = messages::taken(&self.events, second.event);
        if self.algorithm == Algorithm::Classic
            || own.is_some_and(|message| messages::can_take(&self.events, &self.before, &self.time, first, message))
        {
            self.plan(first, second, second.event);
        }
        if self.algorithm != Algorithm::Classic
            && let Some(instead) = messages::suppose_instead(&mut self.events, second.event, first)
        {
            self.plan(first, Second { event: instead, ..second }, second.event);
            self.events.forget();
        }
    }

    /// Plans that receives before a send wait for its message.
    fn reverse_waits_for(&mut self, send: usize, message: usize) {
        for receive in messages::could_have_waited(&self.events, &self.before, &self.time, send, message) {
            let previous = self.before.previous(self.events.get(send).task, send);
            if self.algorithm == Algorithm::Classic {
                self.plan(receive, Second { event: send, previous }, send);
            } else if let Some(instead) = messages::suppose_receive(&mut self.events, receive, message) {
                self.plan(receive, Second { event: instead, previous }, send + 1);
                self.events.forget();
            }
        }
    }

    /// A task that received one message could have received another one that was asleep then, after some event has woken that receive.
    fn wake_other_messages(&mut self, receive: usize) {
        if !messages::chose(&self.events, receive) {
            return;
        }
        let Event { task, label, class, object, .. } = *self.events.get(receive);
        let node = &self.nodes[receive];
        let others = node.sleep[..node.inherited].iter().filter(|item| item.task == task && item.label != label);
        // If a receive touches nothing but its mailbox, only another receive wakes it, and that is a race.
        let more =
            |touch: &Touch| touch.object != object && touch.role != Role::Takes && touch.object.as_message().is_none();
        let does_more = |item: &&Item| item.touches.as_ref().is_none_or(|touches| touches.iter().any(more));
        let others: Vec<Item> = others.filter(does_more).cloned().collect();
        let previous = self.before.previous(task, receive);
        for item in others {
            if self.algorithm == Algorithm::Classic {
                let options = self.nodes[receive].options.clone();
                options.into_iter().filter(|option| option.0 != task).for_each(|it| self.add(receive, it));
            } else if let Some(touches) = item.touches {
                let index = self.events.suppose(Event::pending(task, item.label, class, object), touches);
                self.plan(receive, Second { event: index, previous }, self.before.len());
                self.events.forget();
            }
        }
    }

    /// Plans an alternative at the node of `first` that leads to `second` without `first`, by events before `upto`.
    fn plan(&mut self, first: usize, second: Second, upto: usize) {
        if self.guide.is_some() {
            self.plan_if_new(first, Second { event: upto, ..second }, upto);
            return;
        }
        match self.algorithm {
            Algorithm::Source => {
                let options = self.initials(first, second, upto);
                self.nodes[first].add_one_of(&options);
            }
            Algorithm::Classic => {
                let (pair, node) = ((first, second.event), &mut self.nodes[first]);
                let options = classic::leading(&self.events, &self.before, node, pair, second.previous);
                if options.is_empty() || node.has_useless(&options) {
                    node.add_all();
                } else {
                    node.add_one_of(&options);
                }
            }
        }
    }

    /// The initials of the sequence that leads to `second` without `first`, by events before `upto`.
    fn initials(&mut self, first: usize, second: Second, upto: usize) -> Vec<(TaskId, Label)> {
        // The failing event is not needed by the second event, and no event would follow it.
        let end = self.failed.filter(|&failed| !(failed..self.before.len()).contains(&second.event));
        let upto = upto.min(end.unwrap_or(self.before.len()));
        let real = self.events.len();
        let mut sequence = mem::take(&mut self.sequence);
        reversal::sequence(&mut self.events, &self.before, (first, second.event), upto, &mut sequence);
        let options = source::initials(&self.events, &sequence);
        self.sequence = sequence;
        while self.events.len() > real {
            self.events.forget();
        }
        options
    }

    /// Plans the reversals of the races of a step that is pending at the end.
    pub(super) fn reverse_races_with_pending(&mut self, pending: &Pending) {
        let Action { task, object, effect, role, op, variant, .. } = pending.action;
        let mut touches = self.events.handed(task).to_vec();
        if object.is_some() && !role.orders_nothing() {
            touches.retain(|touch| touch.object != object);
            touches.push(Touch { object, effect, role });
        }
        if pending.clock.is_some() && pending.clock != object {
            touches.push(Touch { object: pending.clock, effect: Effect::Read, role: Role::Timed });
        }
        if let Some(guide) = &mut self.guide {
            guide.set_pending(pending);
        }
        let mut event = Event::pending(task, Label::Way(variant), op.class, object);
        event.timed = pending.clock;
        let index = self.events.suppose(event, touches);
        self.reverse_races_with(index);
        if pending.clock.is_some() && !pending.ready {
            let timed_out = reversal::suppose_timed_out(&mut self.events, index);
            self.reverse_races_with(timed_out);
            self.events.forget();
        }
        self.events.forget();
    }

    /// Plans that another task continues instead of the failing event. Until such an execution does not fail, the failing event has no later
    /// events that it could race with.
    pub(super) fn continue_without_failed(&mut self, failed: usize) {
        let exact = self.exact();
        self.nodes[failed..].iter_mut().for_each(|node| node.failed = true);
        let node = &self.nodes[failed];
        let task = node.current().0;
        let is_other = |option: &(TaskId, Label)| option.0 != task && !node.is_asleep(*option, exact);
        let other = node.backtrack.iter().chain(&node.options).copied().find(is_other);
        if let Some((other, _)) = other {
            let options: Vec<_> = node.options.iter().copied().filter(|option| option.0 == other).collect();
            options.into_iter().for_each(|option| self.add(failed, option));
        }
    }

    /// The event with which the execution failed, if other tasks were not at their ends: the last event or, if that is a value, the step that
    /// asked for it.
    pub(super) fn failed_at(&self, run: &Run<'_>) -> Option<usize> {
        let failure = run.outcome.and_then(Outcome::failure);
        let nobody_can = |failure: &Failure| matches!(failure, Failure::Deadlock { .. } | Failure::Livelock { .. });
        let cut_short = failure.is_some_and(|failure| !nobody_can(failure)) && !run.pending.is_empty();
        let asked = |&at: &usize| !matches!(self.events.get(at).label, Label::Value(_));
        (0..self.events.len()).rev().filter(|_| cut_short).find(asked)
    }
}
