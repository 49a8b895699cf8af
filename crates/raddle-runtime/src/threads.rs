//! A program of threads as the engine sees it: the [`System`] that runs tasks from one operation to the next.
//!
//! In one step, the chosen task's operation takes effect and the task runs to its next operation. Then everything happens that needs no
//! decision: new tasks run to their first operation, and tasks that joined an ended task continue. No other task can observe when exactly
//! that happens, so no order is lost, and all threads that a test starts with exist before the first decision.

mod drawn;
mod finish;
mod lent;
mod maps_made;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use raddle_engine::caveats::Caveats;
use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Failure, ObjectInfo, Outcome, Participants, TaskInfo, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Action, Choice, Describe, Forward, Pending, Point, Program, System, Variant};
use raddle_engine::trace::{Site, Trace, Word};

use crate::addresses::Addresses;
use crate::coroutine::{Fiber, Job, Paused, Resumed, current};
use crate::execution::{Contexts, Execution, Newborn, State, Status, Task};
pub use crate::execution::{Facts, LeakedThreads, RunsOn, Settings, Spot, Timeouts};
use crate::uncontrolled::{StartedThreads, Use};
use crate::{crash, output, panics, thread};

/// A function that starts threads, to be executed again and again.
pub struct Threads {
    /// Counted twice, since counting is cheap only within the OS thread.
    body: Rc<Arc<dyn Fn() + Send + Sync>>,
    worker: Rc<Worker>,
    addresses: Addresses,
}

/// What one OS thread keeps between executions.
struct Worker {
    execution: Execution,
    /// Idle fibers.
    idle: RefCell<Vec<Fiber>>,
    /// Memory of earlier executions, for the next ones.
    spare: RefCell<Spare>,
    sound: Cell<bool>,
    numbers: Cell<(u64, u64)>,
    /// Detects threads that the program starts and that Raddle does not control.
    watching: Option<StartedThreads>,
    /// What executions have shown of the program that it was not told by its settings.
    learned: RefCell<Facts>,
    has_learned: Cell<bool>,
    /// For steps that are taken after the end of an execution.
    unseen: Cell<Option<Trace>>,
    /// How many executions were started.
    started: Cell<u64>,
}

/// Tables that are empty but have their memory.
#[derive(Default)]
struct Spare {
    fibers: Vec<Option<Fiber>>,
    actions: Vec<Action>,
}

/// Numbers of executions are drawn from the process-wide counter in blocks of this size.
const NUMBERS_AT_ONCE: u64 = 1 << 12;

/// The largest number of tasks of one execution. A program in which each task starts another one, without any operation, would never reach
/// a point.
const MOST_TASKS: u32 = 1 << 20;

/// The largest number of idle fibers. Further ones are freed.
const MOST_IDLE: usize = 4_096;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// Checks that the system has memory for a stack of this size.
///
/// # Errors
///
/// If the system has no memory for it.
pub fn try_stack(bytes: usize) -> std::io::Result<()> {
    Fiber::new(bytes).map(drop)
}

impl Threads {
    /// The program that `body` is, run as `settings` say. Executions stay on the OS thread that calls this.
    pub fn new(body: Arc<dyn Fn() + Send + Sync>, settings: &Settings) -> Self {
        panics::install();
        let execution = Execution::new();
        {
            let mut state = execution.state.borrow_mut();
            state.settings = settings.clone();
            state.contexts = (settings.context > 0).then(|| Box::new(Contexts::new(settings.context)));
        }
        let worker = Worker {
            execution,
            idle: RefCell::default(),
            spare: RefCell::default(),
            sound: Cell::new(true),
            numbers: Cell::new((0, 0)),
            watching: StartedThreads::begin(),
            learned: RefCell::default(),
            has_learned: Cell::new(false),
            unseen: Cell::default(),
            started: Cell::new(0),
        };
        Self { body: Rc::new(body), worker: Rc::new(worker), addresses: Addresses::default() }
    }

    /// What executions have shown of the program so far, including what it was told by its settings.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let mut facts = self.worker.execution.state.borrow().settings.facts.clone();
        facts.add(&self.worker.learned.borrow());
        facts
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.watching.as_ref().is_some_and(StartedThreads::has_threads) {
            let state = self.execution.state.get_mut();
            state.settings.uncontrolled.store(true, Ordering::Relaxed);
        }
    }
}

impl Worker {
    fn next_number(&self) -> u64 {
        let (mut next, mut end) = self.numbers.get();
        if next == end {
            next = NEXT_NUMBER.fetch_add(NUMBERS_AT_ONCE, Ordering::Relaxed);
            end = next + NUMBERS_AT_ONCE;
        }
        self.numbers.set((next + 1, end));
        next
    }

