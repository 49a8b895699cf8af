//! Starting threads and joining them.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::Failure;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Newborn, here};
use crate::panics;
use crate::thread::handle::Thread;
use crate::thread::packet::{Packet, packet};
use crate::uncontrolled;

static SPAWN: Operation = Operation { verb: "spawn", class: Class::Spawn };
static FINISH: Operation = Operation { verb: "end", class: Class::Finish };
static EXIT: Operation = Operation { verb: "exit", class: Class::Finish };

/// Starts a thread, as [`std::thread::spawn`].
///
/// # Panics
///
/// If no thread can be started.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// A thread to be started, with a name or a stack of its own, as [`std::thread::Builder`].
#[derive(Debug, Default)]
pub struct Builder {
    pub(super) name: Option<String>,
    pub(super) stack_size: Option<usize>,
}

impl Builder {
    /// Makes a builder for a thread without a name and with a stack of the default size.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the thread. Reports use it.
    ///
    /// # Panics
    ///
    /// When the thread is started, if the name contains a null byte.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the size of its stack, in bytes.
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Outside an execution, if the system cannot start a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if !current::inside() {
            uncontrolled::note("thread::spawn", None);
            let handle = self.into_std().spawn(f)?;
            return Ok(JoinHandle(Joining::Std { thread: handle.thread().clone().into(), handle }));
        }
        let (packet, slot) = packet();
        let task = self.start(Box::new(move || run_task(move || leave(&slot, f))), here());
        Ok(JoinHandle(Joining::Task { thread: task, packet }))
    }

    pub(crate) fn into_std(self) -> std::thread::Builder {
        let builder = std::thread::Builder::new();
        let builder = self.name.into_iter().fold(builder, std::thread::Builder::name);
        self.stack_size.into_iter().fold(builder, std::thread::Builder::stack_size)
    }

    /// Creates the task. It runs to its first operation when its creator pauses.
    pub(crate) fn start(self, job: Box<dyn FnOnce()>, site: Site) -> Thread {
        assert!(
            self.name.as_ref().is_none_or(|n| !n.contains('\0')),
            "thread name may not contain interior null bytes"
        );
        let name: Option<Arc<str>> = self.name.as_deref().map(Arc::from);
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let stack_bytes = self.stack_size.unwrap_or(state.settings.stack_bytes).max(MIN_STACK_BYTES);
            let task = state.add_task(self.name);
            let end = state.tasks[task.index()].end;
            state.take_context(&execution.fiber);
            let ask = Ask { ordered: Ordered::RELEASE, ..Ask::new(&SPAWN, end, Effect::Change, site) };
            state.record(&ask, Variant::Ready, |moment| moment.found(u64::from(task.number())));
            state.newborn.push_back(Newborn { task, job, stack_bytes });
            Thread::of_task(state.number, task, name)
        })
        .expect("raddle bug: a task was started outside an execution")
    }
}

/// The smallest stack: in a debug build, the frames of an operation need it.
const MIN_STACK_BYTES: usize = 32 << 10;

/// Runs a thread's function and stores its result.
pub(super) fn leave<T>(slot: &Packet<T>, f: impl FnOnce() -> T) {
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    let unwinds = match &result {
        Err(payload) if !current::with(|e| e.isolates_panics()).unwrap_or(false) => {
            Some(Box::new(PanicText(panics::message(&**payload))) as Box<dyn Any + Send>)
        }
        _ => None,
    };
    slot.put(result);
    if let Some(payload) = unwinds {
        panic::resume_unwind(payload);
    }
}

/// The message of a panic in a thread's function. The payload itself is in the packet, for the join.
struct PanicText(String);

impl Execution {
    pub(super) fn isolates_panics(&self) -> bool {
        self.state.borrow().settings.isolate_panics
    }
}

