//! A program of threads as the engine sees it: the [`System`] that runs tasks from one operation to the next.
//!
//! One step is: the chosen task's operation takes effect and the task runs on to its next operation. Then everything that
//! needs no decision happens: new tasks run to their first operation, and tasks that waited for another's end go on. Nobody
//! else can notice when exactly that is, so no order is lost, and all threads a test starts with are there before the
//! first decision.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_engine::ids::TaskId;
use raddle_engine::order::Races;
use raddle_engine::outcome::{Cast, Failure, ObjectCard, Outcome, TaskCard, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Action, Choice, Point, Program, System, Variant};
use raddle_engine::trace::{Class, Effect, Trace};

use crate::coroutine::{Fiber, Job, Paused, Resumed, current};
pub use crate::execution::Settings;
use crate::execution::{Ask, Execution, Newborn, Status, Task};
use crate::{panics, thread};

/// A function that starts threads, to be executed again and again.
pub struct Threads {
    body: Arc<dyn Fn() + Send + Sync>,
    worker: Rc<Worker>,
}

/// What is kept between executions on one OS thread.
struct Worker {
    execution: Execution,
    /// Fibers that wait for a job.
    idle: RefCell<Vec<Fiber>>,
    /// Memory of earlier executions, for the next.
    spare: RefCell<Option<(Vec<Option<Fiber>>, Vec<Action>)>>,
    sound: Cell<bool>,
    numbers: Cell<(u64, u64)>,
}

/// Numbers of executions are drawn from the process-wide counter in lots of this size.
const NUMBER_LOT: u64 = 1 << 12;

/// Idle fibers kept beyond this many are given back to the system.
const MOST_IDLE: usize = 4_096;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

impl Threads {
    /// The program that `body` is, run as `settings` say. Executions stay on the OS thread that calls this.
    pub fn new(body: Arc<dyn Fn() + Send + Sync>, settings: &Settings) -> Self {
        panics::install();
        let execution = Execution::new();
        execution.state.borrow_mut().settings = settings.clone();
        let worker = Worker {
            execution,
            idle: RefCell::default(),
            spare: RefCell::default(),
            sound: Cell::new(true),
            numbers: Cell::new((0, 0)),
        };
        Self { body, worker: Rc::new(worker) }
    }
}

impl Worker {
    fn next_number(&self) -> u64 {
        let (mut next, mut end) = self.numbers.get();
        if next == end {
            next = NEXT_NUMBER.fetch_add(NUMBER_LOT, Ordering::Relaxed);
            end = next + NUMBER_LOT;
        }
        self.numbers.set((next + 1, end));
        next
    }

    fn fiber(&self, stack_bytes: usize) -> Result<Fiber, std::io::Error> {
        let mut idle = self.idle.borrow_mut();
        match idle.iter().rposition(|fiber| fiber.stack_bytes() == stack_bytes) {
            Some(at) => Ok(idle.swap_remove(at)),
            None => Fiber::new(stack_bytes),
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
        let worker = self.worker.clone();
        let (fibers, actions) = worker.spare.take().unwrap_or_default();
        let mut running = Running { worker, fibers, actions, outcome: None, races: None };
        let body = self.body.clone();
        let stack_bytes = {
            let mut state = running.worker.execution.state.borrow_mut();
            state.begin(running.worker.next_number(), seed);
            state.add_task(None);
            state.settings.stack_bytes
        };
        let job: Job = Box::new(move || thread::run_task(move || body()));
        let worker = running.worker.clone();
        current::enter(&worker.execution, || {
            running.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes });
            running.settle();
        });
        running.reach_point(1, trace);
        running
    }

    fn sound(&self) -> bool {
        self.worker.sound.get()
    }
}

/// One execution of a program of threads.
pub struct Running {
    worker: Rc<Worker>,
    /// By task; `None` for those that have ended.
    fibers: Vec<Option<Fiber>>,
    actions: Vec<Action>,
    outcome: Option<Outcome>,
    /// There from the first access to a cell on.
    races: Option<Box<Races>>,
}

