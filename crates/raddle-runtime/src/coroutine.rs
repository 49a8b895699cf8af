//! Stackful coroutines: each task of a program runs on a stack of its own and hands control back wherever it is about to
//! do something that others could notice.
//!
//! All unsafe code of the runtime but one file lives here and below, on these invariants:
//!
//! - A fiber never leaves the OS thread it was made on (`Fiber` is neither `Send` nor `Sync`).
//! - The [current execution](current) is set exactly while one of its fibers runs or its owner works on it.
//! - A yielder's address is used only between the moment its fiber is resumed and the moment it hands control back.
//!
//! Miri has no model of switching stacks, so these files are argued for instead of run under it; the tests run them in
//! debug builds, where corosensei checks stack alignment and state.

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

/// Why a fiber handed control back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paused {
    /// Its job has asked for something and waits to be resumed.
    Asking,
    /// Its job is done; it can be given another.
    Idle,
}

/// What came of resuming a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// It handed control back.
    Paused(Paused),
    /// It ran out of stack, or was about to abort the process, and was cut off where it was; it cannot be resumed.
    CutOff,
}

/// A stack and what runs on it, one job after another.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), Paused, (), DefaultStack>,
    berth: Box<Berth>,
}

/// What a fiber's own code has to find, at an address that stays.
struct Berth {
    /// The way back to whoever resumed it, once it has run.
    switch: Cell<*const Switch>,
    job: Cell<Option<Job>>,
    /// How to cut it off when it runs into its guard page; there as soon as the coroutine is.
    trap: Cell<Option<CoroutineTrapHandler<()>>>,
    /// Where its stack ended in the loop that runs its jobs.
    jobs_below: Cell<usize>,
    /// The highest address of its stack.
    base: usize,
    stack_bytes: usize,
}

/// More than any machine has.
const MOST_STACK_BYTES: usize = 1 << 44;

impl Berth {
    /// The lowest address of the stack that may be used; the reserve and the guard page lie below.
    fn limit(&self) -> usize {
        self.base - self.stack_bytes.next_multiple_of(cut_off::PAGE_BYTES)
    }
}

impl Fiber {
    /// A fiber on a fresh stack of at least `stack_bytes`, with guarded pages below it.
    pub(crate) fn new(stack_bytes: usize) -> std::io::Result<Self> {
        cut_off::install();
        if stack_bytes > MOST_STACK_BYTES {
            return Err(std::io::Error::other(format!("a stack has at most {MOST_STACK_BYTES} bytes")));
        }
        let stack = DefaultStack::new(stack_bytes.next_multiple_of(cut_off::PAGE_BYTES) + cut_off::RESERVE_BYTES)?;
        Self::on(stack, stack_bytes)
    }

    /// A fiber on this stack, of which `stack_bytes` may be used.
    fn on(stack: DefaultStack, stack_bytes: usize) -> std::io::Result<Self> {
        let berth = Box::new(Berth {
            switch: Cell::new(ptr::null()),
            job: Cell::default(),
            trap: Cell::default(),
            jobs_below: Cell::new(stack.base().get()),
            base: stack.base().get(),
            stack_bytes,
        });
        cut_off::close_reserve(berth.limit())?;
        let own: *const Berth = &raw const *berth;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Switch, ()| {
            // SAFETY: the box outlives the coroutine: both are fields of one `Fiber`, and the coroutine only runs while the
            // fiber is borrowed by `resume`.
            let berth = unsafe { &*own };
            berth.switch.set(yielder);
            berth.jobs_below.set(stack_pointer());
            loop {
                let job = berth.job.take().expect("raddle bug: an idle fiber was resumed without a job");
                job();
                yielder.suspend(Paused::Idle);
            }
        });
        berth.trap.set(Some(coroutine.trap_handler()));
        Ok(Self { coroutine, berth })
    }

    /// Gives an idle fiber a job, to be begun when it is resumed.
    pub(crate) fn assign(&mut self, job: Job) {
        self.berth.job.set(Some(job));
    }

    /// Runs the fiber until it hands control back.
    #[inline(always)]
    pub(crate) fn resume(&mut self, lane: &Lane) -> Resumed {
        let before = lane.berth.replace(&raw const *self.berth);
        let result = self.coroutine.resume(());
        lane.berth.set(before);
        match result {
            CoroutineResult::Yield(paused) => Resumed::Paused(paused),
            CoroutineResult::Return(()) => Resumed::CutOff,
        }
    }

    /// How much stack it has.
    pub(crate) fn stack_bytes(&self) -> usize {
        self.berth.stack_bytes
    }

    /// Gives the job up in its middle: what lives on the stack is never dropped, and the stack is used again by the fiber that is
    /// returned. Nobody may run any more who could use what lies there.
    pub(crate) fn reset(mut self) -> std::io::Result<Self> {
        let stack_bytes = self.berth.stack_bytes;
        // SAFETY: the frames on the stack are forgotten, as `mem::forget` forgets a value. Whatever borrows from them belongs to tasks of
        // the same execution, which are abandoned together (see `threads::finish`).
        unsafe { self.coroutine.force_reset() };
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used or dropped after its fields are moved out.
        let (coroutine, berth) = unsafe { (ptr::read(&raw const this.coroutine), ptr::read(&raw const this.berth)) };
        let stack = coroutine.into_stack();
        drop(berth);
        Self::on(stack, stack_bytes)
    }

    /// Gives the fiber up in the middle of its job. What lives on its stack is never dropped and never touched again, and
    /// the stack itself is kept for ever, since something may still point into it.
    pub(crate) fn abandon(self) {
        std::mem::forget(self);
    }
}

