//! The effect of an operation, called when the engine chooses the task.
//!
//! The effect is a closure on the stack of the task that asked for the operation. The system calls it while the task is still paused. So
//! the task need not be resumed only to borrow the tables of the execution again.

use std::ptr::NonNull;

use crate::execution::Moment;

/// The effect of an operation, to be called once while the task that asked for it is paused.
#[derive(Clone, Copy)]
pub(crate) struct Act(NonNull<dyn FnMut(&mut Moment<'_>)>);

impl Act {
    /// Lends the effect for as long as the calling task is paused.
    ///
    /// The caller must not move or drop `act` before the task is resumed, and nothing may call the effect afterwards. The callers, all in
    /// `execution.rs`, lend it from the frame in which they then pause.
    #[inline(always)]
    pub(crate) fn lend(act: &mut (dyn FnMut(&mut Moment<'_>) + '_)) -> Self {
        let act: *mut (dyn FnMut(&mut Moment<'_>) + '_) = act;
        // SAFETY: only the lifetime changes. The closure is in a frame of the task that is about to pause. It is called only through the
        // operation that this task asks for, which is removed when the task goes on. All tasks of an execution are abandoned together
        // (see `threads::finish`), and no operation takes effect after that.
        let act = unsafe {
            std::mem::transmute::<*mut (dyn FnMut(&mut Moment<'_>) + '_), *mut (dyn FnMut(&mut Moment<'_>) + 'static)>(
                act,
            )
        };
        Self(NonNull::new(act).expect("made from a reference"))
    }

    /// Lets the operation take effect.
    #[inline(always)]
    pub(crate) fn call(mut self, moment: &mut Moment<'_>) {
        // SAFETY: the task that lent it is paused in the frame that owns the closure, see `lend`.
        unsafe { (self.0.as_mut())(moment) }
    }
}