impl Running {
    fn begin_task(&mut self, newborn: Newborn) {
        let Newborn { task, job, stack_bytes } = newborn;
        let fiber = match self.worker.fiber(stack_bytes) {
            Ok(fiber) => fiber,
            Err(error) => {
                let message = format!("raddle: no memory for a stack of {stack_bytes} bytes: {error}");
                self.outcome = Some(Failure::Panic { task, message, place: None }.into());
                return;
            }
        };
        self.fibers.resize_with(task.index() + 1, || None);
        self.fibers[task.index()] = Some(fiber);
        self.worker.execution.state.borrow_mut().tasks[task.index()].status = Status::Alive;
        self.resume(task, Some(job));
    }

    /// Runs a task to its next operation or its end.
    fn resume(&mut self, task: TaskId, job: Option<Job>) {
        let execution = &self.worker.execution;
        execution.state.borrow_mut().current = task;
        let fiber = self.fibers[task.index()].as_mut().expect("raddle bug: a task without a fiber was resumed");
        match fiber.resume(job, &execution.lane) {
            Resumed::Paused(Paused::Asking) => {}
            Resumed::Paused(Paused::Idle) => {
                self.worker.keep(self.fibers[task.index()].take().expect("resumed just now"));
            }
            Resumed::Overflowed => self.give_up_overflowed(task),
        }
    }

    /// The task's frames are gone without having been unwound: others may still point into its stack, so that is kept.
    fn give_up_overflowed(&mut self, task: TaskId) {
        let fiber = self.fibers[task.index()].take().expect("raddle bug: an overflow without a fiber");
        self.outcome = Some(Failure::StackOverflow { task, stack_bytes: fiber.stack_bytes() }.into());
        fiber.abandon();
        match self.worker.execution.state.try_borrow_mut() {
            Ok(mut state) => state.alive.retain(|&t| t != task),
            // It happened in the middle of an operation: the tables cannot be trusted any more.
            Err(_) => self.worker.sound.set(false),
        }
    }

    fn over(&self) -> bool {
        self.outcome.is_some() || self.worker.execution.state.borrow().over().is_some()
    }

    /// Lets everything happen that needs no decision.
    fn settle(&mut self) {
        while !self.over() {
            let mut state = self.worker.execution.state.borrow_mut();
            if let Some(newborn) = state.newborn.pop_front() {
                drop(state);
                self.begin_task(newborn);
            } else if let Some(task) = state.unseen_and_ready() {
                state.leave_wait(task, Variant::Ready);
                drop(state);
                self.resume(task, None);
            } else {
                return;
            }
        }
    }

    /// Hands the new steps over and finds out where the execution stands.
    fn reach_point(&mut self, alternatives: u32, trace: &mut Trace) {
        let Ok(mut state) = self.worker.execution.state.try_borrow_mut() else {
            return;
        };
        self.worker.sound.set(self.worker.sound.get() && !state.spoiled);
        let before = trace.len();
        state.hand_over(alternatives, trace);
        if trace.steps()[before..].iter().any(|step| step.op.class == Class::Cell) {
            let races = self.races.get_or_insert_default();
            if let Some(race) = races.follow(trace) {
                self.outcome.get_or_insert(race.into());
            }
        }
        if self.outcome.is_none() && state.over().is_none() && state.data.is_none() {
            state.list_actions(&mut self.actions);
            if self.actions.is_empty() && state.over().is_none() {
                self.outcome = Some(state.conclude());
            }
        }
        if self.outcome.is_none() {
            self.outcome = state.over().cloned();
        }
    }

