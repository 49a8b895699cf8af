//! Partial-order reduction: executions that differ only in the order of independent steps are equivalent, and one of them is
//! enough.
//!
//! Three algorithms share everything but what they make of a race. [`Dpor::optimal`] runs exactly one execution for each trace
//! (source sets and wakeup trees; Abdulla, Aronis, Jonsson, Sagonas, POPL 2014 and JACM 2017), [`Dpor::source`] gives some
//! executions up in the middle (source sets and sleep sets, same papers), [`Dpor::classic`] runs some traces more than once
//! (persistent sets, Flanagan and Godefroid, POPL 2005; with sleep sets).
//!
//! Each execution is looked at when it is over, given up or not. For every two events that are in a race (`e`, `e'`), it is
//! planned at `e`'s node to run `v`, after which `e'` comes before `e`. In the papers' letters: the path is `E`, a node's
//! prefix `E'`, its `sleep` the sleep set `Sleep(E')`, its `tree` the wakeup tree `wut(E')` or, with single items, the set
//! `backtrack(E')`; `v` is `reversal::sequence`.
//!
//! Where we differ: an event keeps which way out of a wait and which value it was, and all of them are run where one is. A
//! task that is blocked at the end takes part with what it waits to do. What cannot be known before (a reversed wait that
//! turns out to be not possible on objects that do not say who gives and who takes) is tried, and given up. When an execution
//! is cut short by a failure, the others go on from the failing event's node without it.
//!
//! Memory: the nodes of the current path. Nothing is kept of executions that are done.

mod classic;
mod messages;
mod optimal;
mod path;
mod reversal;
mod source;
mod wakeup;

use std::mem;

use self::path::Node;
use self::reversal::Second;
use self::wakeup::{Branch, Item, is_odd};
use crate::ids::TaskId;
use crate::order::before::{Before, Race};
use crate::order::events::{Event, Events, Label, Touch};
use crate::outcome::Outcome;
use crate::strategy::{Claim, Decision, Next, Run, Strategy};
use crate::system::{Action, Choice, Pending, Point};
use crate::trace::{Class, Role, Trace};

/// One execution for each class of equivalent ones, or little more.
#[derive(Debug)]
pub struct Dpor {
    algorithm: Algorithm,
    mistake: Option<Mistake>,
    /// A wait was seen that may end by time or for no reason.
    odd: bool,
    started: bool,
    nodes: Vec<Node>,
    /// What is to be run beyond the latest node.
    beyond: Vec<Branch>,
    /// The first event that the execution before did not have.
    fresh: usize,
    /// Tasks that could go on where the execution was given up.
    refused: Vec<TaskId>,
    events: Events,
    before: Before,
    races: Vec<Race>,
    sequence: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Optimal,
    Source,
    Classic,
}

/// Ways to get reduction wrong, for tests that must notice.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Executions that were given up are not looked at.
    SkipsBlocked,
    /// The reversing sequence ends at the second event of the race.
    CutsSequence,
    /// Sleep sets and wakeup trees keep the task and not what it does.
    KeepsTaskOnly,
}

impl Dpor {
    /// Exactly one execution for each trace.
    #[must_use]
    pub fn optimal() -> Self {
        Self::new(Algorithm::Optimal)
    }

    /// One complete execution for each trace, and some that are given up.
    #[must_use]
    pub fn source() -> Self {
        Self::new(Algorithm::Source)
    }

    /// At least one execution for each trace.
    #[must_use]
    pub fn classic() -> Self {
        Self::new(Algorithm::Classic)
    }

