//! A litmus program as a program of the engine.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, ObjectInfo, Outcome, Participants, Place, TaskInfo, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{self, Action, Choice, Describe, Pending, Point, Snapshots, System, Variant};
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Step, Trace, Word};

use crate::compile::{Code, compile};
use crate::error::LitmusError;
use crate::state::{Fault, MessageName, State, Status};
use crate::syntax::{Litmus, Order, Verb};

/// A litmus program that can be executed.
#[derive(Clone, Debug)]
pub struct Program {
    code: Arc<Code>,
    file: Arc<str>,
}

impl Program {
    /// Checks the names in `litmus` and compiles it. Failures report `file` as their place.
    ///
    /// # Errors
    ///
    /// If a name is unknown, declared twice, or used as what it is not.
    pub fn new(litmus: &Litmus, file: &str) -> Result<Self, LitmusError> {
        Ok(Self { code: Arc::new(compile(litmus)?), file: file.into() })
    }

    /// An execution at its first point.
    #[must_use]
    pub fn begin(&self) -> Execution {
        let mut execution = Execution {
            code: Arc::clone(&self.code),
            file: Arc::clone(&self.file),
            state: State::new(&self.code),
            actions: Vec::new(),
            at: Stop::Actions,
        };
        execution.settle();
        execution
    }
}

impl system::Program for Program {
    type System = Execution;

    fn is_deterministic(&self) -> bool {
        true
    }

    fn start(&mut self, _: u64, _: &mut Trace) -> Execution {
        self.begin()
    }
}

/// An execution of a litmus program.
#[derive(Clone, Debug)]
pub struct Execution {
    code: Arc<Code>,
    file: Arc<str>,
    state: State,
    actions: Vec<Action>,
    at: Stop,
}

/// The kind of point at which the execution is paused.
#[derive(Clone, Debug)]
enum Stop {
    Actions,
    Data { thread: usize, choices: u32 },
    End(Outcome),
}

macro_rules! operations {
    ($($name:ident = $verb:literal, $class:ident;)*) => {
        $(static $name: Operation = Operation { verb: $verb, class: Class::$class };)*
    };
}

operations! {
    LOAD = "load", Read;
    STORE = "store", Write;
    CAS = "cas", Update;
    ADD = "add", Update;
    LOCK = "lock", Acquire;
    UNLOCK = "unlock", Release;
    TRYLOCK = "trylock", Acquire;
    SEND = "send", Send;
    RECV = "recv", Receive;
    CHOOSE = "choose", Choice;
}

fn operation(verb: Verb) -> &'static Operation {
    match verb {
        Verb::Load => &LOAD,
        Verb::Store => &STORE,
        Verb::Cas => &CAS,
        Verb::Add => &ADD,
        Verb::Lock => &LOCK,
        Verb::Unlock => &UNLOCK,
        Verb::TryLock => &TRYLOCK,
        Verb::Send => &SEND,
        Verb::Recv => &RECV,
        Verb::Choose => &CHOOSE,
    }
}

/// The engine's sites are places in Rust sources. A litmus file has none, so all steps share this one.
fn site() -> Site {
    Location::caller()
}

fn task(thread: usize) -> TaskId {
    TaskId::next_of(thread)
}

impl Execution {
    /// The state of the program.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Runs all threads to their next steps, and computes the enabled actions.
    fn settle(&mut self) {
        self.actions.clear();
        for thread in 0..self.state.threads.len() {
            self.state.run(&self.code, thread);
            if let Status::AtChoice(choices) = self.state.threads[thread].status {
                self.at = Stop::Data { thread, choices };
                return;
            }
        }
        for thread in 0..self.state.threads.len() {
            if self.state.threads[thread].status == Status::AtStep && self.state.enabled(&self.code, thread) {
                self.offer(thread);
            }
        }
        self.at = if self.actions.is_empty() { Stop::End(self.outcome()) } else { Stop::Actions };
    }

    /// Adds the actions of a thread.
    fn offer(&mut self, thread: usize) {
        let step = self.state.pending(&self.code, thread);
        let Access { object, effect, role, .. } = self.state.announced(&self.code, thread);
        let action = |variant| Action {
            task: task(thread),
            variant,
            op: operation(step.verb),
            object,
            effect,
            role,
            site: site(),
        };
        if self.chooses_message(thread) {
            let messages = self.state.deliverable(&self.code, thread);
            self.actions.extend(messages.into_iter().map(|name| action(Variant::Message(name.packed()))));
        } else {
            self.actions.push(action(Variant::Ready));
        }
    }

    /// True if the thread is at a `recv` that may take one of several messages.
    fn chooses_message(&self, thread: usize) -> bool {
        let step = self.state.pending(&self.code, thread);
        // All channels of an array have the same order.
        step.verb == Verb::Recv && self.code.channels[step.first as usize] != Order::Arrival
    }

    fn take(&mut self, action: Action, alternatives: u32, trace: &mut Trace) {
        let thread = action.task.index();
        let message = match action.variant {
            Variant::Message(packed) => Some(MessageName { sender: packed >> 16, number: packed & 0xffff }),
            _ => self.state.deliverable(&self.code, thread).first().copied(),
        };
        let taken = self.state.take(&self.code, thread, message);
        let word = |value: i64| Word(value.cast_unsigned());
        trace.push(Step {
            found: taken.found.map(word),
            left: taken.left.map(word),
            wants: taken.wants.map(word),
            ..Step::new((action.task, action.variant), action.op, taken.access, action.site, alternatives)
        });
        if let Some(more) = taken.more {
            trace.touch(more);
        }
    }

