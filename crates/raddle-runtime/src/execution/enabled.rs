//! Which operations are enabled: the actions that the engine can choose from at each point, and how the clock moves.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::{Action, Pending, Variant};
use raddle_engine::trace::{Class, Effect, Role};

use crate::actor::Mailboxes;
use crate::execution::record::role;
use crate::execution::state::{State, is_ready};
use crate::execution::{Ask, Timeouts};
use crate::time::CLOCK;

/// After so many rounds in which tasks spin, nothing changes and no other task is enabled, the execution is a livelock.
const MOST_ROUNDS_ALONE: u32 = 1_000;

impl State {
    /// Brings the list of actions up to date after one of them was taken, where its task now asks for `ask`. This works if no action can have
    /// changed but that of the task and those that wait for one object. Returns whether it worked; if not, the caller lists all actions again.
    #[inline(always)]
    pub(crate) fn update_actions(&mut self, ask: &Ask, actions: &mut Vec<Action>) -> bool {
        match self.taken {
            Some(taken) if self.can_update(ask) => {
                let updated = self.update(taken, ask, actions);
                self.end_update(updated)
            }
            _ => false,
        }
    }

    /// [`Self::update_actions`] for a task that has paused, so that it is known what it asks for.
    #[inline(always)]
    pub(crate) fn update_actions_after_pause(&mut self, actions: &mut Vec<Action>) -> bool {
        let Some(taken) = self.taken else { return false };
        match &self.tasks[actions[taken].task.index()].asks {
            Some(ask) if self.can_update(ask) => {
                let updated = self.update(taken, ask, actions);
                self.end_update(updated)
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn can_update(&self, ask: &Ask) -> bool {
        !self.stale && self.stalled == 0 && self.actors.changed.is_empty() && !ask.unseen && ask.mail.is_none()
    }

    #[inline(always)]
    fn end_update(&mut self, updated: bool) -> bool {
        self.waited_for = ObjectId::NONE;
        if !updated {
            (self.stale, self.taken) = (true, None);
        }
        updated
    }

    #[inline(always)]
    fn update(&self, taken: usize, ask: &Ask, actions: &mut Vec<Action>) -> bool {
        let slot = &mut actions[taken];
        let task = slot.task;
        if self.is_ready(ask) {
            *slot = action(task, Variant::Ready, ask);
            return !self.waited_for.is_some() || self.plain_list && self.update_waiting(task, actions);
        }
        if !self.plain_list || ask.deadline.is_some() || waits_for_receive(ask) {
            return false;
        }
        actions.remove(taken);
        (!self.waited_for.is_some() || self.update_waiting(task, actions)) && !actions.is_empty()
    }

    /// Brings the actions of tasks other than `stepped` up to date that wait for the object that has changed.
    #[inline(never)]
    fn update_waiting(&self, stepped: TaskId, actions: &mut Vec<Action>) -> bool {
        for &task in &self.alive {
            let Some(ask) = &self.tasks[task.index()].asks else { continue };
            if ask.object != self.waited_for || task == stepped || ask.ready.is_none() {
                continue;
            }
            if ask.unseen || ask.mail.is_some() {
                return false;
            }
            let ready = self.is_ready(ask);
            let place = actions.iter().position(|action| action.task >= task).unwrap_or(actions.len());
            let listed = actions.get(place).is_some_and(|action| action.task == task);
            if ready && !listed {
                actions.insert(place, action(task, Variant::Ready, ask));
            } else if !ready && listed {
                if ask.deadline.is_some() || waits_for_receive(ask) {
                    return false;
                }
                actions.remove(place);
            }
        }
        true
    }

    /// Does what [`Self::update_actions`] does if nothing but mailboxes can have changed.
    #[inline]
    pub(crate) fn update_mail(&mut self, actions: &mut Vec<Action>) -> bool {
        let Some(taken) = self.taken else { return false };
        let task = actions[taken].task;
        let Some(own) = self.tasks[task.index()].asks.as_ref().and_then(|ask| ask.mail) else { return false };
        if self.stale || self.stalled > 0 || !self.plain_list || self.waited_for.is_some() {
            return false;
        }
        let mut changed = std::mem::take(&mut self.actors.changed);
        // The actions of the task before its step are still in the list, even if its mailbox has not changed.
        let before = actions[..taken].iter().rev().take_while(|a| a.task == task).count();
        let plain = self.list_mail(own, Some(taken - before), actions)
            && changed.iter().all(|&mail| mail == own || self.list_mail(mail, None, actions));
        changed.clear();
        self.actors.changed = changed;
        let done = plain && !actions.is_empty();
        debug_assert!(!done || self.is_up_to_date(actions), "raddle bug: mail was listed wrongly: {actions:?}");
        done
    }

    /// Whether the list equals a new one. For assertions.
    fn is_up_to_date(&mut self, actions: &[Action]) -> bool {
        let mut whole = Vec::new();
        self.list_actions(&mut whole);
        let key = |a: &Action| (a.task, a.variant, a.op.verb, a.object);
        actions.iter().map(key).eq(whole.iter().map(key))
    }

    /// Whether the counted actions are those that would be listed. For assertions.
    pub(crate) fn counted_as_listed(&mut self) -> bool {
        let mut whole = Vec::new();
        self.list_actions(&mut whole);
        let Mailboxes { mailboxes, supply, .. } = &self.actors;
        whole.len() == supply.total() as usize
            && (0..supply.total())
                .zip(&whole)
                .all(|(number, action)| mailboxes[supply.find(number).0].task == action.task)
    }

    /// Replaces the actions that receive from one mailbox. `place` is the index of the first of them, if the caller knows it. Returns false
    /// if the receiver has other actions as well.
    #[inline]
    fn list_mail(&mut self, mail: u32, place: Option<usize>, actions: &mut Vec<Action>) -> bool {
        let task = self.actors.mailboxes[mail as usize].task;
        let Some(ask) = &self.tasks[task.index()].asks else { return false };
        if ask.mail.is_none() {
            // The owner is in the middle of a handler and waits for something else. Its messages are listed when it receives again.
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

    /// The next operation of every task that has not ended, and whether it is enabled.
    pub(crate) fn pending(&self) -> Vec<Pending> {
        let pending = |&task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            let clock = if ask.deadline.is_some() { CLOCK } else { ObjectId::NONE };
            let context = self.contexts.as_ref().and_then(|contexts| contexts.of(task));
            Some(Pending { action: action(task, Variant::Ready, ask), ready: self.is_ready(ask), clock, context })
        };
        self.alive.iter().filter_map(pending).collect()
    }

    /// Lists the enabled actions, unless a task is stalled. Returns whether there are any.
    pub(crate) fn list_if_awake(&mut self, actions: &mut Vec<Action>) -> bool {
        if self.stalled > 0 {
            return false;
        }
        self.list_actions(actions);
        self.stale = actions.is_empty();
        !actions.is_empty()
    }

    /// Lists the enabled actions. The list is empty if no task can go on.
    pub(crate) fn list_actions(&mut self, actions: &mut Vec<Action>) {
        self.stale = false;
        self.taken = None;
        self.waited_for = ObjectId::NONE;
        self.plain_list = false;
        self.actors.changed.clear();
        actions.clear();
        let (mut timed, mut unproven) = (false, false);
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
                unproven |= waits_for_receive(ask);
            }
        }
        self.caveats.reduction_unproven |= unproven;
        if timed {
            self.list_timeouts(actions);
            self.caveats.reduction_unproven |= self.has_timeout_or_crash(actions);
            drop_if_only_crashes(actions);
        }
        // Tasks begin in the order of their numbers, so the list is sorted by task.
        self.plain_list = !timed && !actions.is_empty() && self.resting.is_none();
        self.list_quiet(actions);
        self.let_others_go_first(actions);
    }

    /// Removes the actions of a task that has taken too many steps in a row, if another task is enabled.
    fn let_others_go_first(&self, actions: &mut Vec<Action>) {
        if let Some(task) = self.resting
            && actions.iter().any(|a| a.task != task && a.variant == Variant::Ready)
        {
            actions.retain(|a| a.task != task);
        }
    }

    /// Does what [`Self::list_actions`] does if a task is stalled.
    #[cold]
    fn list_actions_slowly(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        let (mut timed, mut unproven) = (false, false);
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
            } else if is_ready(&self.objects, ask) {
                actions.push(action(task, Variant::Ready, ask));
            } else {
                timed |= ask.deadline.is_some();
                unproven |= waits_for_receive(ask);
            }
        }
        self.caveats.reduction_unproven |= unproven;
        if timed {
            if self.stalled > 0 && actions.is_empty() && self.move_clock_for_spinners() {
                return self.list_actions_slowly(actions);
            }
            self.list_timeouts(actions);
            self.caveats.reduction_unproven |= self.has_timeout_or_crash(actions);
        }
        if self.stalled > 0 && actions.is_empty() {
            self.let_stalled_go(actions);
        }
        drop_if_only_crashes(actions);
        self.list_quiet(actions);
        self.let_others_go_first(actions);
    }