    /// With a mistake: for tests only.
    #[doc(hidden)]
    #[must_use]
    pub fn with_mistake(self, mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), ..self }
    }

    fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            mistake: None,
            odd: false,
            started: false,
            nodes: Vec::new(),
            beyond: Vec::new(),
            fresh: 0,
            refused: Vec::new(),
            events: Events::default(),
            before: Before::default(),
            races: Vec::new(),
            sequence: Vec::new(),
        }
    }

    fn exact(&self) -> bool {
        self.mistake != Some(Mistake::KeepsTaskOnly)
    }

    /// Goes back to the deepest node where something is left and takes that.
    fn advance(&mut self) -> bool {
        let exact = self.exact();
        let widely = self.algorithm != Algorithm::Optimal;
        self.nodes.truncate(self.events.len());
        // What was touched with values that the event at hand has led to, since nothing comes between the two.
        let mut with_values: Vec<Touch> = Vec::new();
        while let Some(done) = self.nodes.len().checked_sub(1) {
            let node = &mut self.nodes[done];
            let is_value = matches!(node.current().1, Label::Value(_));
            if is_value || !node.tree.is_empty() {
                let mut item = Item::of(&self.events, done);
                item.add(&with_values);
                node.sleep.push(item);
            }
            if !node.tree.is_empty()
                && let Some(beyond) = node.take_next(exact, widely)
            {
                self.beyond = beyond;
                return true;
            }
            if is_value {
                let touches = node.sleep[node.asleep..].iter().filter_map(|item| item.touches.as_deref());
                with_values.extend(touches.flatten());
            } else {
                with_values.clear();
            }
            self.nodes.pop();
        }
        false
    }

    /// Plans what the event `index`, which may not have happened, makes necessary.
    fn reverse_races_with(&mut self, index: usize) {
        let previous = self.before.previous(self.events.get(index).task, index);
        let mut races = mem::take(&mut self.races);
        match self.algorithm {
            Algorithm::Classic => self.before.rivals(&self.events, index, previous, &mut races),
            _ => self.before.races(&self.events, index, previous, &mut races),
        }
        for race in &races {
            self.reverse(race, Second { event: index, previous });
        }
        self.races = races;
    }

    fn reverse(&mut self, race: &Race, second: Second) {
        let (e, later) = (self.events.get(race.first), self.events.get(second.event));
        let receives = later.class == Class::Receive && later.object == e.object;
        if receives && messages::chose(&self.events, race.first) {
            return self.reverse_receives(race.first, second);
        }
        if let Some(first) = reversal::origin(&self.events, &self.before, &self.nodes, race, second) {
            self.plan(first, second, second.event);
        }
    }

    /// The second of two receives comes first, with the other's message or, if that is possible, its own.
    fn reverse_receives(&mut self, first: usize, second: Second) {
        let own = messages::taken(&self.events, second.event);
        if self.algorithm == Algorithm::Classic
            || own.is_some_and(|message| messages::can_take(&self.events, &self.before, first, message))
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

    /// Receives that came before a message was sent could have waited for it.
    fn reverse_waits_for(&mut self, send: usize, message: usize) {
        for receive in messages::could_have_waited(&self.events, &self.before, send, message) {
            let previous = self.before.previous(self.events.get(send).task, send);
            if self.algorithm == Algorithm::Classic {
                self.plan(receive, Second { event: send, previous }, send);
            } else if let Some(instead) = messages::suppose_receive(&mut self.events, receive, message) {
                self.plan(receive, Second { event: instead, previous }, send + 1);
                self.events.forget();
            }
        }
    }

    /// A task that received one message could have received another that was asleep then, once something has woken that.
    fn wake_other_messages(&mut self, receive: usize) {
        if !messages::chose(&self.events, receive) {
            return;
        }
        let Event { task, label, class, object, .. } = *self.events.get(receive);
        let node = &self.nodes[receive];
        let others = node.sleep[..node.asleep].iter().filter(|item| item.task == task && item.label != label);
        // Where a receive does no more than that, whatever wakes it is another receive, which makes a race.
        let more =
            |touch: &Touch| touch.object != object && touch.role != Role::Takes && touch.object.as_message().is_none();
        let does_more = |item: &&Item| item.touches.as_ref().is_none_or(|touches| touches.iter().any(more));
        let others: Vec<Item> = others.filter(|item| !is_odd(item.label)).filter(does_more).cloned().collect();
        let previous = self.before.previous(task, receive);
        for item in others {
            if self.algorithm == Algorithm::Classic {
                let options = self.nodes[receive].options.clone();
                options.into_iter().filter(|option| option.0 != task).for_each(|it| self.nodes[receive].add(it));
            } else if let Some(touches) = item.touches {
                let index = self.events.suppose(Event::pending(task, item.label, class, object), touches);
                self.plan(receive, Second { event: index, previous }, self.before.len());
                self.events.forget();
            }
        }
    }

    /// Plans to run what lets `second` come before `first`; where the whole rest is not wanted, up to event `upto`.
    fn plan(&mut self, first: usize, second: Second, upto: usize) {
        if self.algorithm == Algorithm::Classic {
            let pair = (first, second.event);
            return classic::plan(&self.events, &self.before, &mut self.nodes[first], pair, second.previous);
        }
        let whole = self.algorithm == Algorithm::Optimal && self.mistake != Some(Mistake::CutsSequence);
        let upto = if whole { self.before.len() } else { upto.min(self.before.len()) };
        let real = self.events.len();
        let mut sequence = mem::take(&mut self.sequence);
        reversal::sequence(&mut self.events, &self.before, (first, second.event), upto, &mut sequence);
        let exact = self.exact();
        let Event { task, label, .. } = *self.events.get(first);
        let leaves_out = !sequence.iter().any(|&event| self.events.get(event as usize).task == task);
        let instead = leaves_out.then_some((task, label));
        let node = &mut self.nodes[first];
        match self.algorithm {
            Algorithm::Source => source::plan(&self.events, node, &sequence),
            _ => optimal::plan(&self.events, node, &mut sequence, instead, exact),
        }
        self.sequence = sequence;
        while self.events.len() > real {
            self.events.forget();
        }
    }

    /// What a task that cannot go on would do takes part, too.
    fn reverse_races_with_pending(&mut self, action: &Action) {
        let label = Label::Way(action.variant);
        let Action { task, object, effect, role, .. } = *action;
        let mut touches = self.events.handed(task).to_vec();
        if object.is_some() {
            touches.retain(|touch| touch.object != object);
            touches.push(Touch { object, effect, role });
        }
        let event = Event::pending(task, label, action.op.class, object);
        let index = self.events.suppose(event, touches);
        self.reverse_races_with(index);
        self.events.forget();
    }

    /// A wait can end by time or for no reason only until it ends otherwise: where such a way out was lost, it is taken.
    fn take_lost_ways_out(&mut self) {
        for at in self.fresh..self.nodes.len() {
            let (here, beyond) = self.nodes[at..].split_first_mut().expect("raddle bug: a node that is not there");
            for place in 0..here.options.len() {
                let option = here.options[place];
                let kept = || beyond.first().is_some_and(|next| next.has(option.0, option.1));
                if is_odd(option.1) && option.0 != here.current().0 && !kept() {
                    here.add(option);
                }
            }
        }
    }

    /// A wait ends for no reason only while somebody else can go on. At the end nobody can, so it has to while the latest event
    /// that it did not depend on is still to come.
    fn wake_while_others_can(&mut self, action: &Action) {
        let Action { task, object, effect, role, variant, .. } = *action;
        let last = self.before.len();
        let Some(previous) = self.before.previous(task, last) else { return };
        let free = |&at: &usize| {
            let event = self.events.get(at);
            let is_step = matches!(event.label, Label::Way(_));
            is_step && event.task != task && !self.before.ordered(&self.events, at, previous)
        };
        let Some(first) = (0..previous).rev().find(free) else { return };
        let event = Event::pending(task, Label::Way(variant), action.op.class, object);
        let index = self.events.suppose(event, [Touch { object, effect, role }]);
        self.plan(first, Second { event: index, previous: Some(previous) }, last);
        self.events.forget();
    }

    /// A failure that cut the execution short has kept the others from going on; they do, without what failed.
    fn go_on_without_failing(&mut self, pending: &[Pending]) {
        let exact = self.exact();
        let Some(node) = self.nodes.last_mut() else { return };
        let failed = node.current().0;
        if node.tree.is_empty() && pending.iter().any(|it| it.ready && it.action.task != failed) {
            let other = node.options.iter().copied().find(|&it| it.0 != failed && !node.is_asleep(it, exact));
            if let Some(other) = other {
                node.add(other);
            }
        }
    }
}

