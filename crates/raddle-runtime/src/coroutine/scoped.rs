//! Jobs that borrow from the stack of whoever starts them.
//!
//! A [`Scope`] lets its jobs borrow whatever outlives it, although a fiber's job must be `'static`: the lifetime is
//! stretched here, and [`Scope::hold`] does not return, not even by unwinding, before every job started through the
//! scope has ended. If one of them never ends (it is in a deadlock, ran out of stack, or was left in the middle of an abort),
//! `hold` never returns either, and the runtime abandons both tasks together.

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
    /// Threads that panicked and were not joined since.
    panics: Arc<AtomicUsize>,
    /// Invariant, so that a job cannot borrow from within the scope itself, and `'scope` cannot be shortened to do so.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Something that was started and ends by itself.
#[derive(Clone, Debug)]
pub(crate) enum Started {
    /// A task of the running execution.
    Task(Thread),
    /// A thread of the system's, unless somebody has joined it. Only the scope's owner and its jobs can do that, and they all
    /// end before the scope.
    System(Thread, Arc<Mutex<Option<std::thread::JoinHandle<()>>>>),
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts `job`, which may borrow what outlives the scope.
    pub(crate) fn start(&'scope self, builder: Builder, job: Borrowing<'scope>, site: Site) -> io::Result<Started> {
        // SAFETY: only the lifetime of what the job borrows changes. All of that outlives `'scope`, which outlives the call
        // of `hold` that made `self`, since `hold` accepts every lifetime there. Whatever becomes of the job, it is on the
        // list before anybody can unwind, and `hold` returns only once everything on the list has ended.
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

    /// Counts the threads whose panics nobody has been told of.
    pub(crate) fn panics(&self) -> &Arc<AtomicUsize> {
        &self.panics
    }

    fn wait_for_all(&self, site: Site) {
        struct Never;
        impl Drop for Never {
            fn drop(&mut self) {
                // Only a bug of ours leads here. Jobs may still use what the unwinding would destroy.
                std::process::abort();
            }
        }
        let never = Never;
        // A job may start others, which are listed before it ends.
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
    /// Calls `body` with a scope and waits for everything started in it. Returns what `body` left and how many threads
    /// panicked without anybody being told.
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

    /// Waits until its job is done and nothing that it borrows is used any more.
    fn wait_for_return(&self, site: Site) {
        match self {
            Started::Task(thread) => thread.wait_for_return(site),
            Started::System(..) => self.join_system(),
        }
    }

    /// Waits for a thread of the system's.
    pub(crate) fn join_system(&self) {
        let Started::System(_, handle) = self else { return };
        let handle = handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle {
            // What it left, a panic included, is in its packet.
            drop(handle.join());
        }
    }
}
