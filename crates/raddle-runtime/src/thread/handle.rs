//! Handles to threads: their identity, whether they have ended, and how to wake them.

use std::fmt;
use std::sync::Arc;

use raddle_engine::ids::TaskId;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, here};
use crate::thread::park;
use crate::thread::spawn::{ENDED, RETURNED};
use crate::uncontrolled;

static JOIN: Operation = Operation { verb: "join", class: Class::Join };
static IS_FINISHED: Operation = Operation { verb: "is_finished", class: Class::Read };

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    id: ThreadId,
    name: Option<Arc<str>>,
    /// The handle of `std`, for an OS thread.
    std: Option<std::thread::Thread>,
}

/// Identifies a thread of the process, as [`std::thread::ThreadId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Identity);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Identity {
    Std(std::thread::ThreadId),
    Task { execution: u64, task: TaskId },
}

impl From<std::thread::Thread> for Thread {
    fn from(std: std::thread::Thread) -> Self {
        Self { id: ThreadId(Identity::Std(std.id())), name: std.name().map(Arc::from), std: Some(std) }
    }
}

impl Thread {
    pub(super) fn of_task(execution: u64, task: TaskId, name: Option<Arc<str>>) -> Self {
        Self { id: ThreadId(Identity::Task { execution, task }), name, std: None }
    }

    /// The task of the thread. The thread must be one of an execution.
    pub(crate) fn task(&self) -> TaskId {
        match self.id.0 {
            Identity::Task { task, .. } => task,
            Identity::Std(_) => panic!("raddle bug: an OS thread is used as a task"),
        }
    }

    /// The identity of the thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Its name, if it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Wakes the thread if it is parked. Otherwise its next call of `park` returns at once.
    ///
    /// # Panics
    ///
    /// If it belongs to another execution.
    #[track_caller]
    pub fn unpark(&self) {
        let site = here();
        match &self.std {
            Some(thread) => thread.unpark(),
            None => self.in_its_execution(|execution, task| park::unpark(execution, task, site)),
        }
    }

    /// Waits until the thread has ended and its thread-local values are dropped.
    pub(super) fn wait_for_end(&self, site: Site) {
        self.in_its_execution(|execution, task| {
            execution.step(join(execution, task, ENDED, site), |moment| {
                if let Some(exit) = moment.state.tasks[task.index()].exit {
                    moment.state.also_touch(exit, Effect::Read, Role::Alone, Ordered::ACQUIRE);
                }
            });
        });
    }

    /// Waits until its function has returned.
    pub(crate) fn wait_for_return(&self, site: Site) {
        self.in_its_execution(|execution, task| execution.step(join(execution, task, RETURNED, site), |_| ()));
    }

    pub(super) fn has_ended(&self, site: Site) -> bool {
        self.in_its_execution(|execution, task| {
            let end = execution.state.borrow().tasks[task.index()].end;
            // As in `std`, `is_finished` does not synchronise with the thread. Only a join does.
            let ask = Ask::new(&IS_FINISHED, end, Effect::Read, site);
            execution.step(ask, |moment| {
                let finished = *moment.word() >= RETURNED;
                moment.found(u64::from(finished));
                moment.state.looked_at_thread_end = true;
                finished
            })
        })
    }

    #[track_caller]
    fn in_its_execution<R>(&self, body: impl FnOnce(&Execution, TaskId) -> R) -> R {
        let Identity::Task { execution: number, task } = self.id.0 else {
            unreachable!("raddle bug: an OS thread is used as a task");
        };
        let result = current::with(|execution| {
            let same = execution.state.borrow().number == number;
            same.then(|| body(execution, task))
        });
        if result.is_none() {
            uncontrolled::note("a thread of the test", None);
        }
        result.flatten().unwrap_or_else(|| {
            uncontrolled::panic_out_of_place(
                "raddle: this thread belongs to an execution that is over, or to another test's",
            )
        })
    }
}

/// The operation that waits until `task` has reached the stage `how_far`.
fn join(execution: &Execution, task: TaskId, how_far: u64, site: Site) -> Ask {
    let end = execution.state.borrow().tasks[task.index()].end;
    let ready: fn(u64, u64) -> bool = |word, how_far| word >= how_far;
    let ask = Ask::new(&JOIN, end, Effect::Read, site);
    Ask { ordered: Ordered::ACQUIRE, ready: Some(ready), key: how_far, unseen: true, ..ask }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A handle to the thread that calls this.
#[must_use]
pub fn current() -> Thread {
    let task = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        let label = if state.current == TaskId::MAIN {
            Some("main".into())
        } else {
            state.task().label.as_deref().map(Arc::from)
        };
        Thread::of_task(state.number, state.current, label)
    });
    task.unwrap_or_else(|| std::thread::current().into())
}