impl Strategy for Dpor {
    fn name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Optimal => "dpor",
            Algorithm::Source => "dpor-source",
            Algorithm::Classic => "dpor-classic",
        }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if mem::replace(&mut self.started, true) {
            if !self.advance() {
                // Whether such a way out is there depends on what others can do, which the reduction follows by rules that have not
                // been shown to lose nothing.
                return Next::Done(if self.odd { Claim::Selective } else { Claim::Exhausted });
            }
            prefix.extend(self.nodes.iter().map(Node::choice));
            self.fresh = self.nodes.len() - 1;
        }
        self.events.clear();
        self.before.clear();
        self.refused.clear();
        Next::Run { seed: 0 }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.events.follow(so_far);
        let depth = self.nodes.len();
        assert_eq!(self.events.len(), depth, "raddle bug: decisions and events do not go together");
        let exact = self.exact();
        let mut node = Node::new(at);
        self.odd |= node.options.iter().any(|option| is_odd(option.1));
        if let Some(parent) = self.nodes.last() {
            node.sleep = parent.still_asleep(&self.events, depth - 1);
        }
        node.asleep = node.sleep.len();
        node.tree = mem::take(&mut self.beyond);
        let taken = if node.tree.is_empty() {
            let latest = depth.checked_sub(1).map(|latest| self.events.get(latest).task);
            node.take_any(latest, exact)
        } else {
            // Where a sequence is followed, what else its tasks might have got is planned by races of its own, for as long as
            // there is somebody asleep whom it would not wake.
            let widely = self.algorithm != Algorithm::Optimal || node.sleep.is_empty();
            match node.take_next(exact, widely) {
                Some(beyond) => {
                    self.beyond = beyond;
                    true
                }
                None => false,
            }
        };
        if !taken {
            self.refused.extend(node.options.iter().map(|option| option.0));
            return Decision::Prune;
        }
        let choice = node.choice();
        self.nodes.push(node);
        Decision::Take(choice)
    }

    fn end(&mut self, run: &Run<'_>) {
        self.beyond.clear();
        self.events.follow(run.trace);
        self.nodes.truncate(self.events.len());
        if run.outcome.is_none() && self.mistake == Some(Mistake::SkipsBlocked) {
            return;
        }
        self.before.follow(&self.events);
        // A reversing sequence reaches to the end, so a race seen before may have another one now.
        let fresh = if self.algorithm == Algorithm::Optimal { 0 } else { self.fresh };
        for event in fresh..self.events.len() {
            self.reverse_races_with(event);
            for message in self.events.offers_of(event) {
                self.reverse_waits_for(event, message);
            }
        }
        for event in 0..self.events.len() {
            self.wake_other_messages(event);
        }
        let cut_short = matches!(run.outcome, Some(Outcome::Failed(_)));
        for pending in run.pending {
            let task = pending.action.task;
            if is_odd(Label::Way(pending.action.variant)) {
                self.odd = true;
                self.wake_while_others_can(&pending.action);
                continue;
            }
            // Persistent sets are about what tasks would do next, also where a sleep set keeps them from it.
            let would = self.algorithm == Algorithm::Classic && run.outcome.is_none();
            if !pending.ready || would || (cut_short && !self.refused.contains(&task)) {
                self.reverse_races_with_pending(&pending.action);
            }
        }
        self.take_lost_ways_out();
        if cut_short {
            self.go_on_without_failing(run.pending);
        }
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn wants_pending(&self) -> bool {
        true
    }

    fn revisits(&self) -> bool {
        true
    }
}