    /// Unwinds what has not ended. Destructors run as they would; those that wait for each other are left behind.
    fn tear_down(&mut self) {
        let execution = &self.worker.execution;
        let newborn = {
            let Ok(mut state) = execution.state.try_borrow_mut() else {
                return self.leave_behind();
            };
            if state.alive.is_empty() && state.statics.is_empty() && state.newborn.is_empty() {
                return;
            }
            state.tearing_down = true;
            std::mem::take(&mut state.newborn)
        };
        for Newborn { task, job, stack_bytes } in newborn {
            // The job is not run, but what it captured is dropped, on a fiber because that may take operations.
            self.begin_task(Newborn { task, job: Box::new(move || thread::run_task(move || drop(job))), stack_bytes });
        }
        loop {
            let left = self.fibers.iter().flatten().count();
            for task in 0..self.fibers.len() {
                if self.fibers[task].is_some() && self.worker.sound.get() {
                    self.resume(TaskId::next_of(task), None);
                }
            }
            let still = self.fibers.iter().flatten().count();
            if still == 0 || still == left || !self.worker.sound.get() {
                break;
            }
        }
        self.leave_behind();
        self.drop_statics();
    }

    /// Values of `static`s belong to the execution; their destructors may take operations, so they run on a fiber.
    fn drop_statics(&mut self) {
        let statics = match self.worker.execution.state.try_borrow_mut() {
            Ok(mut state) if !state.statics.is_empty() => std::mem::take(&mut state.statics),
            _ => return,
        };
        let stack_bytes = self.worker.execution.state.borrow().settings.stack_bytes;
        let job: Job = Box::new(move || thread::run_task(move || drop(statics)));
        self.begin_task(Newborn { task: TaskId::MAIN, job, stack_bytes });
        self.leave_behind();
    }

    fn leave_behind(&mut self) {
        for fiber in self.fibers.iter_mut().filter_map(Option::take) {
            fiber.abandon();
        }
    }
}

impl System for Running {
    fn point(&self) -> Point<'_> {
        if let Some(outcome) = &self.outcome {
            return Point::End(outcome);
        }
        let state = self.worker.execution.state.borrow();
        match state.data {
            Some((choices, site, _)) => Point::Data { task: state.current, choices, site },
            None => Point::Actions(&self.actions),
        }
    }

    fn advance(&mut self, choice: Choice, trace: &mut Trace) {
        let alternatives = self.point().alternatives();
        let worker = self.worker.clone();
        let mut state = worker.execution.state.borrow_mut();
        let task = match state.data.take() {
            Some((_, site, op)) => {
                state.drawn = choice.0;
                let ask = Ask::new(op, raddle_engine::ids::ObjectId::NONE, Effect::Read, site);
                state.record(&ask, Variant::Ready, |moment| moment.found(u64::from(choice.0)));
                state.current
            }
            None => {
                let Action { task, variant, .. } = self.actions[choice.index()];
                state.leave_wait(task, variant);
                task
            }
        };
        drop(state);
        current::enter(&worker.execution, || {
            self.resume(task, None);
            self.settle();
        });
        self.reach_point(alternatives, trace);
    }

    fn task_name(&self, task: TaskId) -> TaskName {
        Task::name(&self.worker.execution.state.borrow().tasks, task)
    }

    fn cast(&self) -> Cast {
        let Ok(state) = self.worker.execution.state.try_borrow() else {
            return Cast::default();
        };
        let task = |(index, task): (usize, &Task)| TaskCard {
            name: Task::name(&state.tasks, TaskId::next_of(index)),
            label: task.label.clone(),
            finished: task.status == Status::Finished,
        };
        let object = |o: &crate::execution::Object| ObjectCard { noun: o.kind.noun, made: o.made, show: o.kind.show };
        Cast {
            tasks: state.tasks.iter().enumerate().map(task).collect(),
            objects: state.objects.iter().map(object).collect(),
        }
    }

    fn unfinished(&self) -> Vec<Waiting> {
        self.worker.execution.state.borrow().unfinished()
    }

    fn drew_random(&self) -> bool {
        self.worker.execution.state.try_borrow().is_ok_and(|state| state.drew_random)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let worker = self.worker.clone();
        if worker.sound.get() {
            current::enter(&worker.execution, || self.tear_down());
        } else {
            self.leave_behind();
        }
        let mut fibers = std::mem::take(&mut self.fibers);
        fibers.clear();
        worker.spare.replace(Some((fibers, std::mem::take(&mut self.actions))));
    }
}
