//! Scoped threads: they may borrow from the thread that starts them.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use crate::coroutine::current;
pub use crate::coroutine::scoped::Scope;
use crate::coroutine::scoped::Started;
use crate::execution::here;
use crate::thread::handle::Thread;
use crate::thread::packet::{Packet, packet};
use crate::thread::spawn::{Builder, leave, run_task};
use crate::uncontrolled;

/// Calls `f` with a scope for threads that may borrow from the caller, and waits for all of them, as [`std::thread::scope`]. It waits until
/// their functions have returned, but not for the destructors of their thread-local values. [`join`](ScopedJoinHandle::join) waits for
/// those as well.
///
/// # Panics
///
/// If one of the threads panicked and was not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !current::inside() {
        uncontrolled::note("thread::scope", None);
    }
    let (result, panics) = Scope::hold(here(), f);
    match result {
        Err(payload) => panic::resume_unwind(payload),
        Ok(_) if panics > 0 => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that may borrow what outlives the scope, as [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    ///
    /// If no thread can be started.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }
}

impl Builder {
    /// Starts the thread in a scope, as [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    ///
    /// Outside an execution, if the system cannot start a thread.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (packet, slot) = packet();
        let panics = scope.panics().clone();
        let job: Box<dyn FnOnce() + Send + 'scope> = if current::inside() {
            Box::new(move || run_task(move || leave_counting(&slot, &panics, f)))
        } else {
            Box::new(move || {
                let result = panic::catch_unwind(AssertUnwindSafe(f));
                panics.fetch_add(usize::from(result.is_err()), Ordering::Relaxed);
                slot.put(result);
            })
        };
        let started = scope.start(self, job, here())?;
        Ok(ScopedJoinHandle { started, packet, panics: scope.panics().clone(), scope: PhantomData })
    }
}

/// Runs a thread's function and stores its result. Counts a panic until the thread is joined.
fn leave_counting<T>(slot: &Packet<T>, panics: &AtomicUsize, f: impl FnOnce() -> T) {
    let result = panic::catch_unwind(AssertUnwindSafe(|| leave(slot, f)));
    if slot.has_panicked() {
        panics.fetch_add(1, Ordering::Relaxed);
    }
    if let Err(payload) = result {
        panic::resume_unwind(payload);
    }
}

/// Waits for a scoped thread's end, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    started: Started,
    packet: Packet<T>,
    panics: Arc<AtomicUsize>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// A handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.started.thread()
    }

    /// Waits for the thread to end and returns its result.
    ///
    /// # Errors
    ///
    /// If the thread panicked: its payload. Inside an execution a panic is a failure of the test, unless
    /// panics are isolated.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match &self.started {
            Started::Task(thread) => thread.wait_for_end(here()),
            Started::System(..) => self.started.join_system(),
        }
        let left = self.packet.take();
        if left.is_err() {
            self.panics.fetch_sub(1, Ordering::Relaxed);
        }
        left
    }

    /// Whether the thread has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.started {
            Started::Task(thread) => thread.has_ended(here()),
            Started::System(_, handle) => {
                let handle = handle.lock().unwrap_or_else(PoisonError::into_inner);
                handle.as_ref().is_none_or(std::thread::JoinHandle::is_finished)
            }
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