    /// Counts one more execution. Returns whether it is watched for hash maps of `std`.
    fn count_start(&self) -> bool {
        self.started.set(self.started.get() + 1);
        maps_made::is_watched(self.started.get())
    }

    fn fiber(&self, stack_bytes: usize) -> Result<Fiber, std::io::Error> {
        let mut idle = self.idle.borrow_mut();
        match idle.pop() {
            Some(fiber) if fiber.stack_bytes() == stack_bytes => return Ok(fiber),
            other => idle.extend(other),
        }
        match idle.iter().rposition(|fiber| fiber.stack_bytes() == stack_bytes) {
            Some(at) => Ok(idle.swap_remove(at)),
            None => Fiber::new(stack_bytes),
        }
    }

    /// Lends the trace to the execution while tasks run, or takes it back.
    #[inline(always)]
    fn lend(&self, trace: &mut Trace) {
        match self.execution.state.try_borrow_mut() {
            Ok(mut state) => std::mem::swap(trace, &mut state.trace),
            // A task was cut off in the middle of an operation, so the worker cannot be used any more.
            Err(_) => self.sound.set(false),
        }
    }

    fn keep(&self, fiber: Fiber) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < MOST_IDLE {
            idle.push(fiber);
        }
    }
}

impl Program for Threads {
    type System = Running;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> Running {
        let _inside = crash::inside(Some(trace));
        let worker = self.worker.clone();
        let Spare { fibers, actions } = worker.spare.take();
        let mut running = Running {
            worker: worker.clone(),
            fibers,
            actions,
            at: At::Action,
            parked: Vec::new(),
            was_run_on: false,
            notices_maps: worker.count_start(),
            made_maps: false,
        };
        let body = self.body.clone();
        worker.lend(trace);
        let mut state = worker.execution.state.borrow_mut();
        worker.execution.weak_orderings.set(false);
        let number = worker.next_number();
        if let Some(watching) = &worker.watching {
            watching.begin_execution(number);
        }
        state.begin(number, seed);
        state.most_tasks = MOST_TASKS as usize;
        state.add_task(None);
        let stack_bytes = state.settings.stack_bytes;
        drop(state);
        let job: Job = Box::new(move || thread::run_task(move || body()));
        current::enter(&worker.execution, || {
            running.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes });
            running.reach_point(&worker);
        });
        worker.lend(trace);
        running
    }

    fn is_outdated(&self) -> bool {
        self.worker.has_learned.get()
    }

    fn has_enough(&self) -> bool {
        let state = self.worker.execution.state.try_borrow();
        state.is_ok_and(|state| state.settings.abandoned.load(Ordering::Relaxed) >= state.settings.most_abandoned)
    }

    fn sound(&self) -> bool {
        self.worker.sound.get()
    }

    fn set_hash_seed(&mut self, seed: u64) {
        self.worker.execution.state.borrow_mut().settings.hash_seed = seed;
    }

    fn same_word(&self, first: Word, second: Word) -> bool {
        self.addresses.are_both(first.0, second.0)
    }
}

/// One execution of a program of threads.
pub struct Running {
    worker: Rc<Worker>,
    /// By task; `None` for those that have ended.
    fibers: Vec<Option<Fiber>>,
    /// What can happen next, where a task is to be chosen.
    actions: Vec<Action>,
    at: At,
    /// The own stacks of actors that are in the middle of handlers on others.
    parked: Vec<(TaskId, Fiber)>,
    /// The search has pruned this execution and run it on.
    was_run_on: bool,
    /// This execution is watched for hash maps of `std`.
    notices_maps: bool,
    /// It has made one.
    made_maps: bool,
}

/// What kind of point an execution has reached.
enum At {
    Action,
    /// Nothing can happen but that somebody receives; it is counted and not listed.
    Mail,
    Data {
        task: TaskId,
        choices: u32,
        site: Site,
    },
    End(Outcome),
}

impl Running {
    fn begin_task(&mut self, newborn: Newborn) {
        let Newborn { task, job, stack_bytes } = newborn;
        let mut fiber = match self.worker.fiber(stack_bytes) {
            Ok(fiber) => fiber,
            Err(error) => {
                let message = format!("raddle: no memory for a stack of {stack_bytes} bytes: {error}");
                self.end(Failure::Panic { task, message, place: None }.into());
                return;
            }
        };
        fiber.assign(job);
        while self.fibers.len() <= task.index() {
            self.fibers.push(None);
        }
        self.fibers[task.index()] = Some(fiber);
        self.worker.execution.state.borrow_mut().begin_task(task);
        self.resume(task);
    }

    /// Runs the current task to its next operation or its end.
    #[inline(always)]
    fn resume(&mut self, task: TaskId) {
        if self.notices_maps {
            return self.resume_and_notice_maps(task);
        }
        self.resume_fiber(task);
    }

