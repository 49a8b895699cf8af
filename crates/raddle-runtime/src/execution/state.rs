//! The tables of the running execution.

use std::collections::VecDeque;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome, Waiting};
use raddle_engine::rng::Rng;
use raddle_engine::system::{Action, Pending, Variant};
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Step, Trace};

use crate::coroutine::Job;
use crate::coroutine::act::Act;
use crate::execution::object::{Kind, Object, word_as_number};
use crate::execution::spin::{Spin, Verdict};
use crate::execution::task::{Status, Task};
use crate::execution::{Ask, Moment, Progress};
use crate::sync::statics::Kept;
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
    /// By task; kept from one execution to the next, so there may be more of them than tasks.
    spins: Vec<Spin>,
    /// Those that have not ended, in order of creation.
    pub(crate) alive: Vec<TaskId>,
    pub(crate) objects: Vec<Object>,
    pub(crate) current: TaskId,
    pub(crate) newborn: VecDeque<Newborn>,
    /// Lent by the search while tasks run.
    pub(crate) trace: Trace,
    /// How many alternatives the next step to be recorded had.
    pub(crate) alternatives: u32,
    /// What others can do may be different since it was last listed.
    pub(crate) stale: bool,
    /// A task was created or has ended.
    pub(crate) unsettled: bool,
    /// Plain memory was touched, so that races are to be looked for.
    pub(crate) cells_touched: bool,
    /// Which object is held by whom, taken where.
    pub(crate) holds: Vec<(ObjectId, TaskId, Site)>,
    /// The current task has asked for one of so many values.
    pub(crate) data: Option<(u32, Site, &'static Operation)>,
    pub(crate) drawn: u32,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) tearing_down: bool,
    /// A task was left in the middle of a panic hook: this OS thread can panic no more.
    pub(crate) spoiled: bool,
    /// Tasks about to look again at something unchanged, to be [judged](Self::judge_spinning) once they are paused.
    pub(crate) looking_again: Vec<TaskId>,
    /// A task was taken to spin without proof, so orders may have been left out.
    pub(crate) left_out: bool,
    /// Changes made by anyone to anything.
    changes: u64,
    pub(crate) spurious_left: u32,
    /// How far the clock moves when somebody spins on it and nothing else can happen.
    clock_leap: u64,
    pub(crate) rng: Rng,
    pub(crate) drew_random: bool,
    /// Values of `static`s, which start afresh in each execution; `None` where one was taken out again.
    pub(crate) statics: Vec<Option<Kept>>,
}

static TASK_END: Kind = Kind { noun: "thread", show: word_as_number };
static TASK_SIGNAL: Kind = Kind { noun: "token", show: word_as_number };