/// An idle fiber holds nothing but its own loop; dropping it must not unwind, for that would count as a panic.
impl Drop for Fiber {
    fn drop(&mut self) {
        // SAFETY: fibers are dropped only when idle or never started (the runtime abandons all others): the frames left on
        // the stack are corosensei's and the loop above, which owns nothing while it waits for a job.
        unsafe { self.coroutine.force_reset() };
    }
}

/// Which fiber runs now.
#[derive(Default)]
pub(crate) struct Lane {
    berth: Cell<*const Berth>,
}

impl Lane {
    /// Hands control back from the running fiber to whoever resumed it; returns when it is resumed again.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        let berth = self.berth.get();
        assert!(!berth.is_null(), "raddle bug: suspended outside a fiber");
        // SAFETY: `resume` set the berth of the fiber whose code is calling, so its box and the yielder in it are alive,
        // and this code runs on that fiber's own stack.
        unsafe { (*(*berth).switch.get()).suspend(Paused::Asking) };
    }

    /// Where the frames of the job of the fiber that runs now begin: all of them lie below.
    pub(crate) fn jobs_below(&self) -> usize {
        let berth = self.berth.get();
        assert!(!berth.is_null(), "raddle bug: a stack was looked at outside a fiber");
        // SAFETY: as in `suspend`.
        let berth = unsafe { &*berth };
        berth.jobs_below.get()
    }

    /// Calls `work` from the running fiber on the stack of whoever resumed it, for what may need more than a fiber has.
    pub(crate) fn on_large_stack<R>(&self, work: impl FnOnce() -> R + Send) -> R {
        let berth = self.berth.get();
        assert!(!berth.is_null(), "raddle bug: a stack was left outside a fiber");
        // SAFETY: as in `suspend`. `work` does not resume or suspend anything: it cannot have a fiber or a lane, which are not `Send`.
        unsafe { (*(*berth).switch.get()).on_parent_stack(work) }
    }

    /// The guard of the fiber that runs now: how to cut it off, and the lowest address that may be used.
    fn trap(&self) -> Option<(CoroutineTrapHandler<()>, usize)> {
        let berth = self.berth.get();
        if berth.is_null() {
            return None;
        }
        // SAFETY: as in `suspend`; this runs in a signal handler on the same OS thread, while `resume` is active.
        let berth = unsafe { &*berth };
        Some((berth.trap.get()?, berth.limit()))
    }
}

/// Where the stack of the calling function ends.
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
        let lane = Rc::new(Lane::default());
        let log = Rc::new(Cell::new(0));
        let mut fiber = Fiber::new(64 * 1024).unwrap();
        for round in 1..=3 {
            let (l, log2) = (lane.clone(), log.clone());
            let job = Box::new(move || {
                l.suspend();
                log2.set(log2.get() + round);
            });
            fiber.assign(job);
            assert_eq!(fiber.resume(&lane), Resumed::Paused(Paused::Asking));
            assert_eq!(fiber.resume(&lane), Resumed::Paused(Paused::Idle));
        }
        assert_eq!(log.get(), 6);
    }
}