    #[inline(always)]
    fn resume_fiber(&mut self, task: TaskId) {
        let fiber = self.fibers[task.index()].as_mut().expect("raddle bug: a task without a fiber was resumed");
        match fiber.resume(&self.worker.execution.fiber) {
            Resumed::Paused(Paused::Asking) => {}
            Resumed::Paused(Paused::Idle) => {
                self.worker.keep(self.fibers[task.index()].take().expect("resumed just now"));
                if !self.parked.is_empty() {
                    self.take_over(task);
                }
            }
            Resumed::CutOff => self.give_up(task),
        }
    }

    /// The task's frames are gone without having been unwound: others may still point into its stack, so that is kept.
    #[cold]
    fn give_up(&mut self, task: TaskId) {
        let fiber = self.fibers[task.index()].take().expect("raddle bug: a task was cut off without a fiber");
        if !self.worker.execution.aborting.replace(false) {
            self.end(Failure::StackOverflow { task, stack_bytes: fiber.stack_bytes() }.into());
        }
        fiber.abandon();
        match self.worker.execution.state.try_borrow_mut() {
            Ok(mut state) => state.alive.retain(|&t| t != task),
            // It happened in the middle of an operation: the tables cannot be trusted any more.
            Err(_) => self.worker.sound.set(false),
        }
    }

    /// The first end counts: what comes of it, such as a task left behind, is no news.
    fn end(&mut self, outcome: Outcome) {
        if !matches!(self.at, At::End(_)) {
            // What else happens where a thread is not under control says nothing.
            self.at = At::End(self.uncontrolled_use(&outcome).unwrap_or(outcome));
        }
    }

    /// What a thread has done that is not under control. Where tasks wait for ever, they may be waiting for such a thread.
    fn uncontrolled_use(&self, outcome: &Outcome) -> Option<Outcome> {
        let watching = self.worker.watching.as_ref()?;
        let waits = matches!(outcome.failure(), Some(Failure::Deadlock { .. } | Failure::Livelock { .. }));
        let Use { what, made, site } = if waits { watching.wait_for_use() } else { watching.take() }?;
        Some(Failure::Uncontrolled { what, made, site }.into())
    }

    /// Lets everything happen that needs no decision.
    #[cold]
    fn settle(&mut self) {
        while !matches!(self.at, At::End(_)) {
            let mut state = self.worker.execution.state.borrow_mut();
            // Who has asked for a value gets it before anything else happens.
            if state.outcome.is_some() || state.data.is_some() {
                return;
            }
            if let Some(newborn) = state.newborn.pop_front() {
                if state.tasks.len() > state.most_tasks {
                    let unfinished = state.unfinished(&state.trace);
                    state.newborn.push_front(newborn);
                    drop(state);
                    return self.end(Failure::TooManySteps { bound: MOST_TASKS, unfinished }.into());
                }
                drop(state);
                self.begin_task(newborn);
            } else if let Some(task) = state.unseen_and_ready() {
                state.take_effect(task, Variant::Ready);
                state.stale = true;
                drop(state);
                self.resume(task);
            } else {
                state.unsettled = false;
                return;
            }
        }
    }

    /// Finds out where the execution stands.
    #[inline(always)]
    fn reach_point(&mut self, worker: &Worker) {
        let Ok(mut state) = worker.execution.state.try_borrow_mut() else {
            return;
        };
        // Who has asked for a value gets it before anything else happens.
        if state.unsettled && state.data.is_none() {
            drop(state);
            self.settle();
            match worker.execution.state.try_borrow_mut() {
                Ok(settled) => state = settled,
                Err(_) => return,
            }
        }
        state.find_races();
        let calm = state.outcome.is_none() && state.data.is_none();
        if !calm || !state.update_actions_after_pause(&mut self.actions) && !state.update_mail(&mut self.actions) {
            self.look_around(&mut state);
        } else if matches!(self.at, At::Data { .. }) {
            // Tasks have run forward since the value was given.
            self.at = At::Action;
        }
    }

    #[inline(never)]
    fn look_around(&mut self, state: &mut State) {
        if state.spoiled {
            self.worker.sound.set(false);
        }
        if let Some(outcome) = state.outcome.take() {
            self.end(outcome);
        }
        if matches!(self.at, At::End(_)) {
            return;
        }
        if let Some((choices, site, _)) = state.data {
            self.at = At::Data { task: state.current, choices, site };
            return;
        }
        self.at = At::Action;
        state.list_actions(&mut self.actions);
        if self.actions.is_empty() {
            let outcome = state.outcome.take().unwrap_or_else(|| state.conclude());
            self.end(outcome);
        } else if state.begin_supply(&self.actions) {
            self.at = At::Mail;
        }
    }
}

