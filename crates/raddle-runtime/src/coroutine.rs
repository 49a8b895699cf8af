//! Fibers (stackful coroutines): each task of a program runs on a stack of its own and pauses before each operation that other tasks can
//! observe.
//!
//! Most unsafe code of the runtime is here and below. It relies on these invariants:
//!
//! - A fiber never leaves the OS thread it was made on (`Fiber` is neither `Send` nor `Sync`).
//! - The [current execution](current) is set exactly while one of its fibers runs or its owner works on it.
//! - The address of a yielder is used only between the moment its fiber is resumed and the moment it pauses.
//!
//! Miri cannot switch stacks, so it does not check these files. The tests run them in debug builds, where corosensei checks stack
//! alignment and state.

pub(crate) mod act;
pub(crate) mod current;
mod cut_off;
pub(crate) mod scoped;

use std::cell::Cell;
use std::ptr;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

pub(crate) use self::cut_off::install as install_handlers;

/// What a fiber runs.
pub(crate) type Job = Box<dyn FnOnce()>;

type Switch = Yielder<(), Paused>;

/// Why a fiber has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paused {
    /// Its job has asked for an operation and waits to be resumed.
    Asking,
    /// Its job is done. The fiber can get another one.
    Idle,
}

/// How a fiber has returned control after it was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// It has paused.
    Paused(Paused),
    /// A signal handler has cut it off, because its stack overflowed or it was about to abort the process. It cannot be resumed.
    CutOff,
}

/// A stack and what runs on it, one job after another.
pub(crate) struct Fiber(Box<Parts>);

struct Parts {
    coroutine: Coroutine<(), Paused, (), DefaultStack>,
    state: Box<FiberState>,
}

/// The part of a fiber that its own code uses. It has a fixed address.
struct FiberState {
    /// The yielder by which the fiber pauses. Null until the fiber has run.
    switch: Cell<*const Switch>,
    job: Cell<Option<Job>>,
    /// Cuts the fiber off when it runs into its guard page. Set as soon as the coroutine exists.
    trap: Cell<Option<CoroutineTrapHandler<()>>>,
    /// The stack pointer in the loop that runs its jobs. The frames of jobs are below.
    jobs_below: Cell<usize>,
    /// The highest address of its stack.
    base: usize,
    stack_bytes: usize,
}

/// The largest stack that can be asked for: more than any machine has.
const MOST_STACK_BYTES: usize = 1 << 44;

impl FiberState {
    /// The lowest address of the stack that the fiber may use. The reserve and the guard page are below.
    fn limit(&self) -> usize {
        self.base - self.stack_bytes.next_multiple_of(cut_off::PAGE_BYTES)
    }
}

impl Fiber {
    /// Makes a fiber with a new stack of at least `stack_bytes` and guard pages below it.
    pub(crate) fn new(stack_bytes: usize) -> std::io::Result<Self> {
        cut_off::install();
        if stack_bytes > MOST_STACK_BYTES {
            return Err(std::io::Error::other(format!("a stack has at most {MOST_STACK_BYTES} bytes")));
        }
        let stack = DefaultStack::new(stack_bytes.next_multiple_of(cut_off::PAGE_BYTES) + cut_off::RESERVE_BYTES)?;
        Self::on(stack, stack_bytes)
    }

    /// Makes a fiber that uses `stack_bytes` of this stack.
    fn on(stack: DefaultStack, stack_bytes: usize) -> std::io::Result<Self> {
        let state = Box::new(FiberState {
            switch: Cell::new(ptr::null()),
            job: Cell::default(),
            trap: Cell::default(),
            jobs_below: Cell::new(stack.base().get()),
            base: stack.base().get(),
            stack_bytes,
        });
        cut_off::close_reserve(state.limit())?;
        let own: *const FiberState = &raw const *state;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Switch, ()| {
            // SAFETY: the box outlives the coroutine: both are fields of one `Parts`, and the coroutine only runs while the
            // fiber is borrowed by `resume`.
            let state = unsafe { &*own };
            state.switch.set(yielder);
            state.jobs_below.set(stack_pointer());
            loop {
                let job = state.job.take().expect("raddle bug: an idle fiber was resumed without a job");
                job();
                yielder.suspend(Paused::Idle);
            }
        });
        state.trap.set(Some(coroutine.trap_handler()));
        Ok(Self(Box::new(Parts { coroutine, state })))
    }

    /// Gives an idle fiber a job. The fiber begins it when it is resumed.
    pub(crate) fn assign(&mut self, job: Job) {
        self.0.state.job.set(Some(job));
    }

    /// Runs the fiber until it pauses or is cut off.
    #[inline(always)]
    pub(crate) fn resume(&mut self, running: &RunningFiber) -> Resumed {
        let before = running.state.replace(&raw const *self.0.state);
        let result = self.0.coroutine.resume(());
        running.state.set(before);
        match result {
            CoroutineResult::Yield(paused) => Resumed::Paused(paused),
            CoroutineResult::Return(()) => Resumed::CutOff,
        }
    }

    /// The size of its stack.
    pub(crate) fn stack_bytes(&self) -> usize {
        self.0.state.stack_bytes
    }

    /// Abandons the job in its middle and returns a new fiber that uses the same stack. The values on the stack are never dropped. No
    /// code that could still use them may run afterwards.
    pub(crate) fn reset(mut self) -> std::io::Result<Self> {
        let stack_bytes = self.stack_bytes();
        // SAFETY: the frames on the stack are forgotten, as `mem::forget` forgets a value. Whatever borrows from them belongs to tasks of
        // the same execution, which are abandoned together (see `threads::finish`).
        unsafe { self.0.coroutine.force_reset() };
        let this = std::mem::ManuallyDrop::new(*self.0);
        // SAFETY: `this` is not used or dropped after its fields are moved out.
        let (coroutine, state) = unsafe { (ptr::read(&raw const this.coroutine), ptr::read(&raw const this.state)) };
        let stack = coroutine.into_stack();
        drop(state);
        Self::on(stack, stack_bytes)
    }

    /// Abandons the fiber in the middle of its job. The values on its stack are never dropped. The stack is never freed, since other values
    /// may still point into it.
    pub(crate) fn abandon(self) {
        std::mem::forget(self);
    }
}