    /// If no action is enabled, lists the operations that wait for exactly this. Not if an actor is blocked in the middle of a handler.
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

    /// Whether an actor may crash, or a timer of an actor may fire.
    fn has_timeout_or_crash(&self, actions: &[Action]) -> bool {
        let receives = |task: TaskId| self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.mail.is_some());
        let timeout_or_crash =
            |a: &Action| matches!(a.variant, Variant::Spurious | Variant::TimedOut) && receives(a.task);
        actions.iter().any(timeout_or_crash)
    }

    /// The earliest deadline of a task that is not stalled. The deadline of an enabled task counts as well until the task takes its step:
    /// the step that enables it does not access the clock, but its own step does.
    fn earliest_deadline(&self) -> Option<u64> {
        let deadline = |task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            if self.spins[task.index()].is_stalled() { None } else { ask.deadline }
        };
        self.alive.iter().filter_map(deadline).min()
    }

    /// Moves the clock if a task spins on it, but not beyond the earliest deadline. Returns whether it did.
    fn move_clock_for_spinners(&mut self) -> bool {
        let now = self.now();
        match self.earliest_deadline() {
            Some(earliest) if earliest > now && self.a_task_spins_on_the_clock() => {
                self.move_clock_up_to(earliest);
                true
            }
            _ => false,
        }
    }

    fn a_task_spins_on_the_clock(&self) -> bool {
        let watches = |task: &TaskId| {
            let spin = &self.spins[task.index()];
            spin.is_stalled() && spin.watched().any(|object| object == CLOCK)
        };
        self.alive.iter().any(watches)
    }

    /// Moves the clock although no timed wait ends. Moves it further each time, but not beyond `limit`.
    fn move_clock_up_to(&mut self, limit: u64) {
        self.move_clock(self.now().saturating_add(self.clock_stride).min(limit));
        self.clock_stride = self.clock_stride.saturating_mul(2);
    }

    /// Adds the timed waits that may time out. The clock moves no further than to the earliest deadline. A timed wait of a stalled task
    /// counts only if no other action is enabled and its deadline is before those of all tasks that are not stalled.
    fn list_timeouts(&mut self, actions: &mut Vec<Action>) {
        let hold_back = self.settings.timeouts == Timeouts::Late && !actions.is_empty();
        self.caveats.late_timeouts |= hold_back;
        // Here a timeout is enabled or not depending on what other tasks can do. Reduction is not proven for that.
        self.caveats.reduction_unproven |= hold_back;
        let awake = self.earliest_deadline();
        let nothing_else = actions.is_empty();
        let waits = |task: &TaskId| {
            let ask = self.tasks[task.index()].asks.as_ref()?;
            let comes_first = || nothing_else && ask.deadline.is_some_and(|deadline| Some(deadline) < awake);
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
        // The sort is stable and compares all messages as equal, so they stay in their order.
        let kind = |variant: Variant| if let Variant::Message(_) = variant { Variant::Message(0) } else { variant };
        actions.sort_by_key(|a| (a.task, kind(a.variant)));
    }

    /// Only stalled tasks are left, so one of them goes on: the one that has gone on least often. It makes no difference in which order
    /// tasks look at objects that do not change, so one choice is enough. If a task spins on the clock, the clock moves.
    fn let_stalled_go(&mut self, actions: &mut Vec<Action>) {
        if self.a_task_spins_on_the_clock() {
            self.move_clock_up_to(u64::MAX);
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
                spin.rounds_alone = 0;
                spin.changes_seen = changes;
            }
            hopeless &= spin.rounds_alone > MOST_ROUNDS_ALONE;
            let goes = self.spins[task.index()].rounds_alone;
            if next.is_none_or(|next| goes < self.spins[next.index()].rounds_alone) {
                next = Some(task);
            }
        }
        let Some(task) = next.filter(|_| !hopeless) else {
            self.livelock = hopeless;
            return;
        };
        self.spins[task.index()].rounds_alone += 1;
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

/// The sender of a rendezvous waits for its receive. Reduction is not proven for that.
fn waits_for_receive(ask: &Ask) -> bool {
    ask.op.class == Class::Send && ask.role != Role::Waits
}

/// Clears the list if it has only crashes. An execution does not go on only because an actor could still crash.
fn drop_if_only_crashes(actions: &mut Vec<Action>) {
    if actions.iter().all(|action| action.variant == Variant::Spurious) {
        actions.clear();
    }
}