impl System for Running {
    #[inline]
    fn point(&self) -> Point<'_> {
        match &self.at {
            At::Action | At::Mail => Point::Actions(&self.actions),
            At::Data { task, choices, site } => Point::Data { task: *task, choices: *choices, site },
            At::End(outcome) => Point::End(outcome),
        }
    }

    fn compute_enabled(&mut self) {
        if matches!(self.at, At::Mail) {
            self.list_mail();
        }
    }

    fn must_run_on(&mut self) -> bool {
        self.was_run_on = self.worker.sound.get();
        self.was_run_on
    }

    #[inline]
    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        let worker = self.worker.clone();
        let mut state = worker.execution.state.borrow_mut();
        // At the end of an execution, the trace that led there is the one to be told of.
        let _inside = crash::inside((!state.finishing).then_some(trace));
        std::mem::swap(trace, &mut state.trace);
        let task =
            if state.data.is_some() { state.take_value(choice) } else { state.take_action(choice, &self.actions) };
        drop(state);
        current::enter(&worker.execution, || {
            self.resume(task);
            self.reach_point(&worker);
        });
        worker.lend(trace);
    }

    fn caveats(&self) -> Caveats {
        let execution = &self.worker.execution;
        let caveats = execution.state.try_borrow().map_or_else(|_| Caveats::default(), |state| state.caveats());
        Caveats { weak_orderings: execution.weak_orderings.get(), std_hash_maps: self.made_maps, ..caveats }
    }

    fn describe(&self) -> &dyn Describe {
        self
    }

    fn forward(&mut self) -> Option<&mut dyn Forward> {
        Some(self)
    }
}

impl Describe for Running {
    fn task_name(&self, task: TaskId) -> TaskName {
        Task::name(&self.worker.execution.state.borrow().tasks, task)
    }

    fn participants(&self) -> Participants {
        let Ok(state) = self.worker.execution.state.try_borrow() else {
            return Participants::default();
        };
        let task = |(index, task): (usize, &Task)| TaskInfo {
            name: Task::name(&state.tasks, TaskId::next_of(index)),
            label: task.label.clone(),
            finished: task.status == Status::Finished,
        };
        let object = |o: &crate::execution::Object| ObjectInfo { noun: o.kind.noun, made: o.made, show: o.kind.show };
        Participants {
            tasks: state.tasks.iter().enumerate().map(task).collect(),
            objects: state.objects.iter().map(object).collect(),
            remarks: state.story.as_ref().map(|story| story.remarks.clone()).unwrap_or_default(),
        }
    }

    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting> {
        self.worker.execution.state.borrow().unfinished(so_far)
    }

    fn pending(&self) -> Vec<Pending> {
        self.worker.execution.state.try_borrow().map_or_else(|_| Vec::new(), |state| state.pending())
    }

    fn facts(&self) -> Vec<String> {
        self.worker.execution.state.try_borrow().map_or_else(|_| Vec::new(), |state| state.settings.facts.words())
    }

    fn hash_seed(&self) -> Option<u64> {
        let state = self.worker.execution.state.try_borrow().ok()?;
        state.made_hash_keys.then_some(state.settings.hash_seed)
    }
}

impl Forward for Running {
    fn run_forward(&mut self, choices: &mut ForwardChoices, trace: &mut Trace) {
        let _inside = crash::inside(Some(trace));
        let worker = self.worker.clone();
        worker.lend(trace);
        current::enter(&worker.execution, || self.draw_all(&worker, choices));
        worker.lend(trace);
    }

    fn records_steps(&self) -> bool {
        true
    }

    fn needs_recorded_steps(&self) -> bool {
        self.worker.execution.state.try_borrow().is_ok_and(|state| state.cells_touched)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _inside = crash::inside(None);
        let worker = self.worker.clone();
        if let Ok(state) = worker.execution.state.try_borrow()
            && let Some(shown) = state.new_facts()
        {
            worker.has_learned.set(worker.learned.borrow_mut().add(&shown) || worker.has_learned.get());
            state.settings.learned.lock().unwrap_or_else(PoisonError::into_inner).add(&shown);
        }
        if worker.sound.get() {
            self.finish();
        } else {
            self.forget_values();
        }
        output::flush_if_written();
        if std::thread::panicking() {
            // A task was abandoned in the middle of unwinding, and the OS thread counts as panicking from now on.
            worker.sound.set(false);
        }
        let mut fibers = std::mem::take(&mut self.fibers);
        for slot in &mut fibers {
            if let Some(fiber) = slot.take() {
                fiber.abandon();
            }
        }
        fibers.clear();
        for (_, fiber) in self.parked.drain(..) {
            fiber.abandon();
        }
        worker.spare.replace(Spare { fibers, actions: std::mem::take(&mut self.actions) });
    }
}
