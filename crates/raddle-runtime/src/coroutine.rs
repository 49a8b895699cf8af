//! Stackful coroutines: each task of a program runs on a stack of its own and hands control back wherever it is about to
//! do something that others could notice.
//!
//! All unsafe code of the runtime lives here and in the files below, on these invariants:
//!
//! - A fiber never leaves the OS thread it was made on (`Fiber` is neither `Send` nor `Sync`).
//! - The [current execution](current) is set exactly while one of its fibers runs or its owner works on it.
//! - A yielder's address is used only between the moment its fiber is resumed and the moment it hands control back.
//!
//! Miri has no model of switching stacks, so these files are argued for instead of run under it; the tests run them in
//! debug builds, where corosensei checks stack alignment and state.

pub(crate) mod abort;
pub(crate) mod current;
mod overflow;
pub(crate) mod scoped;

use std::cell::Cell;
use std::ptr;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// What a fiber runs.
pub(crate) type Job = Box<dyn FnOnce()>;

type Switch = Yielder<Option<Job>, Paused>;

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
    /// It ran out of stack and was cut off where it was; it cannot be resumed.
    Overflowed,
}

/// A stack and what runs on it, one job after another.
pub(crate) struct Fiber {
    coroutine: Coroutine<Option<Job>, Paused, (), DefaultStack>,
    /// Where the fiber finds its way back, once it has run.
    switch: Box<Cell<*const Switch>>,
    stack_bytes: usize,
    base: usize,
}

impl Fiber {
    /// A fiber on a fresh stack of at least `stack_bytes`, with a guard page below it.
    pub(crate) fn new(stack_bytes: usize) -> std::io::Result<Self> {
        overflow::install();
        abort::install();
        let stack = DefaultStack::new(stack_bytes)?;
        let base = stack.base().get();
        let switch = Box::new(Cell::new(ptr::null()));
        let slot: *const Cell<*const Switch> = &raw const *switch;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Switch, first: Option<Job>| {
            // SAFETY: the box outlives the coroutine: both are fields of one `Fiber`, and the coroutine only runs while the
            // fiber is borrowed by `resume`.
            unsafe { (*slot).set(yielder) };
            let mut next = first;
            loop {
                let job = next.take().expect("raddle bug: an idle fiber was resumed without a job");
                job();
                next = yielder.suspend(Paused::Idle);
            }
        });
        Ok(Self { coroutine, switch, stack_bytes, base })
    }

    /// Runs the fiber until it hands control back. An idle fiber needs a job, one that asks must not be given any.
    pub(crate) fn resume(&mut self, job: Option<Job>, lane: &Lane) -> Resumed {
        let before = lane.switch.get();
        let trap_before = lane.trap.replace(Some(Trap { handler: self.coroutine.trap_handler(), limit: self.limit() }));
        // A fresh fiber announces its yielder only once it runs; `suspend` then reads it through the slot.
        lane.switch.set(&raw const *self.switch);
        lane.base.set(self.base);
        let result = self.coroutine.resume(job);
        lane.switch.set(before);
        lane.trap.set(trap_before);
        match result {
            CoroutineResult::Yield(paused) => Resumed::Paused(paused),
            CoroutineResult::Return(()) => Resumed::Overflowed,
        }
    }

    /// How much stack it has.
    pub(crate) fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    fn limit(&self) -> usize {
        self.base - self.stack_bytes.next_multiple_of(overflow::PAGE_BYTES)
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
        // SAFETY: fibers are dropped only when idle or never started (the runtime abandons all others): the frames left
        // on the stack are corosensei's and the loop above, whose only owned value, `next`, is `None` while idle.
        unsafe { self.coroutine.force_reset() };
    }
}

/// Where the fiber that runs now hands control back to, and what its stack is.
#[derive(Default)]
pub(crate) struct Lane {
    switch: Cell<*const Cell<*const Switch>>,
    trap: Cell<Option<Trap>>,
    base: Cell<usize>,
    /// The running fiber is about to abort the process.
    pub(crate) aborting: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Trap {
    handler: CoroutineTrapHandler<()>,
    limit: usize,
}

impl Lane {
    /// Hands control back from the running fiber to whoever resumed it; returns when it is resumed again.
    pub(crate) fn suspend(&self) {
        let slot = self.switch.get();
        assert!(!slot.is_null(), "raddle bug: suspended outside a fiber");
        // SAFETY: `resume` set the slot for the fiber whose code is calling, so its box and the yielder in it are alive,
        // and this code runs on that fiber's own stack.
        let job = unsafe { (*(*slot).get()).suspend(Paused::Asking) };
        assert!(job.is_none(), "raddle bug: a fiber in the middle of a job was given another");
    }

    /// A hash of the running fiber's stack from here to its base: equal if a loop has come round with nothing changed.
    pub(crate) fn digest(&self) -> u64 {
        let here = 0_u64;
        let mut at = (&raw const here).addr().next_multiple_of(8);
        // The words at the very base link to whoever resumed the fiber, which is no part of the task's state.
        let end = self.base.get() - 64;
        let mut hash = end as u64;
        while at < end {
            // SAFETY: the range lies within the running fiber's own stack, between a live local and the base. The words
            // are read for comparison only, so it does not matter what they are or whether they were ever written.
            let word = unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u64>(at)) };
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            at += 8;
        }
        hash
    }
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
            assert_eq!(fiber.resume(Some(job), &lane), Resumed::Paused(Paused::Asking));
            assert_eq!(fiber.resume(None, &lane), Resumed::Paused(Paused::Idle));
        }
        assert_eq!(log.get(), 6);
    }

    #[test]
    fn a_loop_that_comes_round_has_the_same_digest() {
        let lane = Rc::new(Lane::default());
        let (l, seen) = (lane.clone(), Rc::new(Cell::new([0; 4])));
        let out = seen.clone();
        let job = Box::new(move || {
            let mut digests = [0; 4];
            // Two rounds of a loop without state of its own, then two with a counter.
            for (i, slot) in digests.iter_mut().enumerate() {
                *slot = if i < 2 { probe(&l, 0) } else { probe(&l, i) };
            }
            out.set(digests);
        });
        Fiber::new(64 * 1024).unwrap().resume(Some(job), &lane);
        let [_, _, c, d] = seen.get();
        assert_ne!(c, d);
    }

    #[inline(never)]
    fn probe(lane: &Lane, state: usize) -> u64 {
        let local = std::hint::black_box(state);
        let digest = lane.digest();
        std::hint::black_box(local);
        digest
    }
}
