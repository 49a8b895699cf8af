//! Who can go on: what the engine is offered at each point, and how time passes.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::{Action, Pending, Variant};
use raddle_engine::trace::{Class, Effect};

use crate::actor::Posts;
use crate::execution::record::role;
use crate::execution::state::State;
use crate::execution::{Ask, Timeouts};
use crate::time::CLOCK;

/// Rounds that tasks may spin with nobody else able to go on, before that is called a livelock.
const MOST_FRUITLESS: u32 = 1_000;

impl State {
    /// What `task` does next, if that is all that can have changed since the actions were last listed.
    #[inline(always)]
    pub(crate) fn only_change(&self, task: TaskId) -> Option<Action> {
        let ask = self.tasks[task.index()].asks.as_ref()?;
        let only = !self.stale && self.stalled == 0 && self.actors.changed.is_empty();
        (only && !ask.unseen && ask.mail.is_none() && self.is_ready(ask)).then(|| action(task, Variant::Ready, ask))
    }

    /// Brings a list up to date where nothing but mailboxes has changed since, by a step of `task` that was at `taken` in it. Says
    /// whether that was so.
    #[inline]
    pub(crate) fn only_mail(&mut self, task: TaskId, taken: usize, actions: &mut Vec<Action>) -> bool {
        let Some(own) = self.tasks[task.index()].asks.as_ref().and_then(|ask| ask.mail) else { return false };
        if self.stale || self.stalled > 0 || !self.plain_list {
            return false;
        }
        let mut changed = std::mem::take(&mut self.actors.changed);
        // What it was about to do before is listed still, even if its mailbox is as it was.
        let before = actions[..taken].iter().rev().take_while(|a| a.task == task).count();
        let plain = self.list_mail(own, Some(taken - before), actions)
            && changed.iter().all(|&mail| mail == own || self.list_mail(mail, None, actions));
        changed.clear();
        self.actors.changed = changed;
        let done = plain && !actions.is_empty();
        debug_assert!(!done || self.is_up_to_date(actions), "raddle bug: mail was listed wrongly: {actions:?}");
        done
    }

    /// Whether a list is what would be listed.
    fn is_up_to_date(&mut self, actions: &[Action]) -> bool {
        let mut whole = Vec::new();
        self.list_actions(&mut whole);
        let key = |a: &Action| (a.task, a.variant, a.op.verb, a.object);
        actions.iter().map(key).eq(whole.iter().map(key))
    }

    /// Whether what is counted is what would be listed.
    pub(crate) fn counted_as_listed(&mut self) -> bool {
        let mut whole = Vec::new();
        self.list_actions(&mut whole);
        let Posts { posts, supply, .. } = &self.actors;
        whole.len() == supply.total() as usize
            && (0..supply.total()).zip(&whole).all(|(number, action)| posts[supply.find(number).0].task == action.task)
    }

    /// Lists anew what can be received from one mailbox, in its place among what others can do, which may be known.
    #[inline]
    fn list_mail(&mut self, mail: u32, place: Option<usize>, actions: &mut Vec<Action>) -> bool {
        let task = self.actors.posts[mail as usize].task;
        let Some(ask) = &self.tasks[task.index()].asks else { return false };
        if ask.mail.is_none() {
            // It waits for something else, and has its messages when it comes back.
            return true;
        }
        if ask.deadline.is_some() || ask.may_crash {
            return false;
        }
        let start = place.unwrap_or_else(|| actions.partition_point(|a| a.task < task));
        let listed = actions[start..].iter().take_while(|a| a.task == task).count();
        self.actors.relist(mail, actions, start..start + listed, |variant| action(task, variant, ask));
        true
    }