impl Default for State {
    fn default() -> Self {
        Self {
            number: 0,
            settings: Settings::default(),
            tasks: Vec::new(),
            spins: Vec::new(),
            alive: Vec::new(),
            objects: Vec::new(),
            current: TaskId::MAIN,
            newborn: VecDeque::new(),
            trace: Trace::default(),
            alternatives: 0,
            stale: true,
            unsettled: false,
            cells_touched: false,
            holds: Vec::new(),
            data: None,
            drawn: 0,
            outcome: None,
            tearing_down: false,
            spoiled: false,
            looking_again: Vec::new(),
            left_out: false,
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
        self.alternatives = 0;
        self.stale = true;
        self.cells_touched = false;
        self.holds.clear();
        self.data = None;
        self.outcome = None;
        self.tearing_down = false;
        self.looking_again.clear();
        self.left_out = false;
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
        match self.spins.get_mut(task.index()) {
            Some(spin) => spin.begin(),
            None => self.spins.push(Spin::default()),
        }
        self.stale = true;
        self.unsettled = true;
        self.tasks.push(Task::new(self.current, ordinal, label, end, signal));
        self.alive.push(task);
        task
    }

    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.current.index()]
    }

    /// What the current task has looked at.
    pub(crate) fn spin(&mut self) -> &mut Spin {
        &mut self.spins[self.current.index()]
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
    #[inline(always)]
    pub(crate) fn ask(&mut self, ask: &Ask, act: Act) {
        let task = &mut self.tasks[self.current.index()];
        task.asks = Some(*ask);
        task.act = Some(act);
        if !ask.object.is_some() {
            return;
        }
        let object = &mut self.objects[ask.object.index()];
        object.awaited |= ask.ready.is_some();
        let looks = matches!(
            ask.op.class,
            Class::Read | Class::Update | Class::Acquire | Class::Send | Class::Receive | Class::Wait | Class::Time
        );
        if looks {
            let spin = &mut self.spins[self.current.index()];
            if spin.looks_again(ask.object, object.version, ask.site) {
                self.looking_again.push(self.current);
            }
        }
    }

    /// Decides whether a task that is about to look again at something unchanged spins; `digest` is that of its stack.
    #[cold]
    pub(crate) fn judge_spinning(&mut self, task: TaskId, digest: u64) {
        let spin = &mut self.spins[task.index()];
        match spin.judge(digest) {
            Verdict::GoesOn => return,
            Verdict::ComesRound => {}
            Verdict::Guessed => self.left_out = true,
        }
        for watched in spin.watched() {
            self.objects[watched.index()].awaited = true;
        }
    }

    /// Lets an operation take effect and keeps it as a step.
    #[inline(always)]
    pub(crate) fn record<R>(&mut self, ask: &Ask, variant: Variant, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let task = self.current;
        self.trace.push(Step {
            task,
            variant,
            op: ask.op,
            access: Access { object: ask.object, effect: ask.effect, role: role(ask, variant), ordered: ask.ordered },
            found: None,
            left: None,
            wants: None,
            site: ask.site,
            alternatives: std::mem::take(&mut self.alternatives),
            more: 0,
        });
        let progress = match ask.effect {
            Effect::Change if variant == Variant::Ready => Progress::Changed,
            _ => Progress::Looked,
        };
        let mut moment = Moment { state: self, object: ask.object, task, variant, progress };
        let result = act(&mut moment);
        let progress = moment.progress;
        if variant == Variant::TimedOut {
            self.trace.touch(Access {
                object: CLOCK,
                effect: Effect::Change,
                role: Role::Plain,
                ordered: Ordered::RELAXED,
            });
        }
        self.note_progress(ask, variant, progress);
        result
    }

    #[inline]
    fn note_progress(&mut self, ask: &Ask, variant: Variant, progress: Progress) {
        let spin = &mut self.spins[self.current.index()];
        if ask.object.is_some() {
            let object = &mut self.objects[ask.object.index()];
            match progress {
                Progress::Looked => spin.looked(ask.object, object.version, ask.site),
                Progress::Neutral => {}
                Progress::Changed => {
                    object.version += 1;
                    self.changes += 1;
                    spin.changed();
                }
            }
            // Operations of these kinds touch their object only; others may move whom they like.
            self.cells_touched |= ask.op.class == Class::Cell;
            let alone = matches!(ask.op.class, Class::Read | Class::Write | Class::Update | Class::Cell);
            self.stale |= object.awaited || !alone;
        }
        if variant != Variant::Ready || ask.op.class == Class::Yield {
            spin.hint();
        }
    }

    /// A task that needs no decision to go on.
    pub(crate) fn unseen_and_ready(&self) -> Option<TaskId> {
        let can =
            |task: &&TaskId| self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.unseen && self.is_ready(ask));
        self.alive.iter().find(can).copied()
    }

    /// What `task` does next, if that is all that can have changed since the actions were last listed.
    #[inline(always)]
    pub(crate) fn only_change(&self, task: TaskId) -> Option<Action> {
        let ask = self.tasks[task.index()].asks.as_ref()?;
        let simple = !self.stale && ask.ready.is_none() && !self.spins[task.index()].stalled;
        simple.then(|| action(task, Variant::Ready, ask))
    }

    /// Lists what can happen next, and says what it means if nothing can.
    pub(crate) fn list_actions(&mut self, actions: &mut Vec<Action>) {
        self.stale = false;
        actions.clear();
        let mut stalled = false;
        let mut timed = false;
        for at in 0..self.alive.len() {
            let task = self.alive[at];
            let Self { tasks, spins, objects, .. } = self;
            let Some(ask) = &tasks[task.index()].asks else { continue };
            let spin = &mut spins[task.index()];
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
            let ask = self.tasks[task.index()].asks.as_ref()?;
            if self.spins[task.index()].stalled || self.is_ready(ask) { None } else { ask.deadline }
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
            spin.stalled && spin.watched().any(|object| object == CLOCK)
        };
        self.alive.iter().any(watches)
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
            let ask = self.tasks[task.index()].asks.as_ref().filter(|ask| !self.is_ready(ask))?;
            let comes_first = || lull && ask.deadline.is_some_and(|deadline| Some(deadline) < awake);
            (!self.spins[task.index()].stalled || comes_first()).then_some((*task, ask))
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
        if self.somebody_watches_the_clock() {
            self.leap(u64::MAX);
        }
        let changes = self.changes;
        let mut all_fruitless = true;
        for &task in &self.alive {
            let spin = &mut self.spins[task.index()];
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

    /// A task was chosen to go on by one of its ways out: what it asked for takes effect.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self, task: TaskId, variant: Variant) {
        self.current = task;
        let chosen = &mut self.tasks[task.index()];
        let (Some(ask), Some(act)) = (chosen.asks.take(), chosen.act.take()) else {
            unreachable!("raddle bug: a task that asks for nothing was chosen");
        };
        if variant != Variant::Ready {
            self.stale = true;
            self.spins[task.index()].stalled = false;
            match variant {
                Variant::TimedOut => {
                    self.move_clock(ask.deadline.expect("raddle bug: a wait without a time timed out"))
                }
                Variant::Spurious => self.spurious_left -= 1,
                Variant::Ready | Variant::Message(_) => {}
            }
        }
        self.record(&ask, variant, |moment| act.call(moment));
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

    /// What every task that has not ended is about to do, and whether it can.
    pub(crate) fn pending(&self) -> Vec<Pending> {
        let asks = |&task: &TaskId| Some((task, self.tasks[task.index()].asks.as_ref()?));
        let ways_out = |(task, ask): (TaskId, &Ask)| {
            let ready = self.is_ready(ask);
            // While somebody else can go on, it might have woken for no reason.
            let spurious = (!ready && ask.spurious && self.spurious_left > 0).then_some((Variant::Spurious, false));
            let ways = std::iter::once((Variant::Ready, ready)).chain(spurious);
            ways.map(|(variant, ready)| Pending { action: action(task, variant, ask), ready }).collect::<Vec<_>>()
        };
        self.alive.iter().filter_map(asks).flat_map(ways_out).collect()
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
    let Ask { op, object, effect, site, .. } = *ask;
    Action { task, variant, op, object, effect, role: role(ask, variant), site }
}

/// A wait that ends by time or for no reason takes nothing that was given.
#[inline]
fn role(ask: &Ask, variant: Variant) -> Role {
    match variant {
        Variant::TimedOut | Variant::Spurious => Role::Plain,
        Variant::Ready | Variant::Message(_) => ask.role,
    }
}
