//! The tables of the running execution.

use std::collections::VecDeque;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome, Waiting};
use raddle_engine::rng::Rng;
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Site, Step, Trace};

use crate::coroutine::{Job, Lane};
use crate::execution::object::{Kind, Object, word_as_number};
use crate::execution::task::{Status, Task};
use crate::execution::{Ask, Moment, Progress};
use crate::time::CLOCK;

/// How programs are to be run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stack of each task, where the program does not say otherwise.
    pub stack_bytes: usize,
    /// How many waits of one execution may end for no reason.
    pub spurious: u32,
    /// Whether a panic that ends a spawned thread is left to whoever joins it.
    pub isolate_panics: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { stack_bytes: 2 << 20, spurious: 1, isolate_panics: false }
    }
}

/// A task that has been created and not yet begun.
pub(crate) struct Newborn {
    pub(crate) task: TaskId,
    pub(crate) job: Job,
    pub(crate) stack_bytes: usize,
}

/// Rounds that tasks may spin with nobody else able to go on, before that is called a livelock.
const MOST_FRUITLESS: u32 = 200;

/// Everything an execution is, but for its stacks.
pub(crate) struct State {
    /// No two executions of a process have the same.
    pub(crate) number: u64,
    pub(crate) settings: Settings,
    pub(crate) tasks: Vec<Task>,
    /// Those that have not ended, in order of creation.
    pub(crate) alive: Vec<TaskId>,
    pub(crate) objects: Vec<Object>,
    pub(crate) current: TaskId,
    pub(crate) newborn: VecDeque<Newborn>,
    /// Steps that the trace does not have yet; `more` counts the further accesses of each in `touched`.
    fresh: Vec<Step>,
    pub(crate) touched: Vec<Access>,
    /// Which object is held by whom, taken where.
    pub(crate) holds: Vec<(ObjectId, TaskId, Site)>,
    /// The current task has asked for one of so many values.
    pub(crate) data: Option<(u32, Site, &'static Operation)>,
    pub(crate) drawn: u32,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) tearing_down: bool,
    /// A task was left in the middle of a panic hook: this OS thread can panic no more.
    pub(crate) spoiled: bool,
    /// Changes made by anyone to anything.
    changes: u64,
    spurious_left: u32,
    /// How far the clock moves when somebody spins on it and nothing else can happen.
    clock_leap: u64,
    pub(crate) rng: Rng,
    pub(crate) drew_random: bool,
    /// Values of `static`s, which start afresh in each execution.
    pub(crate) statics: Vec<Box<dyn std::any::Any>>,
}

static TASK_END: Kind = Kind { noun: "thread", show: word_as_number };
static TASK_SIGNAL: Kind = Kind { noun: "token", show: word_as_number };

impl Default for State {
    fn default() -> Self {
        Self {
            number: 0,
            settings: Settings::default(),
            tasks: Vec::new(),
            alive: Vec::new(),
            objects: Vec::new(),
            current: TaskId::MAIN,
            newborn: VecDeque::new(),
            fresh: Vec::new(),
            touched: Vec::new(),
            holds: Vec::new(),
            data: None,
            drawn: 0,
            outcome: None,
            tearing_down: false,
            spoiled: false,
            changes: 0,
            spurious_left: 0,
            clock_leap: 1,
            rng: Rng::new(0),
            drew_random: false,
            statics: Vec::new(),
        }
    }
}

impl State {
    /// As before the first step of an execution, keeping the memory of the tables.
    pub(crate) fn begin(&mut self, number: u64, seed: u64) {
        self.number = number;
        self.tasks.clear();
        self.alive.clear();
        self.objects.clear();
        self.current = TaskId::MAIN;
        self.newborn.clear();
        self.fresh.clear();
        self.touched.clear();
        self.holds.clear();
        self.data = None;
        self.outcome = None;
        self.tearing_down = false;
        self.changes = 0;
        self.spurious_left = self.settings.spurious;
        self.clock_leap = 1_000_000;
        self.rng = Rng::new(seed);
        self.drew_random = false;
        let clock = self.add_object(&crate::time::CLOCK_KIND, 0);
        assert_eq!(clock, CLOCK, "raddle bug: the clock is not the first object");
    }

