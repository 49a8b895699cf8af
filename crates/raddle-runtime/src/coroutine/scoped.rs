//! Scoped jobs: they may borrow from the stack of the task that starts them.
//!
//! The jobs of a [`Scope`] may borrow whatever outlives the scope, although the job of a fiber must be `'static`. The lifetime is extended
//! here. This is sound because [`Scope::hold`] does not return, not even by unwinding, before every job of the scope has ended. If one of
//! them never ends (a deadlock, a stack overflow, an abort), `hold` never returns either, and the runtime abandons both tasks together.

use std::io;
use std::marker::PhantomData;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::trace::Site;

use crate::coroutine::current;
use crate::thread::{Builder, Thread};

type Borrowing<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// Where scoped threads are started, as [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    started: Mutex<Vec<Started>>,
    /// The number of threads that panicked and were not joined.
    panics: Arc<AtomicUsize>,
    /// Invariant, so that a job cannot borrow from within the scope itself, and `'scope` cannot be shortened to do so.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread that was started in a scope.
#[derive(Clone, Debug)]
pub(crate) enum Started {
    /// A task of the running execution.
    Task(Thread),
    /// An OS thread; the handle is `None` once it is joined. Only the scope's owner and its jobs can join it, and they all end before the
    /// scope.
    System(Thread, Arc<Mutex<Option<std::thread::JoinHandle<()>>>>),
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts `job`, which may borrow what outlives the scope.
    pub(crate) fn start(&'scope self, builder: Builder, job: Borrowing<'scope>, site: Site) -> io::Result<Started> {
        // SAFETY: only the lifetime of what the job borrows changes. All of that outlives `'scope`, which outlives the call of `hold` that
        // made `self`, since `hold` accepts every lifetime there. The job is on the list before anything can unwind, and `hold` returns
        // only when every job on the list has ended.
        let job = unsafe { mem::transmute::<Borrowing<'scope>, Borrowing<'static>>(job) };
        let mut list = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        list.reserve(1);
        let started = if current::inside() {
            Started::Task(builder.start(job, site))
        } else {
            let handle = builder.into_std().spawn(job)?;
            Started::System(handle.thread().clone().into(), Arc::new(Mutex::new(Some(handle))))
        };
        list.push(started.clone());
        Ok(started)
    }

    /// The number of threads that panicked and were not joined.
    pub(crate) fn panics(&self) -> &Arc<AtomicUsize> {
        &self.panics
    }

    fn wait_for_all(&self, site: Site) {
        struct Never;
        impl Drop for Never {
            fn drop(&mut self) {
                // Only a bug of Raddle leads here. Jobs may still use values that the unwinding would drop.
                std::process::abort();
            }
        }
        let never = Never;
        // A job may start others. They are on the list before it ends.
        for at in 0.. {
            let next = self.started.lock().unwrap_or_else(PoisonError::into_inner).get(at).cloned();
            match next {
                Some(started) => started.wait_for_return(site),
                None => break,
            }
        }
        mem::forget(never);
    }
}

impl Scope<'_, '_> {
    /// Calls `body` with a scope and waits for all jobs that were started in it. Returns the result of `body` and the number of threads
    /// that panicked and were not joined.
    pub(crate) fn hold<'env, T>(
        site: Site,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    ) -> (std::thread::Result<T>, usize) {
        let scope = Scope { started: Mutex::default(), panics: Arc::default(), scope: PhantomData, env: PhantomData };
        let result = panic::catch_unwind(AssertUnwindSafe(|| body(&scope)));
        scope.wait_for_all(site);
        (result, scope.panics.load(Ordering::Relaxed))
    }
}

impl Started {
    pub(crate) fn thread(&self) -> &Thread {
        match self {
            Started::Task(thread) | Started::System(thread, _) => thread,
        }
    }

    /// Waits until its job is done. Then it no longer uses anything it has borrowed.
    fn wait_for_return(&self, site: Site) {
        match self {
            Started::Task(thread) => thread.wait_for_return(site),
            Started::System(..) => self.join_system(),
        }
    }

    /// Waits for an OS thread.
    pub(crate) fn join_system(&self) {
        let Started::System(_, handle) = self else { return };
        let handle = handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle {
            // Its result, also if that is a panic, is in its packet.
            drop(handle.join());
        }
    }
}