/// Drops an idle fiber without unwinding its loop: the unwinding would count as a panic.
impl Drop for Parts {
    fn drop(&mut self) {
        // SAFETY: fibers are dropped only when idle or never started (the runtime abandons all others): the frames left on
        // the stack are corosensei's and the loop above, which owns nothing while it waits for a job.
        unsafe { self.coroutine.force_reset() };
    }
}

/// The fiber that runs now. Its code pauses it through this.
#[derive(Default)]
pub(crate) struct RunningFiber {
    /// Null if no fiber runs.
    state: Cell<*const FiberState>,
}

impl RunningFiber {
    /// Pauses the running fiber: its caller of `resume` goes on. Returns when the fiber is resumed again.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        let state = self.state.get();
        assert!(!state.is_null(), "raddle bug: suspended outside a fiber");
        // SAFETY: `resume` set the state of the fiber whose code is calling, so its box and the yielder in it are alive,
        // and this code runs on that fiber's own stack.
        unsafe { (*(*state).switch.get()).suspend(Paused::Asking) };
    }

    /// The address above the frames of the running fiber's job.
    pub(crate) fn jobs_below(&self) -> usize {
        let state = self.state.get();
        assert!(!state.is_null(), "raddle bug: a stack was looked at outside a fiber");
        // SAFETY: as in `suspend`.
        let state = unsafe { &*state };
        state.jobs_below.get()
    }

    /// Calls `work` on the stack of the code that resumed the running fiber. For work that may need more stack than a fiber has.
    pub(crate) fn on_large_stack<R>(&self, work: impl FnOnce() -> R + Send) -> R {
        let state = self.state.get();
        assert!(!state.is_null(), "raddle bug: a stack was left outside a fiber");
        // SAFETY: as in `suspend`. `work` neither resumes nor suspends a fiber: fibers and `RunningFiber` are not `Send`.
        unsafe { (*(*state).switch.get()).on_parent_stack(work) }
    }

    /// How to cut off the running fiber, and the lowest address of its stack that it may use.
    fn trap(&self) -> Option<(CoroutineTrapHandler<()>, usize)> {
        let state = self.state.get();
        if state.is_null() {
            return None;
        }
        // SAFETY: as in `suspend`; this runs in a signal handler on the same OS thread, while `resume` is active.
        let state = unsafe { &*state };
        Some((state.trap.get()?, state.limit()))
    }
}

/// The stack pointer of the calling function.
#[inline(always)]
fn stack_pointer() -> usize {
    let at: usize;
    // SAFETY: copies a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: copies a register.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let local = 0_u8;
        at = (&raw const local).addr() - 512;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn a_fiber_runs_job_after_job() {
        let running = Rc::new(RunningFiber::default());
        let log = Rc::new(Cell::new(0));
        let mut fiber = Fiber::new(64 * 1024).unwrap();
        for round in 1..=3 {
            let (l, log2) = (running.clone(), log.clone());
            let job = Box::new(move || {
                l.suspend();
                log2.set(log2.get() + round);
            });
            fiber.assign(job);
            assert_eq!(fiber.resume(&running), Resumed::Paused(Paused::Asking));
            assert_eq!(fiber.resume(&running), Resumed::Paused(Paused::Idle));
        }
        assert_eq!(log.get(), 6);
    }
}
