//! Where a thread leaves its result for the join, and who drops it if nobody joins.
//!
//! As in `std`, a thread and its handle share the result, and whoever lets go of it last drops it: the thread if its handle was dropped
//! before it returned, and otherwise whoever drops the handle. A destructor can see which of them it was. So letting go is a step where the
//! result may have a destructor, in programs that drop such a handle without joining. In other programs it is invisible.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_engine::trace::{Class, Effect, Operation, Ordered};

use crate::coroutine::current;
use crate::execution::{Kind, Tag, here, word_as_number};

static DROP: Operation = Operation { verb: "drop", class: Class::Update };
static LEAVE: Operation = Operation { verb: "leave the result to", class: Class::Update };

static HANDLE: Kind = Kind { noun: "JoinHandle", show: word_as_number };

struct Shared<T> {
    tag: Tag,
    result: Mutex<Option<std::thread::Result<T>>>,
}

/// One end of a thread's result.
pub(super) struct Packet<T> {
    shared: Arc<Shared<T>>,
    holder: Holder,
}

/// Who has an end of a thread's result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Handle,
    Thread,
    /// The handle was joined: nobody else has the result any more.
    Joined,
}

/// The end of the handle and that of the thread.
#[track_caller]
pub(super) fn packet<T>() -> (Packet<T>, Packet<T>) {
    let shared = Arc::new(Shared { tag: Tag::new(), result: Mutex::new(None) });
    (Packet { shared: shared.clone(), holder: Holder::Handle }, Packet { shared, holder: Holder::Thread })
}

impl<T> Packet<T> {
    /// Stores the result. The thread calls this when its function has returned.
    pub(super) fn put(&self, result: std::thread::Result<T>) {
        if let Err(payload) = &result
            && may_have_destructor(&**payload)
        {
            current::with(|execution| execution.state.borrow_mut().looked_at_thread_end |= execution.isolates_panics());
        }
        *self.result() = Some(result);
    }

    /// Whether the thread has ended by a panic.
    pub(super) fn has_panicked(&self) -> bool {
        self.result().as_ref().is_some_and(Result::is_err)
    }

    /// Takes the result of a thread that has ended.
    pub(super) fn take(mut self) -> std::thread::Result<T> {
        self.holder = Holder::Joined;
        let result = self.result().take();
        result.expect("raddle bug: a thread has ended without a result")
    }

    fn result(&self) -> MutexGuard<'_, Option<std::thread::Result<T>>> {
        self.shared.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let is_step = self.holder != Holder::Joined
            && current::with(|execution| {
                let mut state = execution.state.borrow_mut();
                state.looked_at_thread_end |= self.holder == Holder::Handle && mem::needs_drop::<T>();
                let seen = mem::needs_drop::<T>() || state.settings.isolate_panics;
                seen && state.settings.facts.thread_ends && !state.over
            })
            .unwrap_or(false);
        if is_step {
            let (operation, site) = match self.holder {
                Holder::Handle | Holder::Joined => (&DROP, self.shared.tag.made()),
                Holder::Thread => (&LEAVE, here()),
            };
            self.shared.tag.with(
                &HANDLE,
                |_| 0,
                |place| place.step(operation, Effect::Change, Ordered::BOTH, site, |moment| *moment.word() += 1),
            );
        }
    }
}

/// The payloads of `panic!` have no destructor that a program can see.
fn may_have_destructor(payload: &(dyn Any + Send)) -> bool {
    !payload.is::<&'static str>() && !payload.is::<String>()
}
