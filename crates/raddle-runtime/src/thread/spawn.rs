//! Starting threads, waiting for their end, and handles to them.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::Failure;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Newborn, here};
use crate::panics;
use crate::thread::handle::Thread;
use crate::uncontrolled;

static SPAWN: Operation = Operation { verb: "spawn", class: Class::Spawn };
static FINISH: Operation = Operation { verb: "end", class: Class::Finish };
static EXIT: Operation = Operation { verb: "exit", class: Class::Finish };

/// What a thread leaves behind for whoever joins it.
pub(super) type Packet<T> = Arc<Mutex<Option<std::thread::Result<T>>>>;

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
    /// A thread without a name, with a stack of the usual size.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread; reports use the name.
    ///
    /// # Panics
    ///
    /// When the thread is started, if the name contains a null byte.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the size of its stack in bytes.
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

    /// Creates the task; it runs to its first operation as soon as its creator pauses.
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
            state.take_context(&execution.lane);
            let ask = Ask { ordered: Ordered::RELEASE, ..Ask::new(&SPAWN, end, Effect::Change, site) };
            state.record(&ask, Variant::Ready, |moment| moment.found(u64::from(task.number())));
            state.newborn.push_back(Newborn { task, job, stack_bytes });
            Thread::of_task(state.number, task, name)
        })
        .expect("raddle bug: a task was started outside an execution")
    }
}

/// Less than this and the frames of an operation would not fit in a debug build.
const MIN_STACK_BYTES: usize = 32 << 10;

pub(super) fn packet<T>() -> (Packet<T>, Packet<T>) {
    let packet: Packet<T> = Arc::default();
    (packet.clone(), packet)
}

/// Runs a thread's function and leaves its result.
pub(super) fn leave<T>(slot: &Packet<T>, f: impl FnOnce() -> T) {
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    let unwinds = match &result {
        Err(payload) if !current::with(|e| e.isolates_panics()).unwrap_or(false) => {
            Some(Box::new(Panicked(panics::message(&**payload))) as Box<dyn Any + Send>)
        }
        _ => None,
    };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    if let Some(payload) = unwinds {
        panic::resume_unwind(payload);
    }
}

/// A thread's function has panicked, and this is what it said; the payload itself is for whoever joins.
struct Panicked(String);

impl Execution {
    fn isolates_panics(&self) -> bool {
        self.state.borrow().settings.isolate_panics
    }
}

/// What each task runs from its first instruction to its last.
///
/// A thread ends twice, as those of `std` do. First its function has returned: from then on it is finished to those who ask, and no
/// scope waits for it. Then its thread-local values have been dropped: that is what whoever joins it waits for.
pub(crate) fn run_task(body: impl FnOnce()) {
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    if let Err(payload) = result {
        note_end_by_panic(payload);
    }
    let ended = current::with(|execution| {
        let (end, has_locals, is_step) = {
            let mut state = execution.state.borrow_mut();
            let is_step = state.settings.facts.thread_ends && state.current != TaskId::MAIN && !state.over;
            (state.task().end, state.task().locals.have_destructors(), is_step)
        };
        let ask = Ask { ordered: Ordered::BOTH, ..Ask::new(&FINISH, end, Effect::Change, here()) };
        if is_step {
            execution.step(ask, |moment| *moment.word() = RETURNED);
        } else if has_locals {
            execution.step_unseen(ask, |moment| *moment.word() = RETURNED);
        }
        drop_locals();
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        state.end_task(task);
        // A scope does not wait for destructors of thread-local values, so it must not learn here what they did: that is
        // published through an object of its own, which only `join` looks at.
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

/// The word of a thread's end: its function has returned; its thread-local values have been dropped.
pub(super) const RETURNED: u64 = 1;
pub(super) const ENDED: u64 = 2;

/// Dropping a thread-local value may use others, which are made anew and dropped in the next round.
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
        let said = match payload.downcast_ref::<Panicked>() {
            Some(Panicked(said)) => said.clone(),
            None => panics::message(&*payload),
        };
        // A payload rethrown by the program was noted by no hook, or by that of its first panic.
        let (message, place) = noted.filter(|(message, _)| *message == said).unwrap_or((said, None));
        if state.outcome.is_none() {
            state.outcome = Some(Failure::Panic { task, message, place }.into());
        }
    });
    assert!(failing.is_some(), "raddle bug: a task panicked outside an execution");
    // A payload may panic when it is dropped; the task has failed already.
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

    /// Waits for the thread to end, destructors of its thread-local values included, and returns what it left.
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
                let mut packet = packet.lock().unwrap_or_else(PoisonError::into_inner);
                packet.take().expect("raddle bug: a thread has ended and left nothing")
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