/// Runs a task from its first instruction to its last.
///
/// A thread ends in two stages, as in `std`. First its function returns: from then on `is_finished` is true, and no scope waits for it. Then
/// its thread-local values are dropped: a join waits for that.
pub(crate) fn run_task(body: impl FnOnce()) {
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    if let Err(payload) = result {
        note_end_by_panic(payload);
    }
    let ended = current::with(|execution| {
        let (end, locals, has_locals, is_step) = {
            let mut state = execution.state.borrow_mut();
            let is_step = state.settings.facts.thread_ends && state.current != TaskId::MAIN && !state.over;
            let task = state.task();
            (task.end, !task.locals.are_none(), task.locals.have_destructors(), is_step)
        };
        let ask = Ask { ordered: Ordered::BOTH, ..Ask::new(&FINISH, end, Effect::Change, here()) };
        if is_step {
            execution.step(ask, |moment| *moment.word() = RETURNED);
        } else if has_locals {
            execution.step_unseen(ask, |moment| *moment.word() = RETURNED);
        }
        if locals {
            drop_locals();
        }
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        state.end_task(task);
        // A scope does not wait for the destructors of thread-local values, so it must not synchronise with them. They synchronise through
        // an object of their own, which only `join` reads.
        let exit = has_locals.then(|| state.next_message());
        state.tasks[task.index()].exit = exit;
        let ask = match (is_step || has_locals, exit) {
            (false, _) => ask,
            (true, None) => Ask { op: &EXIT, ..ask },
            (true, Some(_)) => Ask { op: &EXIT, ordered: Ordered::RELAXED, ..ask },
        };
        state.record(&ask, Variant::Ready, |moment| {
            *moment.word() = ENDED;
            if let Some(exit) = exit {
                moment.state.also_touch(exit, Effect::Change, Role::Alone, Ordered::RELEASE);
            }
        });
    });
    assert!(ended.is_some(), "raddle bug: a task ended outside an execution");
}

/// The word of a thread's end: its function has returned.
pub(super) const RETURNED: u64 = 1;
/// The word of a thread's end: its thread-local values are dropped as well.
pub(super) const ENDED: u64 = 2;

/// Drops the thread-local values of the current task. A destructor may make others, which are dropped next.
fn drop_locals() {
    while let Some(value) = current::with(|e| e.state.borrow_mut().task().locals.take()).flatten() {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| drop(value))) {
            note_end_by_panic(payload);
        }
    }
}

fn note_end_by_panic(payload: Box<dyn Any + Send>) {
    let failing = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        let noted = state.task().panics.pop();
        let said = match payload.downcast_ref::<PanicText>() {
            Some(PanicText(said)) => said.clone(),
            None => panics::message(&*payload),
        };
        // If the program has rethrown a payload, the panic hook was not called for it, or only for the first panic.
        let (message, place) = noted.filter(|(message, _)| *message == said).unwrap_or((said, None));
        if state.outcome.is_none() {
            state.outcome = Some(Failure::Panic { task, message, place }.into());
        }
    });
    assert!(failing.is_some(), "raddle bug: a task panicked outside an execution");
    // Dropping a payload may panic. The task has failed already, so that panic is ignored.
    if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// Waits for a thread's end, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(pub(super) Joining<T>);

pub(super) enum Joining<T> {
    Std { thread: Thread, handle: std::thread::JoinHandle<T> },
    Task { thread: Thread, packet: Packet<T> },
}

impl<T> JoinHandle<T> {
    /// A handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Joining::Std { thread, .. } | Joining::Task { thread, .. } => thread,
        }
    }

    /// Waits until the thread has ended and its thread-local values are dropped. Returns its result.
    ///
    /// # Errors
    ///
    /// If the thread panicked: its payload. Inside an execution a panic is a failure of the test, unless
    /// panics are isolated.
    ///
    /// # Panics
    ///
    /// If the thread belongs to an execution that is over.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Joining::Std { handle, .. } => handle.join(),
            Joining::Task { thread, packet } => {
                thread.wait_for_end(here());
                packet.take()
            }
        }
    }

    /// Whether the thread has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Joining::Std { handle, .. } => handle.is_finished(),
            Joining::Task { thread, .. } => thread.has_ended(here()),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