    /// What every task that has not ended is about to do, and whether it can.
    pub(crate) fn pending(&self) -> Vec<Pending> {
        let pending = |&task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            let clock = if ask.deadline.is_some() { CLOCK } else { ObjectId::NONE };
            let context = self.contexts.as_ref().and_then(|contexts| contexts.of(task));
            Some(Pending { action: action(task, Variant::Ready, ask), ready: self.is_ready(ask), clock, context })
        };
        self.alive.iter().filter_map(pending).collect()
    }

    /// Lists what can happen next; nothing if nobody can go on.
    pub(crate) fn list_actions(&mut self, actions: &mut Vec<Action>) {
        self.stale = false;
        self.plain_list = false;
        self.actors.changed.clear();
        actions.clear();
        let (mut timed, mut waits_for_room) = (false, false);
        for &task in &self.alive {
            let Some(ask) = &self.tasks[task.index()].asks else { continue };
            if self.stalled > 0 && self.spins[task.index()].is_stalled() {
                return self.list_actions_slowly(actions);
            }
            if let Some(mail) = ask.mail {
                self.actors.list_receives(mail, actions, |variant| action(task, variant, ask));
                timed |= ask.deadline.is_some() || ask.may_crash;
            } else if self.is_ready(ask) {
                actions.push(action(task, Variant::Ready, ask));
            } else {
                timed |= ask.deadline.is_some();
                waits_for_room |= ask.op.class == Class::Send;
            }
        }
        // Each side of a channel with a bound waits for the other, which reduction does not follow.
        self.caveats.reduction_unproven |= waits_for_room;
        if timed {
            self.list_timeouts(actions);
            self.caveats.reduction_unproven |= self.is_odd_for_actors(actions);
            drop_if_only_crashes(actions);
        }
        // Tasks are begun in the order of their numbers, so that is the order of the list.
        self.plain_list = !timed && !actions.is_empty() && self.resting.is_none();
        self.list_quiet(actions);
        self.let_others_go_first(actions);
    }

    /// Takes a task that rests off the list, if anybody else is on it.
    fn let_others_go_first(&self, actions: &mut Vec<Action>) {
        if let Some(task) = self.resting
            && actions.iter().any(|a| a.task != task && a.variant == Variant::Ready)
        {
            actions.retain(|a| a.task != task);
        }
    }

    /// The same where tasks are stalled.
    #[cold]
    fn list_actions_slowly(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        let (mut timed, mut waits_for_room) = (false, false);
        for &task in &self.alive {
            let Some(ask) = &self.tasks[task.index()].asks else { continue };
            let others = self.turns_of_others(task);
            let spin = &mut self.spins[task.index()];
            if spin.may_go_on(|object| self.objects[object.index()].version, others) {
                self.stalled -= u32::from(spin.go_on());
            } else {
                continue;
            }
            if let Some(mail) = ask.mail {
                self.actors.list_receives(mail, actions, |variant| action(task, variant, ask));
                timed |= ask.deadline.is_some() || ask.may_crash;
            } else if ask.ready.is_none_or(|ready| ready(self.objects[ask.object.index()].word, ask.key)) {
                actions.push(action(task, Variant::Ready, ask));
            } else {
                timed |= ask.deadline.is_some();
                waits_for_room |= ask.op.class == Class::Send;
            }
        }
        // Each side of a channel with a bound waits for the other, which reduction does not follow.
        self.caveats.reduction_unproven |= waits_for_room;
        if timed {
            if self.stalled > 0 && actions.is_empty() && self.creep() {
                return self.list_actions_slowly(actions);
            }
            self.list_timeouts(actions);
            self.caveats.reduction_unproven |= self.is_odd_for_actors(actions);
        }
        if self.stalled > 0 && actions.is_empty() {
            self.let_stalled_go(actions);
        }
        drop_if_only_crashes(actions);
        self.list_quiet(actions);
        self.let_others_go_first(actions);
    }

    /// Where nothing can happen, those go on who wait for just that, unless an actor is stuck in the middle of a handler.
    fn list_quiet(&self, actions: &mut Vec<Action>) {
        if !actions.is_empty() || !self.actors.somebody_waits_for_quiet {
            return;
        }
        let asks = || self.alive.iter().filter_map(|&task| Some((task, self.tasks[task.index()].asks.as_ref()?)));
        let stuck = |(task, ask): (TaskId, &Ask)| ask.mail.is_none() && self.actors.of(task).is_some();
        if !asks().any(stuck) {
            actions.extend(asks().filter(|(_, ask)| ask.quiet).map(|(task, ask)| action(task, Variant::Ready, ask)));
        }
    }

    /// Whether an actor could crash, or a timer of one go off.
    fn is_odd_for_actors(&self, actions: &[Action]) -> bool {
        let receives = |task: TaskId| self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.mail.is_some());
        let odd = |a: &Action| matches!(a.variant, Variant::Spurious | Variant::TimedOut) && receives(a.task);
        actions.iter().any(odd)
    }

    /// The earliest time that anybody waits for who is not stalled. Whoever could go on counts until it has: what lets it go on
    /// does not touch the clock, its going on does.
    fn earliest_deadline(&self) -> Option<u64> {
        let deadline = |task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            if self.spins[task.index()].is_stalled() { None } else { ask.deadline }
        };
        self.alive.iter().filter_map(deadline).min()
    }

    /// Time passes for those who do nothing but watch the clock, but not beyond what others wait for. Says whether it did.
    fn creep(&mut self) -> bool {
        let now = self.now();
        match self.earliest_deadline() {
            Some(earliest) if earliest > now && self.somebody_watches_the_clock() => {
                self.leap(earliest);
                true
            }
            _ => false,
        }
    }

    fn somebody_watches_the_clock(&self) -> bool {
        let watches = |task: &TaskId| {
            let spin = &self.spins[task.index()];
            spin.is_stalled() && spin.watched().any(|object| object == CLOCK)
        };
        self.alive.iter().any(watches)
    }

    /// Moves the clock by itself, further each time, but not beyond `limit`.
    fn leap(&mut self, limit: u64) {
        self.move_clock(self.now().saturating_add(self.clock_leap).min(limit));
        self.clock_leap = self.clock_leap.saturating_mul(2);
    }

    /// Waits that end by time. Time passes no further than to the earliest time anybody waits for. One who
    /// is stalled in a wait with a time is left alone, but if nothing but time can pass, it does not pass him by.
    fn list_timeouts(&mut self, actions: &mut Vec<Action>) {
        let hold_back = self.settings.timeouts == Timeouts::Late && !actions.is_empty();
        self.caveats.late_timeouts |= hold_back;
        // Whether a wait can end by time depends on what others can do, which reduction does not follow.
        self.caveats.reduction_unproven |= hold_back;
        let awake = self.earliest_deadline();
        let lull = actions.is_empty();
        let waits = |task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            let comes_first = || lull && ask.deadline.is_some_and(|deadline| Some(deadline) < awake);
            (!self.spins[task.index()].is_stalled() || comes_first()).then_some((*task, ask))
        };
        let earliest = self.alive.iter().filter_map(waits).filter_map(|(_, ask)| ask.deadline).min();
        let horizon = earliest.unwrap_or(0).max(self.now());
        for (task, ask) in self.alive.iter().filter_map(waits) {
            let waits = ask.mail.is_some() || !self.is_ready(ask);
            if waits && !hold_back && ask.deadline.is_some_and(|deadline| deadline <= horizon) {
                actions.push(action(task, Variant::TimedOut, ask));
            }
            if ask.may_crash && ask.mail.is_some_and(|mail| self.actors.may_crash(mail as usize)) {
                actions.push(action(task, Variant::Spurious, ask));
            }
        }
        // Messages stay in the order in which they are listed, whatever they are called.
        let kind = |variant: Variant| if let Variant::Message(_) = variant { Variant::Message(0) } else { variant };
        actions.sort_by_key(|a| (a.task, kind(a.variant)));
    }

    /// Nobody but stalled tasks can go on, so one of them may: the one that has had the fewest goes, since in which order tasks
    /// look at what does not change makes no difference. Those who watch the clock see it move.
    fn let_stalled_go(&mut self, actions: &mut Vec<Action>) {
        if self.somebody_watches_the_clock() {
            self.leap(u64::MAX);
        }
        let changes = self.changes;
        let mut hopeless = true;
        let mut next: Option<TaskId> = None;
        for &task in &self.alive {
            let spin = &mut self.spins[task.index()];
            if !spin.is_stalled() {
                continue;
            }
            if spin.changes_seen != changes {
                spin.fruitless = 0;
                spin.changes_seen = changes;
            }
            hopeless &= spin.fruitless > MOST_FRUITLESS;
            let goes = self.spins[task.index()].fruitless;
            if next.is_none_or(|next| goes < self.spins[next.index()].fruitless) {
                next = Some(task);
            }
        }
        let Some(task) = next.filter(|_| !hopeless) else {
            self.livelock = hopeless;
            return;
        };
        self.spins[task.index()].fruitless += 1;
        self.go_on(task);
        actions.clear();
        if let Some(ask) = self.tasks[task.index()].asks.as_ref().filter(|ask| self.is_ready(ask)) {
            actions.push(action(task, Variant::Ready, ask));
        }
        self.list_timeouts(actions);
    }

    pub(super) fn move_clock(&mut self, to: u64) {
        let clock = &mut self.objects[CLOCK.index()];
        if to > clock.word {
            clock.word = to;
            clock.version += 1;
        }
    }
}

#[inline]
fn action(task: TaskId, variant: Variant, ask: &Ask) -> Action {
    let Ask { op, object, site, .. } = *ask;
    let effect = if variant == Variant::TimedOut { Effect::Read } else { ask.effect };
    Action { task, variant, op, object, effect, role: role(ask, variant), site }
}

/// That somebody could crash keeps nobody busy: where nothing else can happen, nothing does.
fn drop_if_only_crashes(actions: &mut Vec<Action>) {
    if actions.iter().all(|action| action.variant == Variant::Spurious) {
        actions.clear();
    }
}