    /// The pending step of every thread that has not ended.
    fn waiting(&self) -> Vec<Waiting> {
        let waits = |thread: usize| {
            let verb = self.state.pending(&self.code, thread).verb;
            let holder = if verb == Verb::Lock { self.state.holder(&self.code, thread) } else { None };
            Waiting {
                task: task(thread),
                op: operation(verb),
                object: self.state.announced(&self.code, thread).object,
                site: site(),
                held_by: holder.map(|holder| (TaskId::new(holder), site())).into_iter().collect(),
            }
        };
        let at_step = |thread: &usize| self.state.threads[*thread].status == Status::AtStep;
        (0..self.state.threads.len()).filter(at_step).map(waits).collect()
    }

    fn choose(&mut self, thread: usize, choices: u32, value: u32, trace: &mut Trace) {
        self.state.chosen(thread, value);
        let (effect, role, ordered) = (Effect::Read, Role::Plain, Ordered::RELAXED);
        let access = Access { object: ObjectId::NONE, effect, role, ordered };
        trace.push(Step {
            found: Some(Word(u64::from(value))),
            ..Step::new((task(thread), Variant::Ready), &CHOOSE, access, site(), choices)
        });
    }

    fn outcome(&self) -> Outcome {
        let threads = || self.state.threads.iter().enumerate();
        if let Some((thread, fault)) = threads().find_map(|(thread, state)| Some((thread, state.fault?))) {
            let message = format!("{}: {}", self.code.threads[thread].label, fault.message(&self.code));
            return self.panic(thread, message, &fault);
        }
        if threads().any(|(_, state)| state.status != Status::Ended) {
            return Failure::Deadlock { waiting: self.waiting() }.into();
        }
        match self.state.check_finale(&self.code) {
            None => Outcome::Completed,
            Some(fault) => self.panic(0, format!("final: {}", fault.message(&self.code)), &fault),
        }
    }

    fn panic(&self, thread: usize, message: String, fault: &Fault) -> Outcome {
        let place = Place { file: self.file.to_string(), line: fault.at.line, column: fault.at.column };
        Failure::Panic { task: task(thread), message, place: Some(place) }.into()
    }
}

impl System for Execution {
    fn point(&self) -> Point<'_> {
        match &self.at {
            Stop::Actions => Point::Actions(&self.actions),
            Stop::Data { thread, choices } => Point::Data { task: task(*thread), choices: *choices, site: site() },
            Stop::End(outcome) => Point::End(outcome),
        }
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        match self.at {
            Stop::Actions => self.take(self.actions[choice.index()], self.actions.len() as u32, trace),
            Stop::Data { thread, choices } => self.choose(thread, choices, choice.0, trace),
            Stop::End(_) => panic!("raddle bug: an execution that has ended was to go on"),
        }
        self.settle();
    }

    fn describe(&self) -> &dyn Describe {
        self
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        Some(self)
    }
}

impl Describe for Execution {
    fn task_name(&self, task: TaskId) -> TaskName {
        TaskName(vec![task.number() + 1])
    }

    fn participants(&self) -> Participants {
        let tasks =
            self.state.threads.iter().zip(&self.code.threads).enumerate().map(|(thread, (state, code))| TaskInfo {
                name: self.task_name(task(thread)),
                label: Some(code.label.clone()),
                finished: state.status == Status::Ended,
            });
        let (cells, mutexes, fixed) = (self.code.cells.len(), self.code.mutexes as usize, self.code.fixed_objects());
        let sent = self.state.threads.iter().map(|state| state.sent as usize).max().unwrap_or(0);
        let objects = (0..fixed + sent * (self.code.threads.len() + 1)).map(|object| ObjectInfo {
            noun: match object {
                _ if object < cells => "shared variable",
                _ if object < cells + mutexes => "mutex",
                _ if object < fixed => "channel",
                _ => "message",
            },
            made: None,
            show: |word| word.0.cast_signed().to_string(),
        });
        Participants { tasks: tasks.collect(), objects: objects.collect(), ..Participants::default() }
    }

    fn unfinished(&self, _: &Trace) -> Vec<Waiting> {
        self.waiting()
    }

    fn pending(&self) -> Vec<Pending> {
        let waits = |thread: usize| {
            let Access { object, effect, role, .. } = self.state.announced(&self.code, thread);
            let op = operation(self.state.pending(&self.code, thread).verb);
            let action = Action { task: task(thread), variant: Variant::Ready, op, object, effect, role, site: site() };
            Pending { action, ready: self.state.enabled(&self.code, thread), clock: ObjectId::NONE, context: None }
        };
        let at_step = |thread: &usize| self.state.threads[*thread].status == Status::AtStep;
        (0..self.state.threads.len()).filter(at_step).map(waits).collect()
    }
}

impl Snapshots<Self> for Execution {
    fn fork(&self) -> Self {
        self.clone()
    }

    fn fingerprint(&self) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        self.state.hash(&mut hasher);
        Some(hasher.finish())
    }
}