    /// Adds an object that belongs to no value of the user's.
    pub(crate) fn add_object(&mut self, kind: &'static Kind, word: u64) -> ObjectId {
        self.objects.push(Object::of_the_runtime(kind, word));
        ObjectId::next_of(self.objects.len() - 1)
    }

    /// Adds a task, created by the current one.
    pub(crate) fn add_task(&mut self, label: Option<String>) -> TaskId {
        let task = TaskId::next_of(self.tasks.len());
        let ordinal = match self.tasks.get_mut(self.current.index()) {
            Some(parent) => {
                parent.children += 1;
                parent.children
            }
            None => 0,
        };
        let end = self.add_object(&TASK_END, 0);
        let signal = self.add_object(&TASK_SIGNAL, 0);
        self.tasks.push(Task::new(self.current, ordinal, label, end, signal));
        self.alive.push(task);
        task
    }

    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.current.index()]
    }

    pub(crate) fn now(&self) -> u64 {
        self.objects[CLOCK.index()].word
    }

    pub(crate) fn release(&mut self, object: ObjectId, task: TaskId) {
        if let Some(at) = self.holds.iter().rposition(|&(o, t, _)| o == object && t == task) {
            self.holds.swap_remove(at);
        }
    }

    #[inline]
    pub(crate) fn is_ready(&self, ask: &Ask) -> bool {
        ask.ready.is_none_or(|ready| ready(self.objects[ask.object.index()].word, ask.key))
    }

    /// The current task wants to do something and is about to hand control back.
    #[inline]
    pub(crate) fn ask(&mut self, ask: &Ask, lane: &Lane) {
        let task = &mut self.tasks[self.current.index()];
        task.asks = Some(*ask);
        match ask.op.class {
            Class::Read
            | Class::Update
            | Class::Acquire
            | Class::Send
            | Class::Receive
            | Class::Wait
            | Class::Time
                if ask.object.is_some() =>
            {
                let version = self.objects[ask.object.index()].version;
                task.spin.about_to_look(ask.object, version, ask.site, || lane.digest());
            }
            _ => {}
        }
    }

    /// Lets an operation take effect and keeps it as a step.
    #[inline]
    pub(crate) fn record<R>(&mut self, ask: &Ask, variant: Variant, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let access = Access { object: ask.object, effect: ask.effect, ordered: ask.ordered };
        let mut step = Step {
            task: self.current,
            variant,
            op: ask.op,
            access,
            found: None,
            left: None,
            site: ask.site,
            alternatives: 1,
            more: 0,
        };
        let touched = self.touched.len();
        let progress = match ask.effect {
            _ if variant != Variant::Ready => Progress::Looked,
            Effect::Read => Progress::Looked,
            Effect::Change => Progress::Changed,
        };
        let mut moment = Moment { state: self, step: &mut step, progress };
        let result = act(&mut moment);
        let progress = moment.progress;
        if variant == Variant::TimedOut {
            self.touched.push(Access { object: CLOCK, effect: Effect::Change, ordered: Ordered::RELAXED });
        }
        step.more = (self.touched.len() - touched) as u32;
        self.note_progress(&step, progress);
        self.fresh.push(step);
        result
    }

    #[inline]
    fn note_progress(&mut self, step: &Step, progress: Progress) {
        let spin = &mut self.tasks[step.task.index()].spin;
        if step.access.object.is_some() {
            let version = &mut self.objects[step.access.object.index()].version;
            match progress {
                Progress::Looked => spin.looked(step.access.object, *version, step.site),
                Progress::Neutral => {}
                Progress::Changed => {
                    *version += 1;
                    self.changes += 1;
                    spin.changed();
                }
            }
        }
        if step.variant != Variant::Ready || step.op.class == Class::Yield {
            spin.hint();
        }
    }

    /// Moves what happened into the trace; the first of these steps was one of `alternatives`.
    pub(crate) fn hand_over(&mut self, alternatives: u32, trace: &mut Trace) {
        let mut touched = self.touched.drain(..);
        for (i, mut step) in self.fresh.drain(..).enumerate() {
            let more = step.more as usize;
            if i == 0 {
                step.alternatives = alternatives;
            }
            trace.push(step);
            for access in touched.by_ref().take(more) {
                trace.touch(access);
            }
        }
    }

    /// A task that needs no decision to go on.
    pub(crate) fn unseen_and_ready(&self) -> Option<TaskId> {
        let can = |task: &&TaskId| {
            self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.unseen && self.is_ready(ask))
        };
        self.alive.iter().find(can).copied()
    }

    /// Lists what can happen next, and says what it means if nothing can.
    pub(crate) fn list_actions(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        let mut stalled = false;
        let mut timed = false;
        for at in 0..self.alive.len() {
            let task = self.alive[at];
            let Self { tasks, objects, .. } = self;
            let Task { asks, spin, .. } = &mut tasks[task.index()];
            let Some(ask) = asks else { continue };
            if spin.stalled {
                if spin.sees_change(|object| objects[object.index()].version) {
                    spin.stalled = false;
                } else {
                    stalled = true;
                    continue;
                }
            }
            let ready = ask.ready.is_none_or(|ready| ready(objects[ask.object.index()].word, ask.key));
            if ready {
                actions.push(action(task, Variant::Ready, ask));
            } else if ask.deadline.is_some() || ask.spurious {
                timed = true;
            }
        }
        if timed {
            if stalled && actions.is_empty() && self.creep() {
                return self.list_actions(actions);
            }
            self.list_other_ways_out(actions);
        }
        if stalled && actions.iter().all(|a| a.variant == Variant::Spurious) {
            self.let_stalled_go(actions);
        }
        if actions.iter().all(|a| a.variant == Variant::Spurious) {
            actions.clear();
        }
    }

    /// The earliest time that anybody waits for who is not stalled.
    fn earliest_deadline(&self) -> Option<u64> {
        let deadline = |task: &TaskId| {
            let Task { asks, spin, .. } = &self.tasks[task.index()];
            let ask = asks.as_ref().filter(|ask| !spin.stalled && !self.is_ready(ask))?;
            ask.deadline
        };
        self.alive.iter().filter_map(deadline).min()
    }

    /// Time passes for those who do nothing but watch the clock, but not beyond what others wait for. Says whether it did.
    fn creep(&mut self) -> bool {
        let watched = |task: &TaskId| {
            let spin = &self.tasks[task.index()].spin;
            spin.stalled && spin.watches(CLOCK)
        };
        let now = self.now();
        match self.earliest_deadline() {
            Some(earliest) if earliest > now && self.alive.iter().any(watched) => {
                self.leap(earliest);
                true
            }
            _ => false,
        }
    }

    /// Moves the clock by itself, further each time, but not beyond `limit`.
    fn leap(&mut self, limit: u64) {
        self.move_clock(self.now().saturating_add(self.clock_leap).min(limit));
        self.clock_leap = self.clock_leap.saturating_mul(2);
    }

    /// Waits that end by time or for no reason. Time passes no further than to the earliest time anybody waits for. One who
    /// is stalled in a wait with a time is left alone, but if nothing but time can pass, it does not pass him by.
    fn list_other_ways_out(&self, actions: &mut Vec<Action>) {
        let awake = self.earliest_deadline();
        let lull = actions.is_empty();
        let waits = |task: &TaskId| {
            let Task { asks, spin, .. } = &self.tasks[task.index()];
            let ask = asks.as_ref().filter(|ask| !self.is_ready(ask))?;
            let comes_first = || lull && ask.deadline.is_some_and(|deadline| Some(deadline) < awake);
            (!spin.stalled || comes_first()).then_some((*task, ask))
        };
        let earliest = self.alive.iter().filter_map(waits).filter_map(|(_, ask)| ask.deadline).min();
        let horizon = earliest.unwrap_or(0).max(self.now());
        for (task, ask) in self.alive.iter().filter_map(waits) {
            if ask.deadline.is_some_and(|deadline| deadline <= horizon) {
                actions.push(action(task, Variant::TimedOut, ask));
            }
            if ask.spurious && self.spurious_left > 0 {
                actions.push(action(task, Variant::Spurious, ask));
            }
        }
        actions.sort_by_key(|a| (a.task, a.variant));
    }

    /// Nobody but stalled tasks can go on, so they may. Those who watch the clock see it move.
    fn let_stalled_go(&mut self, actions: &mut Vec<Action>) {
        let on_clock = |task: &TaskId| {
            let spin = &self.tasks[task.index()].spin;
            spin.stalled && spin.watches(CLOCK)
        };
        if self.alive.iter().any(on_clock) {
            self.leap(u64::MAX);
        }
        let changes = self.changes;
        let mut all_fruitless = true;
        for &task in &self.alive {
            let spin = &mut self.tasks[task.index()].spin;
            if spin.stalled {
                spin.fruitless = if spin.changes_seen == changes { spin.fruitless + 1 } else { 0 };
                spin.changes_seen = changes;
                spin.stalled = false;
                all_fruitless &= spin.fruitless > MOST_FRUITLESS;
            }
        }
        if all_fruitless {
            let spinning = self.unfinished();
            self.outcome = Some(Failure::Livelock { spinning }.into());
            return;
        }
        actions.clear();
        for &task in &self.alive {
            if let Some(ask) = self.tasks[task.index()].asks.as_ref().filter(|ask| self.is_ready(ask)) {
                actions.push(action(task, Variant::Ready, ask));
            }
        }
        self.list_other_ways_out(actions);
    }

    /// A way out of a wait was chosen: what else that brings.
    pub(crate) fn leave_wait(&mut self, task: TaskId, variant: Variant) {
        let asks = self.tasks[task.index()].asks.take();
        self.tasks[task.index()].resumed_by = variant;
        self.tasks[task.index()].spin.stalled = false;
        match variant {
            Variant::Ready => {}
            Variant::TimedOut => {
                let deadline = asks.and_then(|ask| ask.deadline).expect("raddle bug: a wait without a time timed out");
                self.move_clock(deadline);
            }
            Variant::Spurious => self.spurious_left -= 1,
        }
    }

    fn move_clock(&mut self, to: u64) {
        let clock = &mut self.objects[CLOCK.index()];
        if to > clock.word {
            clock.word = to;
            clock.version += 1;
        }
    }

    /// How the execution ended, given that nothing can happen any more. After `main` has ended, tasks that wait to be given
    /// something are left behind as they are when a process ends; tasks that wait for one another are not.
    pub(crate) fn conclude(&self) -> Outcome {
        let main_ended = self.tasks[TaskId::MAIN.index()].status == Status::Finished;
        let stuck = |task: &TaskId| {
            let asks = self.tasks[task.index()].asks.as_ref();
            asks.is_none_or(|ask| matches!(ask.op.class, Class::Acquire | Class::Join | Class::Send))
        };
        if self.alive.is_empty() || main_ended && !self.alive.iter().any(stuck) {
            return Outcome::Completed;
        }
        Failure::Deadlock { waiting: self.unfinished() }.into()
    }

    /// What every task that has not ended is about to do.
    pub(crate) fn unfinished(&self) -> Vec<Waiting> {
        let waiting = |&task: &TaskId| {
            let ask = self.tasks[task.index()].asks?;
            let mut held_by: Vec<_> = self.holds.iter().filter(|h| h.0 == ask.object).map(|h| (h.1, h.2)).collect();
            if ask.op.class == Class::Join {
                let ends = |t: &&TaskId| self.tasks[t.index()].end == ask.object;
                held_by.extend(self.alive.iter().find(ends).map(|&t| (t, ask.site)));
            }
            Some(Waiting { task, op: ask.op, object: ask.object, site: ask.site, held_by })
        };
        self.alive.iter().filter_map(waiting).collect()
    }
}

fn action(task: TaskId, variant: Variant, ask: &Ask) -> Action {
    Action { task, variant, op: ask.op, object: ask.object, effect: ask.effect, site: ask.site }
}
